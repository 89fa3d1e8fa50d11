/**
 * Which holders in JavaScript the analyzer finds, in programs that were written before its rules and whose holders are
 * impure. The judge is what each program knows, and a reader of heap snapshots that is not the analyzer's.
 */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Heap, openHeapFile } from "@warpo/heap-analyzer";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type BridgeTruth,
  bridgeFolder,
  captureProgram,
  readBridgeTruth,
  TrueHolders,
} from "./support/bridge.ts";

const VERSIONS = join(import.meta.dirname, "node_versions/node_modules");
const HOSTS = [
  { title: "this Node", node: process.execPath, seeds: [1, 2, 3] },
  { title: "Node 22", node: join(VERSIONS, "node-22/bin/node"), seeds: [1] },
  { title: "Node 24", node: join(VERSIONS, "node-24/bin/node"), seeds: [1] },
];
const PROGRAMS = ["desk", "editor", "world"];
const REGISTER = ["--import", "@warpo/heap-analyzer/register"];
/** In a joined heap, the address of an object of JavaScript is this and its id. */
const FIRST_ID = 2 ** 31;

let folder: Awaited<ReturnType<typeof bridgeFolder>>;

beforeAll(async () => {
  folder = await bridgeFolder("--debug");
});
afterAll(() => rmSync(folder.folder, { recursive: true, force: true }));

/** The objects of JavaScript that hold an object, as the analyzer has them. */
function holders(heap: Heap, address: number) {
  const { referrers } = heap.referrers(address, { limit: 1000 });
  return referrers
    .filter(({ evidence }) => evidence !== undefined)
    .map((edge) => ({ id: (edge.address as number) - FIRST_ID, label: edge.label as string }));
}

/** The numbers of a run: pinned objects that something holds, and what was found. */
function judged(heap: Heap, truth: BridgeTruth, prefix: string) {
  const known = new TrueHolders(prefix, truth);
  const counts = { held: 0, withHolder: 0, withHolderOrStack: 0, edges: 0 };
  const wrong: string[] = [];
  const missed = new Map<string, number>();
  const read = (address: number) => {
    const found = holders(heap, address);
    for (const { id, label } of found) {
      counts.edges++;
      if (!known.has(id, label, address)) wrong.push(`@${id} ${label} ${address}`);
    }
    return found.some(({ id, label }) => known.has(id, label, address));
  };
  for (const { name, addresses } of truth.groups) {
    for (const address of addresses) {
      const isFound = read(address);
      const hasStack = (heap.object(address).pinnedBy ?? []).length > 0;
      counts.held++;
      if (isFound) counts.withHolder++;
      else missed.set(name, (missed.get(name) ?? 0) + 1);
      if (isFound || hasStack) counts.withHolderOrStack++;
    }
  }
  for (const address of truth.lost) read(address);
  return { ...counts, wrong, missed: Object.fromEntries(missed) };
}

describe.each(HOSTS)("$title", ({ title, node, seeds }) => {
  describe.skipIf(!existsSync(node))("(skipped if npm run test:hosts did not install it)", () => {
    test.each(PROGRAMS.flatMap((name) => seeds.map((seed) => ({ name, seed }))))(
      "$name, seed $seed: three of four have a holder, nine of ten a holder or a stack, and no holder is wrong",
      ({ name, seed }) => {
        const options = { node, seed, flags: REGISTER, env: { HEAP_HANDLES: "1" } };
        const { prefix } = captureProgram(folder, name, "closures", options);
        const truth = readBridgeTruth(prefix);
        const heap = openHeapFile(`${prefix}.dump`, folder.wasm, { host: `${prefix}.heapsnapshot` });
        const result = judged(heap, truth, prefix);
        heap.close();
        if (process.env.TEST_FIGURES) console.log(title, name, seed, JSON.stringify(result));
        expect(result.wrong).toEqual([]);
        expect(result.withHolder / result.held).toBeGreaterThanOrEqual(0.75);
        expect(result.withHolderOrStack / result.held).toBeGreaterThanOrEqual(0.9);
        const single = truth.groups.filter((group) => group.single);
        const singles = single.reduce((sum, { addresses }) => sum + addresses.length, 0);
        expect(singles / result.held).toBeLessThanOrEqual(0.1);
      },
    );
  });
});
