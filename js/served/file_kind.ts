/** What a file is, by its first bytes. Only here does JavaScript tell dumps from heap snapshots. */
import { open } from "node:fs/promises";
import * as zlib from "node:zlib";

export type FileKind = "dump" | "snapshot" | "module";

/** Bytes that say it, also of a compressed file. */
export const KIND_BYTES = 4096;

/** A heap snapshot of V8 begins with its part `snapshot`. */
const KINDS = new Map<string, FileKind>([
  ["ASHD", "dump"],
  ['{"sn', "snapshot"],
  // After a byte order mark.
  ["\xef\xbb\xbf{", "snapshot"],
  // A heap dump of a JVM.
  ["JAVA", "snapshot"],
  ["\0asm", "module"],
]);

/** The kind of a file that begins with these bytes; undefined for all others. */
export function fileKind(start: Buffer): FileKind | undefined {
  if (decompressor(start) === undefined) return plainKind(start);
  const contents = startOfContents(start);
  // It cannot be read here: the engine says what it is.
  if (contents === undefined) return "dump";
  const kind = plainKind(contents);
  // A compressed module is no input.
  return kind === "module" ? undefined : kind;
}

/** The kind of a file, as {@link fileKind} says it. Rejects if the file cannot be read. */
export async function kindOf(path: string): Promise<FileKind | undefined> {
  const file = await open(path);
  try {
    const start = Buffer.alloc(KIND_BYTES);
    await file.read(start, 0, KIND_BYTES, 0);
    return fileKind(start);
  } finally {
    await file.close();
  }
}

function plainKind(start: Buffer): FileKind | undefined {
  return isCoredump(start) ? "dump" : KINDS.get(start.toString("latin1", 0, 4));
}

/** A coredump is a module whose first section, with a size of one to five bytes, is named `core`. */
export function isCoredump(start: Buffer): boolean {
  if (start.toString("latin1", 0, 9) !== "\0asm\x01\0\0\0\0") return false;
  const size = start.subarray(9, 14).findIndex((byte) => byte < 0x80);
  return size >= 0 && start.toString("latin1", 10 + size, 15 + size) === "\x04core";
}

/** The first bytes of what a compressed file contains; undefined if they cannot be read. */
export function startOfContents(start: Buffer): Buffer | undefined {
  try {
    // The end of the file is missing.
    const options = { finishFlush: zlib.constants.Z_SYNC_FLUSH, maxOutputLength: 1 << 23 };
    return decompressor(start)?.(start, options).subarray(0, KIND_BYTES);
  } catch {
    return undefined;
  }
}

/** What decompresses a file that begins with these bytes; undefined if it is not compressed. */
function decompressor(start: Buffer): typeof zlib.gunzipSync | undefined {
  const text = start.toString("latin1", 0, 4);
  if (text.startsWith("\x1f\x8b")) return zlib.gunzipSync;
  if (text !== "(\xb5/\xfd") return undefined;
  const { zstdDecompressSync } = zlib as { zstdDecompressSync?: typeof zlib.gunzipSync };
  return zstdDecompressSync ?? unsupported;
}

/** Node before 22.15 does not read zstd. */
function unsupported(): never {
  throw new Error("this version of Node does not read zstd");
}

/** Whether a file is of a kind that has no module. */
export function hasNoModule(kind: FileKind | undefined): boolean {
  return kind === "snapshot";
}
