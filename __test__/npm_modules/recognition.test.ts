// Modules of published npm packages about which something false was said once: static data that does not begin at a word,
// constants that look like the heap of AssemblyScript, allocators that are not read, and none at all.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exposeGlobals } from "../../dist/capture.js";
import { openHeap } from "../../dist/index.js";

const FOLDER = import.meta.dirname;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "npm-recognition-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a program, and opens the heap of the first module that has one, or of the last: Node may have one of its own. */
function open(program: string, isLast = false) {
  const heaps = mkdtempSync(join(folder, `${program}-`));
  const hook = ["--require", join(FOLDER, "dumped.cjs")];
  const { status, stderr } = spawnSync(
    process.execPath,
    [...hook, join(FOLDER, `heaps/${program}.mjs`)],
    { encoding: "utf8", env: { ...process.env, HEAPS: heaps } },
  );
  expect(status, stderr).toBe(0);
  const dump = readdirSync(heaps)
    .filter((file) => file.endsWith(".dump"))
    .at(isLast ? -1 : 0);
  const file = join(heaps, dump as string);
  return openHeap(readFileSync(file), readFileSync(file.replace(/dump$/, "wasm")));
}

/** What is said of a heap: its blocks, and those to which nothing refers. */
function read(program: string, isLast = false) {
  const heap = open(program, isLast);
  const { objects, roots, unreferenced } = heap.summary();
  const codes = heap.warnings.map(({ code }) => code);
  const largest = heap.dominators().children.map(({ retainedSize }) => retainedSize)[0] ?? 0;
  heap.close();
  return { blocks: objects.live, roots, unreferenced: unreferenced?.count, codes, largest };
}

const installed = existsSync(join(FOLDER, "node_modules/es-module-lexer"));

describe.skipIf(!installed)("npm packages", () => {
  test("tfjs: what the kernels keep in static data is not unreferenced", () => {
    const { blocks, unreferenced, roots } = read("tfjs");
    expect(blocks).toBeGreaterThan(100);
    expect(roots.global).toBeGreaterThan(3);
    expect(unreferenced).toBeLessThan(60);
  });

  test("binaryen: static data refers to most blocks", () => {
    const { blocks, unreferenced } = read("binaryen");
    expect(blocks).toBeGreaterThan(100);
    // What JavaScript keeps.
    expect(unreferenced).toBeLessThan(blocks / 2);
  });

  test("parquet-wasm: JavaScript holds the builders", () => {
    const { blocks, unreferenced } = read("parquetwasm");
    expect(blocks).toBeGreaterThanOrEqual(80);
    expect(unreferenced).toBeGreaterThanOrEqual(70);
  });

  test.each(["photon", "htmlrewriter"])("%s: the heap begins where it does", (program) => {
    const { blocks, unreferenced } = read(program);
    expect(blocks).toBeGreaterThanOrEqual(60);
    expect(unreferenced).toBeGreaterThanOrEqual(60);
  });

  test("brotli-wasm: JavaScript holds the streams, each for itself", () => {
    const { blocks, roots, largest } = read("brotli");
    expect(blocks).toBe(60);
    expect(roots.unreferenced).toBe(30);
    expect(largest).toBeLessThan(7000);
  });

  // A tree has six nodes of 600 B. In yoga-layout, one old word joins two of them.
  test.each([
    { name: "yoga-wasm-web", program: "yogaweb", most: 6000 },
    { name: "yoga-layout", program: "yogatrees", most: 7000 },
  ])("$name: no tree holds the others", ({ program, most }) => {
    const { blocks, largest } = read(program, true);
    expect(blocks).toBeGreaterThan(150 * 12);
    expect(largest).toBeLessThan(most);
  });

  test.each(["cjslexer", "xxhash", "secp256k1"])("%s has no allocator", (program) => {
    const { blocks, codes } = read(program);
    expect(blocks).toBe(0);
    expect(codes).toEqual(["WARN_NO_ALLOCATOR"]);
  });

  test.each([
    { program: "oneini", found: "wee_alloc" },
    { program: "polkadot", found: "wee_alloc" },
    { program: "esmlexer", found: "word(s)" },
    { program: "ghostty", found: "word(s)" },
  ])("$program has an allocator that is not read", ({ program, found }) => {
    expect(() => read(program)).toThrow(
      expect.objectContaining({
        code: "ERR_ALLOCATOR_UNKNOWN",
        message: expect.stringContaining(found),
      }),
    );
  });

  test("esbuild: a program of Go is refused by its name", () => {
    const wasm = readFileSync(join(FOLDER, "node_modules/esbuild-wasm/esbuild.wasm"));
    expect(() => exposeGlobals(wasm)).toThrow(
      expect.objectContaining({
        code: "ERR_ALLOCATOR_UNKNOWN",
        message: expect.stringContaining("a program of Go"),
      }),
    );
  });
});
