// Objects of WasmGC in heap snapshots of Chromium, of a module with a name section and of one without.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import binaryen from "binaryen";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { growth, openHeapFile } from "../../dist/index.js";
import type { Heap } from "../../index.js";
import { writeFromPage } from "../snapshots/hosts.ts";
import { findChromium, startChromium } from "./chromium.ts";

/** Keeps all players of all rounds in a list whose head is a global. */
const SOURCE = `(module
  (type $Player (struct (field $score (mut i32)) (field $previous (mut (ref null $Player)))))
  (type $Players (array (mut (ref null $Player))))
  (type $Round (struct (field $players (ref $Players)) (field $earlier (ref null $Round))))
  (global $rounds (mut (ref null $Round)) (ref.null $Round))
  (func (export "play") (param $count i32)
    (local $nth i32)
    (local $players (ref $Players))
    (local.set $players (array.new_default $Players (local.get $count)))
    (loop $next
      (array.set $Players (local.get $players) (local.get $nth)
        (struct.new $Player (local.get $nth) (ref.null $Player)))
      (local.set $nth (i32.add (local.get $nth) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $nth) (local.get $count))))
    (global.set $rounds (struct.new $Round (local.get $players) (global.get $rounds)))))`;

function compiled(hasNames: boolean): number[] {
  const module = binaryen.parseText(SOURCE);
  module.setFeatures(binaryen.Features.All);
  binaryen.setDebugInfo(hasNames);
  return [...module.emitBinary()];
}

describe.skipIf(findChromium() === undefined)("a page with a module of WasmGC", () => {
  let folder: string;
  let named: Heap[];
  let nameless: Heap[];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "heap-analyzer-wasm-gc-"));
    const browser = await startChromium();
    const snapshots = async (hasNames: boolean) => {
      const page = await browser.newPage();
      await page.evaluate(async (bytes) => {
        const { instance } = await WebAssembly.instantiate(new Uint8Array(bytes));
        Object.assign(globalThis, { game: instance });
      }, compiled(hasNames));
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
