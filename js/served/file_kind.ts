/** What a file is, by its first bytes. Only here does JavaScript tell dumps from heap snapshots. */
import * as zlib from "node:zlib";

export type FileKind = "dump" | "snapshot" | "module";

/** Bytes that say it, also of a compressed file. */
export const KIND_BYTES = 4096;

/** A heap snapshot of V8 begins with its part `snapshot`. */
const KINDS = new Map<string, FileKind>([
  ["ASHD", "dump"],
  ['{"sn', "snapshot"],
  ["\0asm", "module"],
]);

/** The kind of a file that begins with these bytes; undefined for all others. */
export function fileKind(start: Buffer): FileKind | undefined {
  const text = start.toString("latin1", 0, 4);
  if (text.startsWith("\x1f\x8b")) return compressedKind(start, zlib.gunzipSync);
  if (text === "(\xb5/\xfd") {
    const { zstdDecompressSync } = zlib as { zstdDecompressSync?: typeof zlib.gunzipSync };
    // Older versions of Node do not read zstd: what it contains is seen when it is opened.
    return zstdDecompressSync === undefined ? "dump" : compressedKind(start, zstdDecompressSync);
  }
  return plainKind(start);
}

function plainKind(start: Buffer): FileKind | undefined {
  return isCoredump(start) ? "dump" : KINDS.get(start.toString("latin1", 0, 4));
}

/** A coredump is a module whose first section, with a size of one to five bytes, is named `core`. */
function isCoredump(start: Buffer): boolean {
  if (start.toString("latin1", 0, 9) !== "\0asm\x01\0\0\0\0") return false;
  const size = start.subarray(9, 14).findIndex((byte) => byte < 0x80);
  return size >= 0 && start.toString("latin1", 10 + size, 15 + size) === "\x04core";
}

/** The kind of what a compressed file contains. A compressed module is no input. */
function compressedKind(start: Buffer, decompress: typeof zlib.gunzipSync): FileKind | undefined {
  try {
    // The end of the file is missing.
    const options = { finishFlush: zlib.constants.Z_SYNC_FLUSH, maxOutputLength: 1 << 23 };
    const kind = plainKind(decompress(start, options));
    return kind === "module" ? undefined : kind;
  } catch {
    return "dump";
  }
}

/** Whether a file is of a kind that has no module. */
export function hasNoModule(kind: FileKind | undefined): boolean {
  return kind === "snapshot";
}
