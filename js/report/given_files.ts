/** Which files belong together: dumps in their order, each with its module. */
import type { OpenFile } from "../app/messages.ts";
import { type FileKind, needsModule, plainKind } from "../served/file_start.ts";
import * as format from "./format.ts";

/** Bytes of a file by which it is recognised. */
const START = 1 << 16;
/** A page has 4 GiB of memory, of which reading takes up to three times the size of a file. */
const LARGEST = 2 ** 30;

/** What is given, or what is missing or too large. */
export type ChosenFiles =
  | { kind: "ready"; files: OpenFile[] }
  | { kind: "missing"; message: string }
  | { kind: "large"; message: string; command: string };

/** Sorts files out. */
export async function sortedOut(files: readonly File[]): Promise<ChosenFiles> {
  const large = files.find(({ size }) => size > LARGEST);
  if (large !== undefined) {
    const sizes = `${format.bytes(large.size)}: a page reads files of up to ${format.bytes(LARGEST)}`;
    return {
      kind: "large",
      message: `${format.printable(large.name)} has ${sizes}.`,
      command: `npx @warpo/heap-analyzer open ${large.name}`,
    };
  }
  const kinds = await Promise.all(files.map(kindOf));
  const modules = files.filter((_, at) => kinds[at] === "module");
  const dumps = files.filter((_, at) => kinds[at] !== "module");
  const hasModule = (dump: File) => needsModule(kinds[files.indexOf(dump)]);
  inOrder(dumps);
  const [firstDump] = dumps;
  if (firstDump === undefined) {
    const names = modules.map(({ name }) => format.printable(name)).join(", ");
    return missing(`${names}: a module. Its dump is missing: choose it, too.`);
  }
  const needing = dumps.find(hasModule);
  if (needing !== undefined && modules.length !== 1) {
    const name = format.printable(needing.name);
    return missing(
      modules.length === 0
        ? `${name} needs the module from which it was taken: choose the .wasm file, too.`
        : `${name} needs one module, and there are ${modules.length}: choose again.`,
    );
  }
  const [module] = modules;
  return {
    kind: "ready",
    files: dumps.map((file) => ({
      file,
      module: hasModule(file) ? module : undefined,
    })),
  };
}

/** By the numbers in their names; if the names differ otherwise, by their times. */
function inOrder(dumps: File[]): void {
  const { compare } = new Intl.Collator("en", { numeric: true });
  const isNumbered = new Set(dumps.map(({ name }) => name.replace(/\d+/g, ""))).size === 1;
  const time = ({ lastModified }: File) => (isNumbered ? 0 : lastModified);
  dumps.sort((one, other) => time(one) - time(other) || compare(one.name, other.name));
}

function missing(message: string): ChosenFiles {
  return { kind: "missing", message };
}

async function kindOf(file: File): Promise<FileKind | undefined> {
  return plainKind(await contentsOf(new Uint8Array(await file.slice(0, START).arrayBuffer())));
}

/** The first bytes of what a file contains, if it is compressed with gzip. */
async function contentsOf(start: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  if (start[0] !== 0x1f || start[1] !== 0x8b) return start;
  const reader = new Blob([start])
    .stream()
    .pipeThrough(new DecompressionStream("gzip"))
    .getReader();
  try {
    return (await reader.read()).value ?? start;
  } catch {
    return start;
  } finally {
    // The rest of the file is not there.
    reader.cancel().catch(() => {});
  }
}
