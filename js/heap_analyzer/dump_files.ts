/** The files that the arguments of a command name: patterns that the shell did not expand, and the order of time. */
import { type Dirent, existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { STANDARD_INPUT } from "./inputs.js";
import { writeNote, writeWarning } from "./messages.js";

/** Differences in time below this are those of files that were copied together. */
const COPIED_TOGETHER = 1000;

/**
 * The dumps of one program, in the order of time as far as their names say it: a shell puts `10.dump` before `2.dump`.
 * An order that is not that of the alphabet was chosen, and stays. With a module for each dump, the order is that of the
 * modules.
 */
export function dumpFiles(
  given: readonly string[],
  { wasm: modules = [], allowWarnings = true }: { wasm?: string[]; allowWarnings?: boolean },
): string[] {
  const files = given.flatMap(expanded);
  for (const file of files) refuseFolder(file);
  if (files.length < 2 || files.includes(STANDARD_INPUT) || modules.length > 1) return files;
  if (!isAlphabetical(files)) return files;
  const byNumbers = orderOfNumbers(files);
  if (byNumbers === undefined) {
    const doubt = doubtOfTimes(files);
    if (doubt === undefined) return files;
    if (!allowWarnings) throw new Error(`the check is inconclusive: ${doubt}`);
    writeWarning(doubt);
    return files;
  }
  if (byNumbers.some((file, nth) => file !== files[nth])) {
    writeNote(`the dumps are in the order of the numbers in their names: ${shortList(byNumbers)}`);
  }
  return byNumbers;
}

/** The files in the order of the numbers in their names, if they differ in nothing else. */
export function orderOfNumbers(files: readonly string[]): string[] | undefined {
  const [shape] = new Set(files.map(withoutNumbers));
  if (files.some((file) => withoutNumbers(file) !== shape)) return undefined;
  const ordered = [...files].sort(byNumbers);
  const isClear = ordered.every(
    (file, nth) => nth === 0 || byNumbers(ordered[nth - 1] as string, file) < 0,
  );
  return isClear ? ordered : undefined;
}

const withoutNumbers = (file: string) => file.replace(/\d+/g, "0");

function byNumbers(one: string, other: string): number {
  const others = numbersIn(other);
  for (const [nth, number] of numbersIn(one).entries()) {
    const difference = number - (others[nth] as bigint);
    if (difference !== 0n) return difference < 0n ? -1 : 1;
  }
  return 0;
}

const numbersIn = (file: string) => (file.match(/\d+/g) ?? []).map(BigInt);

/** Whether the files are in the order in which shells expand a pattern: by bytes, or without regard to punctuation. */
function isAlphabetical(files: readonly string[]): boolean {
  const isSorted = (keys: string[]) =>
    keys.every((key, nth) => nth === 0 || (keys[nth - 1] ?? "") <= key);
  return (
    isSorted([...files]) ||
    isSorted(files.map((file) => file.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "")))
  );
}

/** Three files or more that were written in another order than that of the alphabet were not named for their order. */
function doubtOfTimes(files: readonly string[]): string | undefined {
  if (files.length < 3) return undefined;
  const times = files.map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs);
  const isLater = (nth: number) =>
    (times[nth - 1] ?? 0) >= (times[nth] ?? Number.POSITIVE_INFINITY) + COPIED_TOGETHER;
  if (files.every((_, nth) => nth === 0 || !isLater(nth))) return undefined;
  const order = [...files.keys()].sort((one, other) => (times[one] ?? 0) - (times[other] ?? 0));
  const byTime = order.map((nth) => files[nth] as string);
  return (
    `the dumps are in alphabetical order, but were written in another: ${shortList(byTime)}; what grows is only true in ` +
    "the order of time, so pass them in it, or with a number in each name"
  );
}

function shortList(files: readonly string[]): string {
  if (files.length <= 4) return files.join(", ");
  return `${files.slice(0, 3).join(", ")}, …, ${files.at(-1)}`;
}

/** Refuses a folder, which is not a dump. */
function refuseFolder(file: string): void {
  if (file === STANDARD_INPUT || !statSync(file, { throwIfNoEntry: false })?.isDirectory()) return;
  throw new Error(`${file} is a folder: expected dumps, as in ${join(file, "*.dump")}`);
}

/** The files of a pattern that the shell did not expand; the argument itself if it names a file or is no pattern. */
function expanded(argument: string): string[] {
  if (argument === STANDARD_INPUT || !/[*?[]/.test(argument) || existsSync(argument)) {
    return [argument];
  }
  const separator = process.platform === "win32" ? /[\\/]/ : /\//;
  const [first = "", ...rest] = argument.split(separator);
  const start = isPattern(first) ? matches("", first) : [first === "" ? "/" : first];
  const found = rest.reduce(
    (folders, part) =>
      isPattern(part)
        ? folders.flatMap((folder) => matches(folder, part))
        : folders.map((folder) => join(folder, part)),
    start,
  );
  const files = found.filter((file) => existsSync(file));
  if (files.length === 0) throw new Error(`no file matches ${argument}`);
  return files;
}

const isPattern = (part: string) => /[*?[]/.test(part);

/** The entries of a folder that match a part of a pattern, in alphabetical order. */
function matches(folder: string, part: string): string[] {
  const matcher = expression(part);
  let entries: Dirent[];
  try {
    entries = readdirSync(folder === "" ? "." : folder, { withFileTypes: true });
  } catch {
    return [];
  }
  const names = entries.map(({ name }) => name);
  const isShown = (name: string) => !name.startsWith(".") || part.startsWith(".");
  const wanted = names.filter((name) => isShown(name) && matcher.test(name)).sort();
  return wanted.map((name) => (folder === "" ? name : join(folder, name)));
}

/** A pattern of a shell without folders. */
function expression(part: string): RegExp {
  const text = part.replace(/\*+|\?|\[!?[^\]]+\]|[\s\S]/gu, (piece) => {
    if (piece.startsWith("*")) return "[^/]*";
    if (piece === "?") return "[^/]";
    if (piece.length > 1 && piece.startsWith("[")) {
      const set = piece.slice(1, -1).replace(/[\\[\]]/g, "\\$&");
      return set.startsWith("!") ? `[^${set.slice(1)}]` : `[${set.replace(/^\^/, "\\^")}]`;
    }
    return piece.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  });
  return new RegExp(`^${text}$`, "u");
}
