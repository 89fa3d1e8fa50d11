/** How work is watched and stopped. */
import type { ClassCount } from "@warpo/heap-analyzer";

export interface Control {
  signal: AbortSignal;
  /** Reports the part of the work that is done, from 0 to 1. */
  progress(fraction: number, phase: string): void;
  /** Takes the live objects by class of a dump that is being opened, before retained sizes are known. */
  classes?(dump: string, classes: ClassCount[]): void;
}
