/** The dumps of a folder and the module that they are of, for commands that are given the folder. */
import { type Dirent, readdirSync, realpathSync, statSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { modulesIn } from "../explorer/modules.js";
import { hasNoModule, isHeap, kindOf } from "../served/file_kind.js";
import { addon } from "./addon.js";
import { orderOfNumbers } from "./dump_files.js";
import { inputFile } from "./inputs.js";
import { writeNote } from "./messages.js";
import { near } from "./started_as.js";

/** What a folder holds. */
export interface FoundDumps {
  /** In the order in which they were taken. */
  dumps: string[];
  module: string | undefined;
}

/** Says what was found. */
export function sayFound({ dumps, module }: FoundDumps): void {
  const [first = ""] = dumps;
  const what = dumps.length === 1 ? first : `${dumps.length} dumps in ${dirname(first)}`;
  writeNote(`found ${what}${module === undefined ? "" : `, module ${module}`}`);
}

/** Names of dumps and heap snapshots. Other files are not read. */
const NAME = /\.(dump|core|wasmcoredump|heapsnapshot|heaptimeline)(\.gz|\.zst)?$/;
/** Folders below the one that is given. */
const DEEPEST = 3;
/** Folders in which nobody keeps dumps. */
const LEFT_OUT = /^(\..*|node_modules|target)$/;

/** The dumps in a folder or in the only one below it that has some, with their module. */
export async function foundIn(folder: string, wasm: string | undefined): Promise<FoundDumps> {
  const places = await placesOf(folder, 0);
  if (places.length === 0) throw new Error(`${folder} has no dumps, and no folder below it has`);
  if (places.length > 1) {
    const each = places.map((files) => `${dirname(files[0] as string)} (${files.length})`);
    throw new Error(`${folder}: dumps lie in ${each.join(", ")}: which of them?`);
  }
  const dumps = inOrder(places[0] as string[]);
  const module = wasm ?? (await moduleOf(dumps, folder));
  return { dumps, module };
}

/** The module of dumps: the only one beside them or in a folder `build` near them; of several, the only one that fits. */
export async function moduleOf(
  dumps: readonly string[],
  folder = dirname(dumps[0] ?? "."),
): Promise<string | undefined> {
  const last = dumps.at(-1);
  if (last === undefined || hasNoModule(await kindOf(last))) return undefined;
  const beside = dirname(last);
  const around = [beside, folder, join(beside, "..")];
  const folders = around.flatMap((place) => [place, join(place, "build")]);
  const modules = new Map<string, string>();
  for (const place of folders) {
    for (const module of await modulesIn(place)) {
      const known = realpathSync(module);
      if (!modules.has(known)) modules.set(known, near(module));
    }
  }
  const candidates = [...modules.values()];
  if (candidates.length <= 1) return candidates[0];
  const fitting = [];
  for (const module of candidates) if (await fits(last, module)) fitting.push(module);
  if (fitting.length === 1) return fitting[0];
  const which = fitting.length === 0 ? "none of these fits" : "each of these fits";
  const named = fitting.length === 0 ? candidates : fitting;
  throw new Error(
    `which module is ${last} of? ${which}: ${named.join(", ")}; name one with --wasm`,
  );
}

/** Whether the engine takes a dump for one of this module. */
async function fits(dump: string, module: string): Promise<boolean> {
  const { openHeap, WorkControl } = addon();
  const control = new WorkControl();
  const request = { force: false, partial: false };
  try {
    (await openHeap(inputFile(dump), inputFile(module), request, control)).close();
    return true;
  } catch {
    return false;
  }
}

/** The dumps of each folder that has some. Where dumps lie, heap snapshots are those of their hosts. */
async function placesOf(folder: string, depth: number): Promise<string[][]> {
  const entries = readdirSync(folder, { withFileTypes: true }).sort(byName);
  const named = entries.filter((entry) => entry.isFile() && NAME.test(entry.name));
  const files = await kinds(named.map(({ name }) => join(folder, name)));
  const dumps = files.filter(({ kind }) => !hasNoModule(kind));
  const kept = (dumps.length > 0 ? dumps : files).map(({ file }) => file);
  const places = kept.length > 0 ? [kept] : [];
  if (depth === DEEPEST || kept.length > 0) return places;
  const below = entries.filter((entry) => entry.isDirectory() && !LEFT_OUT.test(entry.name));
  for (const { name } of below) places.push(...(await placesOf(join(folder, name), depth + 1)));
  return places;
}

async function kinds(files: readonly string[]) {
  const found = [];
  for (const file of files) {
    const kind = await kindOf(file).catch(() => undefined);
    if (isHeap(kind)) found.push({ file, kind });
  }
  return found;
}

const byName = (one: Dirent, other: Dirent) => (one.name < other.name ? -1 : 1);

/** By the numbers in their names, otherwise by their time. */
function inOrder(files: string[]): string[] {
  const byNumbers = files.length > 1 && /\d/.test(files[0] ?? "") && orderOfNumbers(files);
  if (byNumbers) return byNumbers;
  const time = (file: string) => statSync(file).mtimeMs;
  return [...files].sort((one, other) => time(one) - time(other) || (one < other ? -1 : 1));
}

/** Whether this is the name of a folder that is there. */
export function isFolder(path: string): boolean {
  try {
    return extname(path) !== ".wasm" && statSync(path).isDirectory();
  } catch {
    // Opening it says what is wrong.
    return false;
  }
}
