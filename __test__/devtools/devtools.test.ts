// Heap snapshots, as the code of Chrome's DevTools reads them.

import { describe, expect, test } from "vitest";
import { openHeap } from "../../dist/index.js";
import type { Heap, HeapSnapshotOptions } from "../../index.js";
import { ASC_BUILD_KINDS, makeBuild } from "../random/builds.ts";
import { randomDumps } from "../random/dumps.ts";
import { randomStream } from "../random/stream.ts";
import { run } from "../support/capture.ts";
import { compile, programNames, UNOPTIMISED } from "../support/compile.ts";
import { testReader } from "../support/heap_snapshot_suite.ts";
import { someOf } from "../support/nightly.ts";
import { type DevToolsSnapshot, loadInDevTools, readDevTools } from "./snapshot.ts";

const load = (heap: Heap, options: HeapSnapshotOptions = {}): Promise<DevToolsSnapshot> =>
  loadInDevTools(heap.export("heapsnapshot", options));

describe("DevTools", () => {
  testReader({
    read: async (heap, options) => readDevTools(await load(heap, options)),
    withSets: true,
  });
});

/** What changed of each class, as text. */
type Changes = Record<string, string>;

async function devToolsChanges(before: Heap, after: Heap): Promise<Changes> {
  const [base, snapshot] = [await load(before), await load(after)];
  const classes = base.aggregatesForDiff(snapshot.interfaceDefinitions());
  const differences = Object.values(snapshot.calculateSnapshotDiff("base", classes));
  const lines = differences
    .filter(({ name }) => name !== "(synthetic)")
    .map(({ name, addedCount, removedCount, addedSize, removedSize }) => [
      name,
      [addedCount, removedCount, addedSize, removedSize].join(" "),
    ]);
  return Object.fromEntries(lines);
}

function analyzerChanges(before: Heap, after: Heap): Changes {
  const rows = after.compareWith(before).constructors;
  const lines = rows.map((row) => [
    row.className === "~lib/string/String" ? "(string)" : row.className,
    [row.newCount, row.deletedCount, row.allocatedSize, row.freedSize].join(" "),
  ]);
  return Object.fromEntries(lines);
}

describe("DevTools compares two exports as the analyzer does", () => {
  test.each(someOf(programNames, 4))("%s", async (name) => {
    const program = await compile(name, UNOPTIMISED);
    const captures = await run(program);
    const [before, after] = [captures.at(0), captures.at(-1)].map((capture) =>
      openHeap((capture as { dump: Uint8Array }).dump, program.wasm),
    ) as [Heap, Heap];
    expect(await devToolsChanges(before, after)).toEqual(analyzerChanges(before, after));
  });

  test.each(someOf([1, 2, 3], 3))("random heap %i", async (seed) => {
    const build = await makeBuild(ASC_BUILD_KINDS[0] as (typeof ASC_BUILD_KINDS)[0]);
    const heaps = randomDumps(build, randomStream(seed)).map((dump) => openHeap(dump, build.wasm));
    for (const [nth, after] of heaps.slice(1).entries()) {
      const before = heaps[nth] as Heap;
      expect(await devToolsChanges(before, after)).toEqual(analyzerChanges(before, after));
    }
  });
});
