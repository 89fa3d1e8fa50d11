// Exports, as the code of Chrome's DevTools reads them.

import { describe, expect, test } from "vitest";
import { openHeap } from "../../dist/index.js";
import type { Heap } from "../../index.js";
import { ASC_BUILD_KINDS, makeBuild } from "../random/builds.ts";
import { randomDumps } from "../random/dumps.ts";
import { randomStream } from "../random/stream.ts";
import { run } from "../support/capture.ts";
import { compile, programNames, UNOPTIMISED } from "../support/compile.ts";
import { heapNumbers, snapshotNumbers } from "../support/heap_snapshot.ts";
import { type DevToolsSnapshot, loadInDevTools, readDevTools } from "./snapshot.ts";

const load = (heap: Heap): Promise<DevToolsSnapshot> => loadInDevTools(heap.export("heapsnapshot"));

async function expectAgreement(heap: Heap): Promise<void> {
  const shown = snapshotNumbers(readDevTools(await load(heap)));
  expect(shown).toEqual(heapNumbers(heap, { withSets: true }));
}

/** DevTools' comparison against that of the analyzer. */
async function expectSameComparison(before: Heap, after: Heap): Promise<void> {
  const [base, snapshot] = [await load(before), await load(after)];
  const classes = base.aggregatesForDiff(snapshot.interfaceDefinitions());
  const differences = Object.values(snapshot.calculateSnapshotDiff("base", classes));
  const shown = differences.map(({ addedCount, removedCount, addedSize, removedSize }) =>
    [addedCount, removedCount, addedSize, removedSize].join(" "),
  );
  const rows = after.compareWith(before).constructors;
  const changed = rows.filter(({ newCount, deletedCount }) => newCount + deletedCount > 0);
  const expected = changed.map(({ newCount, deletedCount, allocatedSize, freedSize }) =>
    [newCount, deletedCount, allocatedSize, freedSize].join(" "),
  );
  expect(shown.filter((line) => !/^\d+ \d+ 0 0$/.test(line)).sort()).toEqual(expected.sort());
}

describe.each(programNames)("%s", (name) => {
  test("DevTools shows the analyzer's numbers, object by object and in a comparison", async () => {
    const program = await compile(name, UNOPTIMISED);
    const heaps = (await run(program)).map(({ dump }) => openHeap(dump, program.wasm));
    for (const heap of heaps) await expectAgreement(heap);
    const [before, after] = [heaps.at(0), heaps.at(-1)] as [Heap, Heap];
    await expectSameComparison(before, after);
    for (const heap of heaps) heap.close();
  });
});

test.each([1, 2, 3])("DevTools shows the analyzer's numbers of random heap %i", async (seed) => {
  const build = await makeBuild(ASC_BUILD_KINDS[0] as (typeof ASC_BUILD_KINDS)[0]);
  const heaps = randomDumps(build, randomStream(seed)).map((dump) => openHeap(dump, build.wasm));
  for (const heap of heaps) await expectAgreement(heap);
  await expectSameComparison(heaps[0] as Heap, heaps.at(-1) as Heap);
  for (const heap of heaps) heap.close();
});
