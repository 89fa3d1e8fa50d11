// Leaks that were planted in a page, found in heap snapshots of Chromium; what the page keeps on purpose is not.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { growth, openHeapFile } from "../../dist/index.js";
import type { Heap } from "../../index.js";
import { writeFromPage } from "../snapshots/hosts.ts";
import { BOUNDED, LEAKS, PARTS } from "../snapshots/leaks.ts";
import { hasDuckDb } from "../support/duckdb.ts";
import { fleetGrowth, grownPaths } from "../support/fleet_growth.ts";
import { findChromium, startChromium } from "./chromium.ts";

const SCRIPT = join(import.meta.dirname, "../snapshots/leaks_page.js");

describe.skipIf(findChromium() === undefined)("a page that leaks", () => {
  let folder: string;
  let files: string[];
  let heaps: Heap[];
  let withNumbers: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "heap-analyzer-page-leaks-"));
    const browser = await startChromium();
    try {
      const page = await browser.newPage();
      await page.setContent(`<!DOCTYPE html><script>${readFileSync(SCRIPT, "utf8")}</script>`);
      const session = await page.context().newCDPSession(page);
      files = [0, 1, 2, 3].map((nth) => join(folder, `${nth}.heapsnapshot`));
      for (const file of files) {
        await page.evaluate("work()");
        await writeFromPage(session, file);
      }
      await page.evaluate("window.price = new (class Price { cents = 1999; rate = 0.25; })()");
      withNumbers = join(folder, "numbers.heapsnapshot");
      await writeFromPage(session, withNumbers, { captureNumericValue: true });
      heaps = files.map((file) => openHeapFile(file));
    } finally {
      await browser.close();
    }
  }, 120_000);

  afterAll(() => rmSync(folder, { recursive: true }));

  const [first, last] = [() => heaps[0] as Heap, () => heaps.at(-1) as Heap];
  const suspectsText = () => {
    const { suspects } = last().suspects({ before: first(), limit: 100 });
    return suspects.map(({ text }) => text).join("\n");
  };

  test.each(Object.entries(LEAKS.page))("has as suspects of growth %s", (_, place) => {
    expect(suspectsText()).toMatch(place);
  });

  test("has no suspects that are kept on purpose, or parts of the root", () => {
    const text = suspectsText();
    for (const name of BOUNDED) expect(text).not.toContain(name);
    expect(text).not.toMatch(PARTS);
    const ofOne = last()
      .suspects()
      .suspects.map((suspect) => suspect.text);
    expect(ofOne.join("\n")).not.toMatch(PARTS);
  });

  test("grows at the leaks", () => {
    const text = JSON.stringify(growth(heaps, { limit: 200 }).places);
    for (const name of ["items", "visits", "removedRows"]) expect(text, name).toContain(name);
    expect(text).not.toMatch(PARTS);
  });

  test.skipIf(!hasDuckDb)("grows at the leaks in the query of a fleet, in DuckDB", () => {
    const rows = fleetGrowth(folder, [files[0] as string, files.at(-1) as string]);
    const text = grownPaths(rows, 100_000);
    for (const name of ["CachedView.content", "->visits", "->removedRows", "->heard", "->polled"]) {
      expect(text, name).toContain(name);
    }
    for (const name of BOUNDED) expect(text).not.toContain(`->${name}`);
    expect(text).not.toMatch(PARTS);
  });

  test("has the values of numbers, if the snapshot was written with them", () => {
    const heap = openHeapFile(withNumbers);
    const [price] = heap.find({ class: "Price" }).objects;
    const { fields } = heap.object(price?.address as number);
    const values = Object.fromEntries(fields.map(({ name, value }) => [name, value]));
    expect(values).toMatchObject({ cents: 1999, rate: 0.25 });
  });

  test("has paths in heap-diff as the program has them", async () => {
    const text = await buffer(last().export("heap-diff", { before: first() }));
    const records = text
      .toString()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const paths = records.filter(({ type }) => type === "retained");
    expect(paths.length).toBeGreaterThan(50);
    // Of a part of the root, such as `(Global handles)`, the path has only the name.
    for (const { retention_path: path } of paths) expect(path.length).toBeGreaterThan(0);
    const views = paths.filter((record) => record.constructor === "CachedView");
    expect(views.length).toBe(10);
    for (const { retention_path: path } of views) {
      expect(path.slice(0, 4)).toEqual(["Window", "app", "cache", "items"]);
      expect(path[4]).toMatch(/^\[\d+\]$/);
    }
    const rows = paths.filter((record) => record.constructor === "Detached <tr>");
    expect(rows[0].retention_path.slice(0, 4)).toEqual([
      "Window",
      "work",
      "(closure)",
      "removedRows",
    ]);
    for (const record of records) expect(String(record.constructor)).not.toMatch(/script|@\d/);
  });
});
