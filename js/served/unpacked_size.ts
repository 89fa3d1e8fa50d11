/**
 * The size of the dump that a coredump or a compressed file becomes, as the file says it. A file may lie: whoever opens it
 * passes this size as `memoryLimit`, so that one that contains more is refused.
 */
import { isCoredump, startOfContents } from "./file_kind.js";

const PAGE = 65_536;
/** What a header and the values of globals take. */
const HEADER = 24 + 4 * 65_536;
/** For zstd files that do not say their size: what most dumps shrink to. */
const USUAL_RATIO = 16;

/** The size in bytes, from the first bytes of a file, its last four, and its size. */
export function unpackedSize(start: Buffer, end: Buffer, size: number): number {
  if (isCoredump(start)) return Math.max(size, coredumpMemory(start));
  const text = start.toString("latin1", 0, 4);
  const isGzip = text.startsWith("\x1f\x8b");
  if (!isGzip && text !== "(\xb5/\xfd") return size;
  const contents = startOfContents(start);
  const memory = contents !== undefined && isCoredump(contents) ? coredumpMemory(contents) : 0;
  const declared = isGzip ? (end.length === 4 ? end.readUInt32LE() : 0) : zstdSize(start);
  return Math.max(size, memory, declared ?? size * USUAL_RATIO);
}

/** The memories that a coredump declares, which stand near its start. */
function coredumpMemory(start: Buffer): number {
  let at = 8;
  const number = () => {
    let value = 0;
    for (let factor = 1; factor <= 2 ** 28; factor *= 128) {
      const byte = start[at++] ?? 0;
      value += (byte & 127) * factor;
      if (byte < 128) break;
    }
    return value;
  };
  while (at < start.length) {
    const section = start[at++];
    const size = number();
    if (section !== 5) {
      at += size;
      continue;
    }
    let pages = 0;
    for (let left = Math.min(number(), 100); left > 0; left--) {
      const flags = number();
      pages += number();
      if ((flags & 1) === 1) number();
    }
    return HEADER + pages * PAGE;
  }
  return 0;
}

/** The size in the header of a zstd frame; undefined if it has none. */
function zstdSize(start: Buffer): number | undefined {
  const descriptor = start[4] ?? 0;
  const isSingle = (descriptor & 0x20) !== 0;
  const sizeFlag = descriptor >> 6;
  const dictionary = [0, 1, 2, 4][descriptor & 3] as number;
  const at = 5 + (isSingle ? 0 : 1) + dictionary;
  if (start.length < at + 8) return undefined;
  if (sizeFlag === 0) return isSingle ? start.readUInt8(at) : undefined;
  if (sizeFlag === 1) return start.readUInt16LE(at) + 256;
  if (sizeFlag === 2) return start.readUInt32LE(at);
  return Number(start.readBigUInt64LE(at));
}
