// heap-diff: the format, its numbers against the views, and its paths against the references in memory.

import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { captureDump, exposeGlobals } from "../dist/capture.js";
import { openHeap, openHeapFile } from "../dist/index.js";
import type { Heap } from "../index.js";
import { ASC_BUILD_KINDS, makeBuild } from "./random/builds.ts";
import { randomDumps } from "./random/dumps.ts";
import { randomStream } from "./random/stream.ts";
import { compileSource, UNOPTIMISED } from "./support/compile.ts";
import { leakyServer } from "./support/leaky_server.ts";

/** Records, with their `constructor` under a name that no object has. */
interface Growth {
  className: string;
  count_before: number;
  count_after: number;
  count_delta: number;
  size_before: number;
  size_after: number;
  size_delta: number;
}

interface Retained {
  className: string;
  size: number;
  retention_path: string[];
}

interface HeapDiff {
  header: unknown;
  growth: Growth[];
  retained: Retained[];
}

/** Reads the records, which must come in the order of the format. */
async function heapDiff(before: Heap, after: Heap, options: object = {}): Promise<HeapDiff> {
  const written = await text(after.export("heap-diff", { ...options, before }));
  expect(written).toMatch(/\n$/);
  const records = written
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const types = records.map(({ type }) => type as string);
  expect(types.join(" ")).toMatch(/^header( growth)*( retained)*$/);
  return {
    header: records[0],
    growth: records.filter(({ type }) => type === "growth").map(named<Growth>),
    retained: records.filter(({ type }) => type === "retained").map(named<Retained>),
  };
}

function named<T>({ type: _, constructor: className, ...rest }: Record<string, unknown>): T {
  return { className, ...rest } as T;
}

/** The growth of each class, from the className views of both heaps. */
function growthOf(before: Heap, after: Heap): Growth[] {
  const rows = (heap: Heap) =>
    new Map(heap.constructors().constructors.map((row) => [row.className, row]));
  const earlier = rows(before);
  const growth = [...rows(after)].map(([className, { count, totalShallowSize }]) => {
    const old = earlier.get(className) ?? { count: 0, totalShallowSize: 0 };
    return {
      className,
      count_before: old.count,
      count_after: count,
      count_delta: count - old.count,
      size_before: old.totalShallowSize,
      size_after: totalShallowSize,
      size_delta: totalShallowSize - old.totalShallowSize,
    };
  });
  return growth
    .filter(({ count_delta, size_delta }) => count_delta > 0 || size_delta > 0)
    .sort(
      (left, right) =>
        right.size_delta - left.size_delta ||
        right.count_delta - left.count_delta ||
        (left.className < right.className ? -1 : 1),
    );
}

/**
 * Whether references with these labels lead from a root of this name to an object of this class and size,
 * found backwards by asking for referrers.
 */
function leadsTo(heap: Heap, { className, size, retention_path: path }: Retained): boolean {
  const row = heap.constructors().constructors.find((row) => row.className === className);
  let reached = new Set(
    [...(row?.instances ?? [])]
      .filter(({ shallowSize }) => shallowSize === size)
      .map(({ address }) => address),
  );
  const referrers = (address: number) => heap.referrers(address, { limit: 100_000 }).referrers;
  const [root, ...labels] = path;
  for (const label of labels.reverse()) {
    const edges = [...reached].flatMap(referrers).filter((edge) => edge.label === label);
    reached = new Set(edges.flatMap(({ address }) => (address === null ? [] : [address])));
  }
  const names = [...reached].flatMap(referrers).flatMap(({ root }) => {
    if (root === null) return [];
    if (root.kind === "global") return [root.name];
    return [root.name === null ? root.kind : `${root.kind} ${root.name}`];
  });
  return names.includes(root as string);
}

/** The new objects of a class in the order of the comparison view, by their sizes. */
function newSizes(before: Heap, after: Heap, className: string): number[] {
  const row = after.compareWith(before).constructors.find((row) => row.className === className);
  const instances = [...(row?.instances ?? [])].filter(({ changeKind }) => changeKind === "new");
  return instances.map(({ shallowSize }) => shallowSize);
}

async function expectDefinition(before: Heap, after: Heap): Promise<void> {
  const { growth, retained } = await heapDiff(before, after, { samples: 4 });
  expect(growth).toEqual(growthOf(before, after));
  const samples = growth.flatMap(({ className }) =>
    newSizes(before, after, className)
      .slice(0, 4)
      .map((size) => ({ className, size })),
  );
  expect(retained.map(({ className, size }) => ({ className, size }))).toEqual(samples);
  for (const record of retained) {
    if (record.retention_path.includes("...")) expect(record.retention_path).toHaveLength(20);
    else expect([record, leadsTo(after, record)]).toEqual([record, true]);
  }
}

