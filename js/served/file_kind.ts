/** What a file is, by its first bytes, also if it is compressed. */
import { open } from "node:fs/promises";
import * as zlib from "node:zlib";
import { type FileKind, plainKind } from "./file_start.js";

export { type FileKind, hasNoModule, isCoredump, isHeap } from "./file_start.js";

/** Bytes that say it, also of a compressed file. */
export const KIND_BYTES = 4096;

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
