/** What a file is, by its first bytes, in Node and in pages. Only here does JavaScript tell dumps from heap snapshots. */

export type FileKind = "dump" | "snapshot" | "module";

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

/** The kind of a file that is not compressed; undefined for all others. */
export function plainKind(start: Uint8Array): FileKind | undefined {
  return isCoredump(start) ? "dump" : KINDS.get(latin1(start, 0, 4));
}

/** A coredump is a module whose first section, with a size of one to five bytes, is named `core`. */
export function isCoredump(start: Uint8Array): boolean {
  if (latin1(start, 0, 9) !== "\0asm\x01\0\0\0\0") return false;
  const size = start.subarray(9, 14).findIndex((byte) => byte < 0x80);
  return size >= 0 && latin1(start, 10 + size, 15 + size) === "\x04core";
}

function latin1(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to));
}

/** Whether a file is of a kind with a heap. */
export function isHeap(kind: FileKind | undefined): kind is "dump" | "snapshot" {
  return kind === "dump" || kind === "snapshot";
}

/** Whether a file is of a kind that has no module. */
export function hasNoModule(kind: FileKind | undefined): boolean {
  return kind === "snapshot";
}

/** Whether a file is of a kind that is read with a module. */
export function needsModule(kind: FileKind | undefined): boolean {
  return kind === "dump";
}
