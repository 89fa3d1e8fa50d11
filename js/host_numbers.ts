/** The files that a capture writes beside a heap snapshot and a dump of one moment. */
import { existsSync } from "node:fs";

/** What is beside which file, by its ending. */
const BESIDE = {
  numbers: ["heapsnapshot", "numbers.json"],
  handles: ["dump", "handles.json"],
} as const;

/** The numbers beside a heap snapshot, if there are any: `x.numbers.json` beside `x.heapsnapshot`. */
export function numbersBeside(snapshot: string): string | undefined {
  return namesBeside("numbers", snapshot).find((name) => existsSync(name));
}

/** Who pinned what, beside a dump, if that is known: `x.handles.json` beside `x.dump`. */
export function handlesBeside(dump: string): string | undefined {
  return namesBeside("handles", dump).find((name) => existsSync(name));
}

/** The names that such a file can have, compressed or not. */
export function namesBeside(what: keyof typeof BESIDE, file: string): string[] {
  const [ending, other] = BESIDE[what];
  const prefix = file.replace(/(\.gz|\.zst)$/, "").replace(new RegExp(`\\.${ending}$`), "");
  const names = ["", ".gz", ".zst"].map((packed) => `${prefix}.${other}${packed}`);
  return names.filter((name) => name !== file);
}

/** In a heap that was joined with that of its host, the id of an object of JavaScript is its address less this. */
export const FIRST_ID = 2 ** 31;
