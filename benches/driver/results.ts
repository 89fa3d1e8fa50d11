/** The results of a benchmark run, as they are stored in a file. */
import type { Machine } from "./machine.js";

/** Of several repetitions. */
export interface Sample {
  median: number;
  min: number;
}

export function sample(values: number[]): Sample {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = sorted.slice((sorted.length - 1) >> 1, (sorted.length >> 1) + 1);
  return {
    median: middle.reduce((sum, value) => sum + value, 0) / middle.length,
    min: sorted[0] ?? Number.NaN,
  };
}

/** One shape at one size. Times are in ns per object, objects counted whether alive or not. */
export interface StageRow {
  shape: string;
  /** The requested number of objects, or of bytes of memory. */
  size: string;
  objects: number;
  live: number;
  references: number;
  dumpBytes: number;
  /** Medians, in the order of the work. */
  stages: Record<string, number>;
  total: Sample;
  /** The peak memory, the mapped dump included; null if the system does not report it. */
  peakBytes: number | null;
  /** Producing the full JSON, without a reader. */
  json: { bytes: number; bytesPerSecond: number; addedPeakBytes: number | null };
  /**
   * What the machine allows: reading the dump once, with one thread and with all; following one
   * pointer per object; getting fresh memory of the size of the dump.
   */
  yardsticks: { read: number; parallelRead: number; chase: number; fresh: number };
}

/** A promise, and the measured value. */
export interface TargetRow {
  work: string;
  unit: "s" | "ms" | "×" | "MB/s" | "M objects/s" | "MiB" | "GiB" | "bytes" | "frames" | "ns";
  /** The promise, and whether less or more is better. */
  limit: number;
  better: "less" | "more";
  measured: number;
  /** Null at sizes that nothing was promised for. */
  met: boolean | null;
  /** The measurements from which the number was computed. */
  detail: string;
}

/** A promise without its result. */
export type Promised = Pick<TargetRow, "work" | "unit" | "limit" | "better">;

export interface Results {
  format: 1;
  date: string;
  machine: Machine;
  /** Whether the engine was measured as it is shipped. */
  optimised: boolean;
  repetitions: number;
  stages: StageRow[];
  targets: TargetRow[];
}
