/** The files that a capture writes beside a heap snapshot and a dump of one moment. */
import { existsSync } from "node:fs";

/** The numbers beside a heap snapshot, if there are any: `x.numbers.json` beside `x.heapsnapshot`. */
export function numbersBeside(snapshot: string): string | undefined {
  return beside(snapshot, "heapsnapshot", "numbers.json");
}

/** Who pinned what, beside a dump, if that is known: `x.handles.json` beside `x.dump`. */
export function handlesBeside(dump: string): string | undefined {
  return beside(dump, "dump", "handles.json");
}

function beside(file: string, ending: string, other: string): string | undefined {
  const prefix = file.replace(/(\.gz|\.zst)$/, "").replace(new RegExp(`\\.${ending}$`), "");
  const names = ["", ".gz", ".zst"].map((packed) => `${prefix}.${other}${packed}`);
  return names.find((name) => name !== file && existsSync(name));
}

/** In a heap that was joined with that of its host, the id of an object of JavaScript is its address less this. */
export const FIRST_ID = 2 ** 31;
