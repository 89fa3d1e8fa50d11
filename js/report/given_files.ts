/** Which files belong together: dumps in their order, each with its module. */
import type { OpenFile } from "../app/messages.ts";
import * as format from "./format.ts";

/** Bytes of a file by which it is recognised. */
const START = 1 << 16;
/** A page has 4 GiB of memory, of which reading takes up to three times the size of a file. */
const LARGEST = 2 ** 30;

type Kind = "module" | "memory" | "other";

/** What is given, or what is missing or too large. */
export type Given =
  | { kind: "ready"; files: OpenFile[] }
  | { kind: "missing"; message: string }
  | { kind: "large"; message: string; command: string };

/** Sorts files out. */
export async function sortedOut(files: readonly File[]): Promise<Given> {
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
  const of = (wanted: (kind: Kind) => boolean) =>
    files.filter((_, at) => wanted(kinds[at] as Kind));
  const modules = of((kind) => kind === "module");
  const dumps = of((kind) => kind !== "module");
  inOrder(dumps);
  const [firstDump] = dumps;
  if (firstDump === undefined) {
    const names = modules.map(({ name }) => format.printable(name)).join(", ");
    return missing(`${names}: a module. Its dump is missing: choose it, too.`);
  }
  const needing = dumps.find((dump) => kinds[files.indexOf(dump)] === "memory");
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
      module: kinds[files.indexOf(file)] === "memory" ? module : undefined,
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

function missing(message: string): Given {
  return { kind: "missing", message };
}

async function kindOf(file: File): Promise<Kind> {
  const start = new Uint8Array(await file.slice(0, START).arrayBuffer());
  const contents = await contentsOf(start);
  const text = latin1(contents);
  if (text.startsWith("ASHD")) return "memory";
  if (!text.startsWith("\0asm")) return "other";
  // A coredump is a module whose first section, with a size of one to five bytes, is named `core`.
  const size = contents.subarray(9, 14).findIndex((byte) => byte < 0x80);
  const isCoredump = contents[8] === 0 && size >= 0 && text.startsWith("\x04core", 10 + size);
  return isCoredump ? "memory" : "module";
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

function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes.subarray(0, 32));
}
