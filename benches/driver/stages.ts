/** Measures each stage of an analysis, by shape and size. */
import { join } from "node:path";
import { type BenchBinary, type Heap, runNode } from "./processes.js";
import { type StageRow, sample } from "./results.js";

/** Measures one heap. */
export function measureStages(
  binary: BenchBinary,
  heap: Heap,
  { shape, size, repetitions }: { shape: string; size: string; repetitions: number },
): StageRow {
  const runs = Array.from({ length: repetitions }, (_, nth) =>
    // JSON takes longer than everything else, so it is measured once.
    binary.analyze(heap, nth === 0),
  );
  const first = runs[0];
  if (!first?.json) throw new Error("at least one repetition");
  const { objects, live, references, dumpBytes, json } = first;
  const perObject = (seconds: number) => (seconds * 1e9) / objects;
  const median = (values: number[]) => perObject(sample(values).median);
  const total = sample(runs.map((run) => perObject(run.seconds)));
  const peaks = runs.map((run) => run.peakBytes ?? Number.NaN);
  const peakBytes = Math.max(...peaks);
  const yardsticks = binary.yardsticks(heap, objects);
  return {
    shape,
    size,
    objects,
    live,
    references,
    dumpBytes,
    stages: Object.fromEntries(
      first.stages.map(([name], nth) => [
        name,
        median(runs.map((run) => run.stages[nth]?.[1] ?? 0)),
      ]),
    ),
    total,
    peakBytes: Number.isNaN(peakBytes) ? null : peakBytes,
    json: {
      bytes: json.bytes,
      bytesPerSecond: json.bytes / json.seconds,
      addedPeakBytes:
        json.peakBytes === null || first.peakBytes === null
          ? null
          : json.peakBytes - first.peakBytes,
    },
    yardsticks: {
      read: perObject(yardsticks.readSeconds),
      parallelRead: perObject(yardsticks.parallelReadSeconds),
      chase: perObject(yardsticks.chaseSeconds),
      fresh: perObject(yardsticks.freshSeconds),
    },
  };
}

/** The shop's dumps of one size. */
export interface ShopHeaps {
  /** How many objects were asked for. */
  objects: number;
  before: Heap;
  after: Heap;
}

/** Runs the shop for each size, until it has this number of objects. */
export function openShop(sizes: readonly number[], folder: string): ShopHeaps[] {
  runNode([require.resolve("./shop.js"), folder, ...sizes.map(String)]);
  const wasm = join(folder, "program.wasm");
  return sizes.map((objects) => ({
    objects,
    before: { dump: join(folder, `${objects}-before.dump`), wasm },
    after: { dump: join(folder, `${objects}-after.dump`), wasm },
  }));
}
