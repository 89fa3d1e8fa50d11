// Heap snapshots, as memlab reads them: exports of dumps, and those of V8, which the analyzer reads too.

import { execFileSync } from "node:child_process";
import { createWriteStream, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeSnapshot } from "../../benches/driver/snapshot.ts";
import { openHeapFile } from "../../dist/index.js";
import { testReader } from "../support/heap_snapshot_suite.ts";
import { isMemlabInstalled, loadInMemlab, readMemlab } from "./snapshot.ts";

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "heap-analyzer-memlab-"));
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe.skipIf(!isMemlabInstalled())("memlab", () => {
  testReader({
    read: async (heap, options) => {
      const file = join(folder, "app.heapsnapshot");
      await pipeline(heap.export("heapsnapshot", options), createWriteStream(file));
      return readMemlab(await loadInMemlab(file));
    },
    withSets: false,
  });

  const read = async (file: string) => {
    const { objects } = openHeapFile(file).find({ limit: 1e9 });
    const { nodes } = readMemlab(await loadInMemlab(file));
    // The root is not an object of the analyzer.
    return { objects, nodes: nodes.slice(1) };
  };
  const total = (sizes: number[]) => sizes.reduce((sum, size) => sum + size, 0);

  test("has the objects and the bytes of a Node program", async () => {
    const file = join(folder, "after.heapsnapshot");
    const program = join(import.meta.dirname, "../snapshots/program.cjs");
    execFileSync(process.execPath, [program, join(folder, "before.heapsnapshot"), file]);
    const { objects, nodes } = await read(file);
    const ids = (list: number[]) => list.sort((left, right) => left - right);
    expect(ids(objects.map(({ address }) => address))).toEqual(ids(nodes.map(({ id }) => id)));
    const sizes = objects.map(({ shallowSize }) => shallowSize);
    expect(total(sizes)).toBe(total(nodes.map(({ selfSize }) => selfSize)));
  });

  // memlab leaves the sizes of arrays where they are; DevTools and the analyzer move them to their owners.
  test("has the retained sizes of what is no array", async () => {
    const file = join(folder, "sessions.heapsnapshot");
    writeSnapshot(5000, file);
    const { objects, nodes } = await read(file);
    const retained = new Map(objects.map(({ address, retainedSize }) => [address, retainedSize]));
    const others = nodes.filter(({ type }) => type !== "array");
    expect(others.length).toBeGreaterThan(4000);
    for (const { id, retainedSize } of others) expect(retained.get(id)).toBe(retainedSize);
  });
});
