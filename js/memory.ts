/** The memory that is available for an analysis. */
import { freemem } from "node:os";

/** The number of bytes that this process can still use, within the limits of the system and its container. */
export function availableMemory(): number {
  // Does not exist in the oldest supported version of Node.
  return process.availableMemory?.() ?? freemem();
}
