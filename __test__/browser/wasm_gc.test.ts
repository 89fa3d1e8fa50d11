// Objects of WasmGC in heap snapshots of Chromium, of a module with a name section and of one without, whose names come
// from the module that was not stripped.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { growth, openHeapFile } from "../../dist/index.js";
import type { Heap } from "../../index.js";
import { writeFromPage } from "../snapshots/hosts.ts";
import { wasmGc } from "../snapshots/wasm_gc.ts";
import { findChromium, startChromium } from "./chromium.ts";

describe.skipIf(findChromium() === undefined)("a page with a module of WasmGC", () => {
  let folder: string;
  let named: Heap[];
  let nameless: Heap[];
  /** The module with names. */
  let original: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "heap-analyzer-wasm-gc-"));
    original = join(folder, "game.wasm");
    writeFileSync(original, wasmGc(true));
    const browser = await startChromium();
    const snapshots = async (hasNames: boolean) => {
      const page = await browser.newPage();
      await page.evaluate(
        async (bytes) => {
          const { instance } = await WebAssembly.instantiate(new Uint8Array(bytes));
          Object.assign(globalThis, { game: instance });
        },
        [...wasmGc(hasNames)],
      );
      const session = await page.context().newCDPSession(page);
      const heaps = [];
      for (const nth of [0, 1, 2]) {
        await page.evaluate("game.exports.play(500)");
        const file = join(folder, `${hasNames}-${nth}.heapsnapshot`);
        await writeFromPage(session, file);
        heaps.push(openHeapFile(file));
      }
      return heaps;
    };
    try {
      named = await snapshots(true);
      nameless = await snapshots(false);
    } finally {
      await browser.close();
    }
  }, 120_000);

  afterAll(() => rmSync(folder, { recursive: true }));

  const counts = (heaps: Heap[], name: string) =>
    heaps.map((heap) => heap.find({ class: name }).total);

  test("has the types and fields of the name section, with exact counts", () => {
    expect(counts(named, "$Player (wasm)")).toEqual([500, 1000, 1500]);
    expect(counts(named, "$Round (wasm)")).toEqual([1, 2, 3]);
    const [player] = (named[0] as Heap).find({ class: "$Player (wasm)", limit: 1 }).objects;
    const { path } = (named[0] as Heap).paths(player?.address as number);
    expect(path?.text).toContain("$Round (wasm).$players > $Players (wasm)");
  });

  test("says that these grow, and names no object of V8 alone as suspect", () => {
    const last = named[2] as Heap;
    const texts = last.suspects({ before: named[0] as Heap }).suspects.map(({ text }) => text);
    expect(texts.join("\n")).toContain("$Round (wasm)");
    for (const text of texts) expect(text).not.toMatch(/^\d+ global|\(system\) retain/);
    const classes = growth(named).places.map(({ className }) => className);
    expect(classes).toContain("$Round (wasm)");
  });

  test("has the names of the module that is given, if the one that runs was stripped", () => {
    const file = join(folder, "false-2.heapsnapshot");
    const heap = openHeapFile(file, original);
    expect(heap.find({ class: "$Player (wasm)" }).total).toBe(1500);
    const [player] = heap.find({ class: "$Player (wasm)", limit: 1 }).objects;
    const { path } = heap.paths(player?.address as number);
    expect(path?.text).toContain("(array){$rounds} > $Round (wasm).$");
    expect(path?.text).toContain("$Round (wasm).$players > $Players (wasm)");
  });

  test("has V8's numbers of types without a name section", () => {
    const last = nameless[2] as Heap;
    const names = last.constructors().constructors.map(({ className }) => className);
    expect(names).not.toContain("$Player (wasm)");
    const players = last.constructors().constructors.filter(({ count }) => count === 1500);
    expect(players.map(({ className }) => className)).toEqual([
      expect.stringMatching(/^\$\w*\d+ \(wasm\)$/),
    ]);
  });
});
