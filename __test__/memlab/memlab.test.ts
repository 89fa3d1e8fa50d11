// Exports, as memlab reads them.

import { createWriteStream, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openHeap } from "../../dist/index.js";
import type { Heap } from "../../index.js";
import { ASC_BUILD_KINDS, makeBuild } from "../random/builds.ts";
import { randomDumps } from "../random/dumps.ts";
import { randomStream } from "../random/stream.ts";
import { run } from "../support/capture.ts";
import { compile, UNOPTIMISED } from "../support/compile.ts";
import { heapNumbers, snapshotNumbers } from "../support/heap_snapshot.ts";
import { isMemlabInstalled, loadInMemlab, readMemlab } from "./snapshot.ts";

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "heap-analyzer-memlab-"));
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** Expects that memlab finds the numbers of the analyzer, node by node. */
async function expectAgreement(dump: Uint8Array, wasm: Uint8Array): Promise<void> {
  const heap = openHeap(dump, wasm);
  const file = join(folder, "app.heapsnapshot");
  await pipeline(heap.export("heapsnapshot"), createWriteStream(file));
  const shown = snapshotNumbers(readMemlab(await loadInMemlab(file)));
  expect(shown).toEqual(heapNumbers(heap as Heap, { withSets: false }));
  heap.close();
}

describe.skipIf(!isMemlabInstalled())("memlab", () => {
  test.each([
    "arrays",
    "buffers",
    "environments",
    "functions",
    "interfaces_generics",
    "maps",
    "roots",
    "sets",
    "shapes",
    "static_arrays",
    "subclasses",
    "unicode",
  ])("shows the analyzer's numbers of the program %s", async (name) => {
    const program = await compile(name, UNOPTIMISED);
    const dumps = (await run(program)).map(({ dump }) => dump);
    for (const dump of dumps.slice(0, 4)) await expectAgreement(dump, program.wasm);
  });

  test.each([1, 2, 3])("shows the analyzer's numbers of random heap %i", async (seed) => {
    const build = await makeBuild(ASC_BUILD_KINDS[0] as (typeof ASC_BUILD_KINDS)[0]);
    for (const dump of randomDumps(build, randomStream(seed))) {
      await expectAgreement(dump, build.wasm);
    }
  });
});
