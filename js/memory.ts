/** How much memory there is for an analysis. */
import { freemem } from "node:os";

/** Bytes that this process can still use, by what the system and a container around it allow. */
export function availableMemory(): number {
  // Newer than the oldest Node that we run on.
  return process.availableMemory?.() ?? freemem();
}
