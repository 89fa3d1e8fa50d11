/** What a file is, by its first bytes. Only here does JavaScript tell dumps from heap snapshots. */

export type FileKind = "dump" | "snapshot" | "module";

/** Bytes that say it. */
export const KIND_BYTES = 4;

/** A heap snapshot of V8 begins with its part `snapshot`. */
const KINDS = new Map<string, FileKind>([
  ["ASHD", "dump"],
  ['{"sn', "snapshot"],
  ["\0asm", "module"],
]);

/** The kind of a file that begins with these bytes; undefined for all others. */
export function fileKind(start: Buffer): FileKind | undefined {
  return KINDS.get(start.toString("latin1", 0, KIND_BYTES));
}

/** Whether a file is of a kind that has no module. */
export function hasNoModule(kind: FileKind | undefined): boolean {
  return kind === "snapshot";
}
