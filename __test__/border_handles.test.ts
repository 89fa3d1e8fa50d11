/**
 * A program of C++ whose objects JavaScript holds by the handles of embind. The module is built (`samples/border`), and both
 * heaps of the running program are captured here. The judge is what the program knows.
 */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openHeapFile } from "../dist/index.js";
import type { Heap } from "../index.js";

const ROOT = join(import.meta.dirname, "..");
const SAMPLES = join(import.meta.dirname, "samples/border");
const VERSIONS = join(import.meta.dirname, "node_versions/node_modules");
const HOSTS = [
  { title: "this Node", node: process.execPath },
  { title: "Node 22", node: join(VERSIONS, "node-22/bin/node") },
  { title: "Node 24", node: join(VERSIONS, "node-24/bin/node") },
];

type Truth = Record<string, number[]>;

interface CapturedShelf {
  heap: Heap;
  truth: Truth;
  /** The dump alone, without the heap of JavaScript. */
  alone: Heap;
}

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "border-handles-"));
  mkdirSync(join(folder, "node_modules/@warpo"), { recursive: true });
  symlinkSync(ROOT, join(folder, "node_modules/@warpo/heap-analyzer"), "junction");
  cpSync(join(SAMPLES, "embind"), folder, { recursive: true });
  for (const name of readdirSync(folder).filter((name) => name.endsWith(".gz"))) {
    const file = join(folder, name);
    writeFileSync(file.slice(0, -3), gunzipSync(readFileSync(file)));
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the program, and opens what it captured. */
function captured(node: string): CapturedShelf {
  const prefix = join(mkdtempSync(join(folder, "pair-")), "pair");
  const flags = ["--expose-gc", "--no-warnings", "--import", "@warpo/heap-analyzer/register"];
  const { status, stderr } = spawnSync(node, [...flags, "shelf.mjs", prefix], {
    cwd: folder,
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const module = join(folder, "shelf.wasm");
  const host = `${prefix}.heapsnapshot`;
  return {
    heap: openHeapFile(`${prefix}.dump`, module, { host }),
    alone: openHeapFile(`${prefix}.dump`, module),
    truth: truthOf(`${prefix}.truth.json`),
  };
}

/** The addresses of each group, which the program keeps as texts. */
function truthOf(file: string): Truth {
  const groups = JSON.parse(readFileSync(file, "utf8")) as Record<string, string[]>;
  return Object.fromEntries(Object.entries(groups).map(([name, all]) => [name, all.map(Number)]));
}

/** The address of the block that has an address in it. */
function blockOf({ alone }: CapturedShelf, address: number): number {
  const { objects } = alone.find({ limit: 1000 });
  const starts = objects.map((block) => block.address).filter((start) => start <= address);
  return Math.max(...starts);
}

/** The labels of the slots of JavaScript that hold an object, with what speaks for them. */
function holders(heap: Heap, address: number): string[] {
  return heap
    .referrers(address, { limit: 100 })
    .referrers.flatMap(({ labelText, evidence }) =>
      evidence === undefined ? [] : [`${labelText} ${evidence.kind}`],
    );
}

function pathText(heap: Heap, address: number): string {
  return heap.paths(address).path?.text ?? "";
}

describe.each(HOSTS)("$title", ({ node }) => {
  describe.skipIf(!existsSync(node))(
    "(skipped if npm run test:full -- hosts did not install it)",
    () => {
      test("handles of embind hold blocks of C++", () => {
        const all = captured(node);
        const { heap, alone, truth } = all;
        const at = (name: string) => truth[name] ?? [];
        for (const address of [...at("kept"), ...at("paired")]) {
          expect(holders(heap, address)).toEqual([".ptr exact"]);
        }
        // The block is alive for the array's sake, and with it what C++ allocated for it.
        const [kept = 0] = at("kept");
        expect(alone.paths(kept).path?.root.kind).toBe("unreferenced");
        expect(pathText(heap, kept)).toMatch(
          /\.app > Object\.shelf > Array\[\*\] > Book.* > \{ptrType, ptr, count\}\.ptr > block of/,
        );
        const { retainedParts } = heap.object(kept);
        expect(retainedParts?.javascript).toBe(0);
        expect(retainedParts?.wasm).toBeGreaterThan(3 * 64);
        // A shared pointer leads into its block.
        for (const address of at("authors")) {
          const block = blockOf(all, address);
          expect(block).toBeLessThan(address);
          expect(holders(heap, block)).toContain(".ptr exact");
          expect(pathText(heap, block)).toContain(".authors > ");
        }
        // Of two books that refer to each other, JavaScript holds one.
        for (const address of at("other of the pair")) {
          expect(holders(heap, address)).toEqual([]);
          expect(pathText(heap, address)).toMatch(/\.pairs > /);
        }
        // The memory refers to this one, too.
        const both = [" global static window_display exact", ".ptr exact"];
        expect(holders(heap, at("displayed")[0] as number).sort()).toEqual(both);
        // Handles that were deleted hold nothing, nor do numbers that are only equal to an address.
        for (const address of at("lost")) {
          expect(holders(heap, address)).toEqual([]);
          expect(heap.paths(address).path?.root.kind).toBe("unreferenced");
          expect(heap.object(address).possibleHolders?.total).toBe(1);
        }
        expect(heap.find({ class: "Book", count: true }).total).toBeGreaterThan(40);
        const { joined, warnings } = heap.summary();
        // Of an author, the unreferenced block is the pointer that shares it.
        expect(joined?.pinned.exact).toBe(30 + 4 + 10);
        expect(alone.warnings.map(({ code }) => code)).toContain("WARN_HOST_ROOTS_UNKNOWN");
        expect(warnings.map(({ code }) => code)).not.toContain("WARN_HOST_ROOTS_UNKNOWN");
        heap.close();
        alone.close();
      });
    },
  );
});
