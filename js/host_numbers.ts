/** The file of numbers that a capture writes beside the heap snapshot of a host. */
import { existsSync } from "node:fs";

/** The file of numbers beside a heap snapshot, if there is one: `x.numbers.json` beside `x.heapsnapshot`. */
export function numbersBeside(snapshot: string): string | undefined {
  const prefix = snapshot.replace(/(\.heapsnapshot)?(\.gz|\.zst)?$/, "");
  const names = ["", ".gz", ".zst"].map((packed) => `${prefix}.numbers.json${packed}`);
  return names.find((name) => name !== snapshot && existsSync(name));
}

/** In a heap that was joined with that of its host, the id of an object of JavaScript is its address less this. */
export const FIRST_ID = 2 ** 31;
