/**
 * Whether the test programs are fit to judge by: the truth is read right, and each program does
 * reach the case that it is there for. A change of the runtime that makes one miss its case fails
 * here, and not silently.
 */
import { describe, expect, test } from "vitest";
import { type Capture, collectorGlobal, run } from "./support/capture.ts";
import { compile, OPTIMISED, programNames, UNOPTIMISED } from "./support/compile.ts";
import { someOf } from "./support/nightly.ts";
import { STATE_IDLE, STATE_MARK, STATE_SWEEP, totalBytes } from "./support/truth.ts";

const BUILDS = [
  { build: "unoptimised", flags: UNOPTIMISED },
  { build: "optimised", flags: OPTIMISED },
];

describe.each(someOf(BUILDS, 2, 1))("$build", ({ flags }) => {
  const captures = async (name: string): Promise<Capture[]> => run(await compile(name, flags));

  test.each(programNames)(
    "%s: the objects in the collector's lists add up to its total",
    async (name) => {
      const all = await captures(name);
      expect(all.length).toBeGreaterThan(0);
      expect(all.length % 2).toBe(0);
      for (const capture of all)
        expect(totalBytes(capture.truth)).toBe(collectorGlobal(capture, "total"));
    },
  );

  test.each(programNames)("%s: a collection leaves the collector idle", async (name) => {
    for (const capture of await captures(name)) {
      if (capture.id % 2 === 1) expect(collectorGlobal(capture, "state")).toBe(STATE_IDLE);
    }
  });

  test.each([
    "arrays",
    "maps",
    "sets",
    "roots",
    "raw_blocks",
    "regions",
    "shapes",
    "subclasses",
    "unmanaged",
  ])("%s: some dump holds garbage", async (name) => {
    const all = await captures(name);
    const collected = all.map(({ id, truth }, at) =>
      id % 2 === 0 ? truth.size - (all[at + 1]?.truth.size ?? 0) : 0,
    );
    expect(Math.max(...collected)).toBeGreaterThan(0);
  });

  test("mid_cycle: there are dumps of a marking and of a sweeping collector", async () => {
    const states = (await captures("mid_cycle"))
      .filter(({ id }) => id % 2 === 0)
      .map((capture) => collectorGlobal(capture, "state"));
    expect(states.filter((state) => state === STATE_MARK).length).toBeGreaterThanOrEqual(5);
    expect(states.filter((state) => state === STATE_SWEEP).length).toBeGreaterThanOrEqual(5);
    expect(states).toContain(STATE_IDLE);
  });

  test("empty_heap: the first dump is of a heap that was never used", async () => {
    const [first] = await captures("empty_heap");
    expect(first?.globals.get("~lib/rt/tlsf/ROOT")).toBe(0);
  });

  test("regions: the allocator's memory grows to four pieces and more", async () => {
    const pieces = (await captures("regions")).map(({ dump }) => regionCount(dump));
    expect(pieces[0]).toBe(1);
    expect(pieces.at(-1)).toBeGreaterThanOrEqual(4);
  });

  test("raw_ring: there are raw blocks whose neighbours point back at them", async () => {
    const [first] = await captures("raw_ring");
    const linked = first
      ? linkedBlocks(first.dump).filter((address) => !first.truth.has(address))
      : [];
    expect(linked.length).toBe(12);
  });

  test("deletion: every object to be cut off is on the heap", async () => {
    const victims = (await captures("deletion")).filter(({ id }) => id % 2 === 0);
    expect(victims.length).toBeGreaterThanOrEqual(5);
    for (const { victim, truth } of victims) expect(truth.has(victim ?? 0)).toBe(true);
  });
});

/** The memory in a dump. */
function memoryOf(dump: Uint8Array): DataView {
  const header = new DataView(dump.buffer, dump.byteOffset);
  return new DataView(dump.buffer, dump.byteOffset + 24 + 4 * header.getUint32(20, true));
}

function allocatorRoot(dump: Uint8Array): number {
  return (new DataView(dump.buffer, dump.byteOffset).getUint32(12, true) + 15) & ~15;
}

/** Pieces of allocator memory, found through the free lists' ends: by jumping over foreign pages. */
function regionCount(dump: Uint8Array): number {
  const memory = memoryOf(dump);
  const root = allocatorRoot(dump);
  const tail = memory.getUint32(root + 1568, true);
  let regions = 1;
  let block = firstBlock(root + 1572);
  for (;;) {
    for (let size = sizeAt(memory, block); size !== 0; size = sizeAt(memory, block))
      block += 4 + size;
    if (block === tail) return regions;
    regions += 1;
    block = firstBlock(nextPage(block));
    while (!leadsTo(memory, block, tail)) block = firstBlock(nextPage(block));
  }
}

function firstBlock(start: number): number {
  return ((start + 4 + 15) & ~15) - 4;
}

function nextPage(address: number): number {
  return (address + 0xffff) & ~0xffff;
}

function sizeAt(memory: DataView, block: number): number {
  return (memory.getUint32(block, true) & ~3) >>> 0;
}

/** Whether a chain of blocks from here ends properly, at or before the last region's end. */
function leadsTo(memory: DataView, start: number, tail: number): boolean {
  let block = start;
  while (block < tail) {
    const size = sizeAt(memory, block);
    if (size === 0) return block > start;
    block += 4 + size;
  }
  return block === tail;
}

/** Payload addresses of all used blocks of the first region whose neighbours point back. */
function linkedBlocks(dump: Uint8Array): number[] {
  const memory = memoryOf(dump);
  const word = (address: number) =>
    address + 4 <= memory.byteLength ? memory.getUint32(address, true) : 0;
  const found = [];
  let block = firstBlock(allocatorRoot(dump) + 1572);
  for (let info = word(block); (info & ~3) !== 0; info = word(block)) {
    const next = (word(block + 4) & ~3) >>> 0;
    const previous = word(block + 8);
    if (
      (info & 1) === 0 &&
      next &&
      previous &&
      word(next + 8) === block &&
      (word(previous + 4) & ~3) >>> 0 === block
    ) {
      found.push(block + 20);
    }
    block += 4 + (info & ~3);
  }
  return found;
}
