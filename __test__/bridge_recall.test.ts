/**
 * Which holders in JavaScript the analyzer finds, in programs that were written before its rules and whose holders are
 * impure. The judge is what each program knows, and a reader of heap snapshots that is not the analyzer's.
 */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bridgeFolder, captureProgram, readBridgeTruth } from "./support/bridge.ts";
import { holders, judged, openPair } from "./support/bridge_judge.ts";

const VERSIONS = join(import.meta.dirname, "node_versions/node_modules");
/** Other seeds give other numbers beside the handles. */
const SEEDS = process.env.TEST_HOSTS === undefined ? [1] : [1, 2, 3];
const HOSTS = [
  { title: "this Node", node: process.execPath, seeds: SEEDS },
  { title: "Node 22", node: join(VERSIONS, "node-22/bin/node"), seeds: [1] },
  { title: "Node 24", node: join(VERSIONS, "node-24/bin/node"), seeds: [1] },
];
const PROGRAMS = ["desk", "editor", "world"];
const REGISTER = ["--import", "@warpo/heap-analyzer/register"];

let folder: Awaited<ReturnType<typeof bridgeFolder>>;

beforeAll(async () => {
  folder = await bridgeFolder("--debug");
});
afterAll(() => rmSync(folder.folder, { recursive: true, force: true }));

test("the judge finds a holder that is none", () => {
  const { prefix } = captureProgram(folder, "desk", "closures");
  const truth = readBridgeTruth(prefix);
  const pool = truth.groups.find(({ holder }) => holder.at === "app.pool");
  const requests = truth.groups.find(({ holder }) => holder.class === "Request");
  if (pool === undefined || requests === undefined) throw new Error("the program has other groups");
  pool.holder = { at: "app.queue", slot: "element" };
  requests.holder = { class: "Request", slot: "size" };
  const { wrong } = judged(prefix, folder.wasm, truth);
  expect(wrong).toHaveLength(pool.addresses.length + requests.addresses.length);
});

describe.each(HOSTS)("$title", ({ title, node, seeds }) => {
  describe.skipIf(!existsSync(node))(
    "(skipped if npm run test:full -- hosts did not install it)",
    () => {
      test.each(PROGRAMS.flatMap((name) => seeds.map((seed) => ({ name, seed }))))(
        "$name, seed $seed: three of four have a holder, nine of ten a holder or a stack, and no holder is wrong",
        ({ name, seed }) => {
          const options = { node, seed, flags: REGISTER, env: { HEAP_HANDLES: "1" } };
          const { prefix } = captureProgram(folder, name, "closures", options);
          const verdict = judged(prefix, folder.wasm);
          if (process.env.TEST_FIGURES) console.log(title, name, seed, JSON.stringify(verdict));
          expect(verdict.wrong).toEqual([]);
          expect(verdict.withHolder / verdict.held).toBeGreaterThanOrEqual(0.75);
          expect(verdict.withHolderOrStack / verdict.held).toBeGreaterThanOrEqual(0.9);
          const single = readBridgeTruth(prefix).groups.filter((group) => group.single);
          const singles = single.reduce((sum, { addresses }) => sum + addresses.length, 0);
          expect(singles / verdict.held).toBeLessThanOrEqual(0.1);
        },
      );

      test("a holder that is removed, and whose objects are unpinned, is gone with them", () => {
        const { prefix } = captureProgram(folder, "removal", "twice", { node });
        const { groups } = readBridgeTruth(prefix);
        for (const [moment, expected] of [
          ["", { kept: 1, removed: 1, forgotten: 1 }],
          // Removed: unpinned too. Forgotten: the holder is gone, and the objects are still pinned.
          ["-after", { kept: 1, removed: undefined, forgotten: 0 }],
        ] as const) {
          const heap = openPair(`${prefix}${moment}`, folder.wasm);
          for (const { name, addresses } of groups) {
            const count = expected[name as keyof typeof expected];
            for (const address of addresses) {
              const isAlive = heap.object(address).path !== null;
              expect(isAlive).toBe(count !== undefined);
              if (count !== undefined) expect(holders(heap, address)).toHaveLength(count);
            }
          }
          heap.close();
        }
      });
    },
  );
});
