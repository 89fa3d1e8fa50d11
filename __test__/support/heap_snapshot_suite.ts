/** Tests of heap snapshots that are the same for each tool that reads them. */
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, test } from "vitest";
import { openHeap } from "../../dist/index.js";
import type { Heap, HeapSnapshotOptions } from "../../index.js";
import { ASC_BUILD_KINDS, makeBuild } from "../random/builds.ts";
import { randomDumps } from "../random/dumps.ts";
import { randomStream } from "../random/stream.ts";
import { run } from "./capture.ts";
import { compile, programNames, UNOPTIMISED } from "./compile.ts";
import {
  heapNumbers,
  retainersOf,
  type SnapshotNode,
  type SnapshotReading,
  snapshotNumbers,
} from "./heap_snapshot.ts";
import { hostileHeap, LONG, SHOWN_CLASSES, STRINGS } from "./hostile_heap.ts";
import { someOf } from "./nightly.ts";

/** A tool that reads heap snapshots. */
export interface Reader {
  read(heap: Heap, options?: HeapSnapshotOptions): Promise<SnapshotReading>;
  /** Whether its retained size of a class counts nested instances once. */
  withSets: boolean;
}

/** Adds the tests of a tool. */
export function testReader({ read, withSets }: Reader): void {
  async function expectAgreement(heap: Heap, shownClasses?: Map<string, string>): Promise<void> {
    const reading = await read(heap);
    const numbers = heapNumbers(heap, { withSets, ...(shownClasses && { shownClasses }) });
    expect(snapshotNumbers(reading)).toEqual(numbers);
  }

  test.each(someOf(programNames, 4))(
    "has the analyzer's numbers, object by object: %s",
    async (name) => {
      const program = await compile(name, UNOPTIMISED);
      for (const { dump } of await run(program)) {
        const heap = openHeap(dump, program.wasm);
        await expectAgreement(heap);
        heap.close();
      }
    },
  );

  test.each(someOf([1, 2, 3], 3))("has the analyzer's numbers of random heap %i", async (seed) => {
    const build = await makeBuild(ASC_BUILD_KINDS[0] as (typeof ASC_BUILD_KINDS)[0]);
    for (const dump of randomDumps(build, randomStream(seed))) {
      const heap = openHeap(dump, build.wasm);
      await expectAgreement(heap);
      heap.close();
    }
  });

  describe("a heap with hostile names and contents", () => {
    let heap: Heap;
    let withGarbage: Heap;
    let reading: SnapshotReading;
    let strings: SnapshotNode[];

    beforeAll(async () => {
      const { whole, withGarbage: later, wasm } = await hostileHeap();
      heap = openHeap(whole, wasm);
      withGarbage = openHeap(later, wasm);
      reading = await read(heap);
      strings = reading.nodes.filter(({ type }) => type === "string");
    });

    test("has the analyzer's numbers, by class names of which none is misread", async () => {
      await expectAgreement(heap, SHOWN_CLASSES);
      expect([...reading.classes.keys()]).toEqual(
        expect.arrayContaining([...SHOWN_CLASSES.values()]),
      );
    });

    test("names strings by what they contain", () => {
      const names = strings.map(({ name }) => name).filter((name) => name.length < 1000);
      expect(names).toEqual(expect.arrayContaining(STRINGS));
      expect(names.filter((name) => name === "twice")).toHaveLength(4);
    });

    test("cuts long strings between two characters, and says so", () => {
      const long = strings.filter(({ selfSize }) => selfSize > 60_000).map(({ name }) => name);
      const shown = 1 << 15;
      expect(new Set(long)).toEqual(
        new Set([
          `${"x".repeat(shown)}… (cut; ${LONG} characters in all)`,
          `${"k".repeat(shown)}… (cut; ${LONG} characters in all)`,
          `${"y".repeat(shown - 1)}… (cut; ${shown + 10} characters in all)`,
        ]),
      );
    });

    test("labels references as the analyzer does", () => {
      const objects = heap.constructors().constructors.flatMap(({ instances }) => [...instances]);
      for (const { address } of objects) {
        const { referrers } = heap.referrers(address, { limit: 1000 });
        const roots = referrers.filter(({ address }) => address === null);
        const labels = referrers.flatMap(({ address, label }) =>
          address === null ? [] : [`${address + 1}: ${label}`],
        );
        const shown = retainersOf(reading, address);
        // The roots have the lowest ids.
        expect(shown.filter((line) => !/^\d: /.test(line))).toEqual(labels.sort());
        expect(shown).toHaveLength(roots.length + labels.length);
        const names = shown.filter((line) => /^\d: /.test(line)).map((line) => line.slice(3));
        for (const { root } of roots) {
          if (root?.kind === "global") expect(names).toContain(root.name);
        }
      }
    });

    test("without strings has the same numbers, and nothing of what they contain", async () => {
      const bare = await read(heap, { strings: false });
      expect(snapshotNumbers(bare)).toEqual(snapshotNumbers(reading));
      expect(
        new Set(bare.nodes.filter(({ type }) => type === "string").map(({ name }) => name)),
      ).toEqual(new Set(["~lib/string/String"]));
      const written = await text(heap.export("heapsnapshot", { strings: false }));
      expect(written).not.toMatch(/twice|__proto__|kkkk|xxxx|yyyy/);
    });

    test("without garbage is the heap before it was dropped, node by node", async () => {
      expect(await text(withGarbage.export("heapsnapshot"))).toBe(
        await text(heap.export("heapsnapshot")),
      );
    });

    test("with all objects has garbage in a group of its own, which changes nothing else", async () => {
      const all = await read(withGarbage, { all: true });
      const { garbage } = withGarbage.unreachable({ limit: 1000 });
      expect(garbage.count).toBeGreaterThan(5);
      expect(all.total).toBe(reading.total + garbage.shallowSize);
      const group = all.nodes.find(({ name }) => name === "(garbage)");
      expect(group?.retainedSize).toBe(garbage.shallowSize);
      const live = snapshotNumbers(reading);
      const { objects, classes } = snapshotNumbers(all);
      expect(objects).toMatchObject(live.objects);
      expect(Object.keys(objects)).toHaveLength(Object.keys(live.objects).length + garbage.count);
      for (const { className, count, shallowSize } of garbage.classes) {
        const name = SHOWN_CLASSES.get(className) ?? className;
        expect(classes[name]).toMatchObject({
          count: (live.classes[name]?.count ?? 0) + count,
          selfSize: (live.classes[name]?.selfSize ?? 0) + shallowSize,
        });
      }
    });
  });
}