describe("the example server", () => {
  let before: Heap;
  let after: Heap;

  beforeAll(async () => {
    const files = await leakyServer();
    before = openHeapFile(files.before, files.wasm);
    after = openHeapFile(files.after, files.wasm);
  });

  afterAll(() => {
    before.close();
    after.close();
  });

  test("has a header, growth by size, and retained objects with paths that are in memory", async () => {
    const { header, growth } = await heapDiff(before, after);
    expect(header).toEqual({
      type: "header",
      format: "heap-diff",
      version: "0.1",
      baseline: expect.stringMatching(/before\.dump$/),
      target: expect.stringMatching(/after\.dump$/),
    });
    expect(growth[0]?.className).toBe("assembly/server/PriceListener");
    await expectDefinition(before, after);
  });

  test("names the leak in the path of every leaked object", async () => {
    const { retained } = await heapDiff(before, after);
    const listeners = retained.filter(({ className }) => className.endsWith("/PriceListener"));
    expect(listeners).toHaveLength(10);
    for (const { retention_path: path } of listeners) {
      expect(path).toEqual([
        "assembly/server/prices",
        "listeners",
        expect.stringMatching(/^\[\d+\]$/),
      ]);
    }
  });

  test("shows as many samples of each class as it is asked for", async () => {
    const count = async (options: object) => {
      const { growth, retained } = await heapDiff(before, after, options);
      expect(growth).not.toEqual([]);
      return retained.filter(({ className }) => className.endsWith("/PriceListener")).length;
    };
    expect(await count({ samples: 0 })).toBe(0);
    expect(await count({ samples: 3 })).toBe(3);
    expect(await count({})).toBe(10);
    expect(await count({ samples: 1000 })).toBe(120);
  });

  test("has nothing but a header when nothing grew", async () => {
    expect(await heapDiff(after, after)).toMatchObject({ growth: [], retained: [] });
    const { growth } = await heapDiff(after, before);
    expect(growth.map(({ className }) => className)).not.toContain("assembly/server/PriceListener");
  });
});

test.each([1, 2, 3])("follows the definition for the dumps of random heap %i", async (seed) => {
  const build = await makeBuild(ASC_BUILD_KINDS[0] as (typeof ASC_BUILD_KINDS)[0]);
  const heaps = randomDumps(build, randomStream(seed)).map((dump) => openHeap(dump, build.wasm));
  for (const [nth, after] of heaps.slice(1).entries()) {
    await expectDefinition(heaps[nth] as Heap, after);
  }
  for (const heap of heaps) heap.close();
});

test("a path of more than twenty segments is cut in the middle", async () => {
  const source = `
    class Node { next: Node | null = null; item: string = "x".repeat(2); }
    let head: Node | null = null;
    export function grow(): void {
      for (let i = 0; i < 50; i++) { const node = new Node(); node.next = head; head = node; }
    }`;
  const { wasm } = await compileSource("app", source, UNOPTIMISED);
  const module = await WebAssembly.compile(exposeGlobals(wasm));
  const { exports } = await WebAssembly.instantiate(module, { env: { abort() {} } });
  const before = openHeap(captureDump(exports), wasm);
  (exports as { grow?: () => void }).grow?.();
  const after = openHeap(captureDump(exports), wasm);
  const { retained } = await heapDiff(before, after, { samples: 50 });
  const texts = retained.filter(({ className }) => className === "~lib/string/String");
  const lengths = texts.map(({ retention_path: path }) => path.length).sort((a, b) => a - b);
  expect(lengths).toEqual([...Array(50).keys()].map((nexts) => Math.min(nexts + 2, 20)));
  const long = texts.find(({ retention_path: path }) => path.includes("..."));
  expect(long?.retention_path).toEqual([
    "app/head",
    ...Array(9).fill("next"),
    "...",
    ...Array(8).fill("next"),
    "item",
  ]);
});

test("heaps of different modules are refused", async () => {
  const files = await leakyServer();
  const build = await makeBuild(ASC_BUILD_KINDS[0] as (typeof ASC_BUILD_KINDS)[0]);
  const [dump] = randomDumps(build, randomStream(1));
  const [one, other] = [
    openHeapFile(files.after, files.wasm),
    openHeap(dump as Uint8Array, build.wasm),
  ];
  const call = () => one.export("heap-diff", { before: other });
  expect(call).toThrow(expect.objectContaining({ code: "ERR_MODULE_MISMATCH" }));
});
