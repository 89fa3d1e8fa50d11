// Heap snapshots of Node and Chromium: the analyzer has the numbers that DevTools' own code computes.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { openHeap, openHeapFile } from "../../dist/index.js";
import type { Heap } from "../../index.js";
import {
  analyzerChanges,
  analyzerClasses,
  analyzerNodes,
  devToolsCategories,
  devToolsChanges,
  devToolsClasses,
  devToolsNodes,
  loadFile,
} from "../snapshots/compare.ts";
import { HOSTS } from "../snapshots/hosts.ts";
import { randomSnapshot } from "../snapshots/random.ts";
import { type DevToolsSnapshot, loadInDevTools } from "./snapshot.ts";

// Its warnings about nodes without strong references are expected here.
vi.spyOn(console, "warn").mockImplementation(() => {});

for (const { title, missing } of HOSTS) {
  if (missing !== undefined) console.info(`snapshots of ${title} are left out: ${missing}`);
}

describe.each(HOSTS.filter(({ missing }) => missing === undefined))("$title", ({ write }) => {
  let folder: string;
  let heaps: Heap[];
  let snapshots: DevToolsSnapshot[];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "heap-analyzer-snapshots-"));
    const files = ["before", "after"].map((name) => join(folder, `${name}.heapsnapshot`));
    await write(...(files as [string, string]));
    heaps = files.map((file) => openHeapFile(file));
    snapshots = await Promise.all(files.map(loadFile));
  }, 120_000);

  afterAll(() => rmSync(folder, { recursive: true }));

  describe.each([0, 1])("snapshot %i", (nth) => {
    test("has the total of DevTools", () => {
      expect(heaps[nth]?.constructors().totalLiveSize).toBe(snapshots[nth]?.totalSize);
    });

    test("has the classes of DevTools, with counts, self sizes and retained sizes", () => {
      const classes = analyzerClasses((heaps[nth] as Heap).constructors());
      expect(classes).toEqual(devToolsClasses(snapshots[nth] as DevToolsSnapshot));
    });

    test("has the categories of DevTools' filters", () => {
      const expected = devToolsCategories(snapshots[nth] as DevToolsSnapshot);
      expect(heaps[nth]?.summary().categories).toEqual(expected);
    });

    test("has the class, sizes and distance of every node", () => {
      const expected = devToolsNodes(snapshots[nth] as DevToolsSnapshot);
      expect(analyzerNodes(heaps[nth] as Heap)).toEqual(expected);
    });
  });

  test("two snapshots differ as in DevTools", () => {
    const [before, after] = heaps as [Heap, Heap];
    const [base, snapshot] = snapshots as [DevToolsSnapshot, DevToolsSnapshot];
    expect(analyzerChanges(after.compareWith(before))).toEqual(devToolsChanges(base, snapshot));
  });
});

const randomText = (seed: number): Buffer => Buffer.from(randomSnapshot(seed));

describe("random snapshots", () => {
  const text = randomText;
  const seeds = Array.from({ length: 100 }, (_, nth) => nth + 1);

  test.each(seeds)("snapshot %i has the classes and the nodes of DevTools", async (seed) => {
    const heap = openHeap(text(seed));
    const snapshot = await loadInDevTools(Readable.from([text(seed)]));
    expect(heap.constructors().totalLiveSize).toBe(snapshot.totalSize);
    expect(analyzerClasses(heap.constructors())).toEqual(devToolsClasses(snapshot));
    expect(analyzerNodes(heap)).toEqual(devToolsNodes(snapshot));
  });

  test.each(seeds.slice(0, 30))("snapshot %i and the next differ as in DevTools", async (seed) => {
    const [before, after] = [seed, seed + 1].map((seed) => openHeap(text(seed))) as [Heap, Heap];
    const load = (seed: number) => loadInDevTools(Readable.from([text(seed)]));
    const [base, snapshot] = [await load(seed), await load(seed + 1)];
    expect(analyzerChanges(after.compareWith(before))).toEqual(devToolsChanges(base, snapshot));
  });
});

test("bytes outside of the heap are part of the total, as in DevTools", async () => {
  const parsed = JSON.parse(randomSnapshot(7));
  parsed.snapshot.extra_native_bytes = 123_456;
  const text = Buffer.from(JSON.stringify(parsed));
  const snapshot = await loadInDevTools(Readable.from([text]));
  const { totalLiveSize } = openHeap(text).constructors();
  expect(totalLiveSize).toBe(snapshot.totalSize);
  expect(totalLiveSize).toBe(openHeap(randomText(7)).constructors().totalLiveSize + 123_456);
});
