// A snapshot as the bytes of a dump.

import type { Snapshot } from "./snapshot.js";

/** Header and memory in one array. Copies the memory. */
export function joinDump({ header, memory, memorySize }: Snapshot): Uint8Array<ArrayBuffer> {
  const dump = new Uint8Array(header.byteLength + memorySize);
  dump.set(header);
  dump.set(new Uint8Array(memory, 0, memorySize), header.byteLength);
  return dump;
}
