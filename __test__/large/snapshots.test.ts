// Heap snapshots of V8 with more nodes and bytes than other tools read. The generated program is known, so all numbers are.

import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writeSnapshot } from "../../benches/driver/snapshot.ts";
import { openHeapFile } from "../../dist/index.js";

const GIB = 2 ** 30;
const [SESSION, ARRAY, ELEMENTS, RECORD, STRING] = [40, 32, 16 + 8 * 8, 48, 32];
const RECORDS = 8;

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "heap-analyzer-large-"));
});

afterAll(() => rmSync(folder, { recursive: true }));

test.each([
  { nodes: 20_000_000, least: GIB / 2 },
  { nodes: 90_000_000, least: 4 * GIB },
])("$nodes nodes: every class has its count, size and retained size", ({ nodes, least }) => {
  const file = join(folder, "large.heapsnapshot");
  const count = writeSnapshot(nodes, file);
  expect(statSync(file).size).toBeGreaterThan(least);
  const sessions = (count - 3) / (3 + 2 * RECORDS);
  const retained = SESSION + ARRAY + ELEMENTS + RECORDS * (RECORD + STRING);
  const { constructors, totalLiveSize } = openHeapFile(file).constructors({ instances: 0 });
  const row = (name: string) => {
    const found = constructors.find(({ className }) => className === name);
    return [found?.count, found?.totalShallowSize, found?.retainedSetSize];
  };
  expect(totalLiveSize).toBe(128 + sessions * retained);
  expect(row("Session")).toEqual([sessions, sessions * SESSION, sessions * retained]);
  const [records, size] = [sessions * RECORDS, RECORD + STRING];
  expect(row("Record")).toEqual([records, records * RECORD, records * size]);
  expect(row("(string)")).toEqual([records, records * STRING, records * STRING]);
  rmSync(file);
});
