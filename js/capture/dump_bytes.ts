// Converts a snapshot to the bytes of a dump.

import { HeapAnalyzerError } from "../errors.js";
import type { Snapshot } from "./snapshot.js";

/**
 * Header and memory in one array. Copies the memory.
 *
 * @param alternative advice for the message if there is not enough memory.
 * @throws {HeapAnalyzerError} `ERR_DUMP_TOO_LARGE`.
 */
export function joinDump(
  { header, memory, memorySize }: Snapshot,
  alternative = "let the program use less memory before the dump",
): Uint8Array<ArrayBuffer> {
  const size = header.byteLength + memorySize;
  let dump: Uint8Array<ArrayBuffer>;
  try {
    dump = new Uint8Array(size);
  } catch (error) {
    throw new HeapAnalyzerError(
      "ERR_DUMP_TOO_LARGE",
      `the dump has ${size} bytes, but an array of this size cannot be created: ${alternative}`,
      { cause: error },
    );
  }
  dump.set(header);
  dump.set(new Uint8Array(memory, 0, memorySize), header.byteLength);
  return dump;
}
