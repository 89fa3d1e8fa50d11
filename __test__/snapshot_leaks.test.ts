// Leaks that were planted in a server of Node, found in its heap snapshots; what the server keeps on purpose is not.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { Location, Result } from "sarif";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { growth, openHeapFile } from "../dist/index.js";
import type { Heap } from "../index.js";
import { placesUnlikeObjects } from "./random/growth_judge.ts";
import { BOUNDED, LEAKS, PARTS } from "./snapshots/leaks.ts";
import { hasDuckDb } from "./support/duckdb.ts";
import { fleetGrowth, grownPaths } from "./support/fleet_growth.ts";
import { rowsOf, sha256 } from "./support/parquet.ts";

const PROGRAM = join(import.meta.dirname, "snapshots/leaks.cjs");
const SNAPSHOTS = 4;

let folder: string;
let files: string[];
let heaps: Heap[];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "heap-analyzer-leaks-"));
  files = Array.from({ length: SNAPSHOTS }, (_, nth) => join(folder, `${nth}.heapsnapshot`));
  execFileSync(process.execPath, [PROGRAM, ...files]);
  heaps = files.map((file) => openHeapFile(file));
}, 60_000);

afterAll(() => rmSync(folder, { recursive: true }));

const [first, last] = [() => heaps[0] as Heap, () => heaps.at(-1) as Heap];

/** What grew, as text. */
function suspectTexts(): string[] {
  const { suspects } = last().suspects({ before: first(), limit: 100 });
  return suspects.map(({ text }) => text);
}

describe("suspects of growth", () => {
  test.each(Object.entries(LEAKS.server))("are %s", (_, place) => {
    expect(suspectTexts().join("\n")).toMatch(place);
  });

  test("are not what is kept on purpose, and no parts of the root", () => {
    const text = suspectTexts().join("\n");
    for (const name of BOUNDED) expect(text).not.toContain(name);
    expect(text).not.toMatch(PARTS);
  });

  test("and suspects of one snapshot are objects of the program", () => {
    const { suspects } = last().suspects();
    expect(suspects.length).toBeGreaterThan(1);
    for (const { text, className } of suspects) {
      expect(text).not.toMatch(PARTS);
      expect(className).not.toBe("global");
    }
  });
});

describe("growth", () => {
  const placesText = () => JSON.stringify(growth(heaps, { limit: 200 }).places);

  test("finds all leaks", () => {
    const text = placesText();
    for (const name of ["items", "visits", "auditLines", "heard", "polled"]) {
      expect(text, name).toContain(name);
    }
    expect(text).not.toMatch(PARTS);
    for (const name of BOUNDED) expect(text).not.toContain(`->${name} `);
  });
});

describe("find by place", () => {
  test("lists the objects that growth counts", () => {
    const { places } = growth(heaps, { limit: 200 });
    expect(places.length).toBeGreaterThan(2);
    expect(placesUnlikeObjects(last(), places)).toEqual([]);
  });

  test("refuses a fingerprint of no place", () => {
    expect(() => last().find({ place: "000000000000" })).toThrow(/expected the fingerprint/);
  });
});

describe("check", () => {
  const CLI = join(import.meta.dirname, "../dist/heap_analyzer/cli.js");

  /** Runs the check in the folder of the program, as in a repository. */
  function checked(...options: string[]) {
    const args = [CLI, "check", ...files, "--min-dumps", String(SNAPSHOTS), ...options];
    return spawnSync(process.execPath, args, { encoding: "utf8", cwd: dirname(PROGRAM) });
  }

  test("judges snapshots like dumps, and names the line of a constructor", () => {
    const { status, stdout } = checked();
    expect(status).toBe(2);
    const answer = checked("--format", "json").stdout;
    for (const name of ["items", "visits", "auditLines", "heard", "polled"]) {
      expect(answer, name).toContain(name);
    }
    expect(stdout).toMatch(/per interval: CachedPage$/m);
    expect(stdout).toMatch(/^ {2}class at .*leaks\.cjs:\d+$/m);
    for (const name of BOUNDED) expect(answer).not.toContain(`->${name} `);
  });

  test("puts annotations and SARIF at that line", () => {
    const sarif = join(folder, "heap.sarif");
    const { stderr } = checked("--annotations", "github", "--report", `sarif=${sarif}`);
    const line = readFileSync(PROGRAM, "utf8").split("\n").indexOf("class CachedPage {") + 1;
    expect(stderr).toMatch(
      new RegExp(`^::error title=leak%3A [^:]* CachedPage .*file=leaks.cjs,line=${line + 1},`, "m"),
    );
    const { results } = JSON.parse(readFileSync(sarif, "utf8")).runs[0];
    const places = results.map((result: Result) => result.locations?.[0]);
    const found = places.find((place: Location) =>
      place.logicalLocations?.some(({ fullyQualifiedName }) => fullyQualifiedName === "CachedPage"),
    );
    expect(found?.physicalLocation.artifactLocation.uri).toBe("leaks.cjs");
    expect(found?.physicalLocation.region.startLine).toBe(line + 1);
  });
});

describe("what an inspector holds, and long chains of objects", () => {
  const program = join(import.meta.dirname, "snapshots/console.cjs");
  let opened: Heap[];
  beforeAll(() => {
    const files = [0, 1, 2, 3].map((nth) => join(folder, `console-${nth}.heapsnapshot`));
    execFileSync(process.execPath, [program, ...files]);
    opened = files.map((file) => openHeapFile(file));
  }, 60_000);

  /** The text of the path of the only object of a class. */
  function pathOf(className: string): string | undefined {
    const heap = opened[0] as Heap;
    const [found] = heap.find({ class: className }).objects;
    return heap.paths(found?.address as number).path?.text;
  }

  test("growth has one place for what a part of the root holds", () => {
    const { places } = growth(opened, { limit: 200 });
    const shown = places.filter(({ className }) => className === "Shown");
    expect(shown.map(({ path }) => path)).toEqual(["system (Global handles) > Shown"]);
    expect(shown[0]?.counts).toEqual([100, 200, 300, 400]);
    expect(JSON.stringify(places)).not.toContain("(Global handles){");
  });

  test("a path names eight references between objects of one class, and marks more", () => {
    const eight = ["one", "two", "three", "four", "five", "six", "seven", "eight"];
    const steps = (names: string[]) => names.map((name) => `Link.${name} > `).join("");
    expect(pathOf("Leaf")).toBe(
      `global global > global.deep > ${steps(eight)}Link… > Link.leaf > Leaf`,
    );
    expect(pathOf("EarlyLeaf")).toBe(
      `global global > global.shallow > ${steps(eight.slice(0, 7))}Link.leaf > EarlyLeaf`,
    );
  });

  test("an object has the numbers that the snapshot was asked for", () => {
    const heap = opened[0] as Heap;
    const [leaf] = heap.find({ class: "Leaf" }).objects;
    const { fields } = heap.object(leaf?.address as number);
    expect(fields.find(({ name }) => name === "price")?.value).toBe(12.75);
    const [older] = first().find({ class: "CachedPage", limit: 1 }).objects;
    const numbers = first().object(older?.address as number).fields;
    expect(numbers.some(({ value }) => typeof value === "number")).toBe(false);
  });

  test("a path names a repeated reference once, without a mark", () => {
    expect(pathOf("ListLeaf")).toBe(
      "global global > global.list > Link.next > Link.leaf > ListLeaf",
    );
  });
});

describe("the tables of a fleet", () => {
  /** The bytes of each stable path. */
  async function sizes(heap: Heap, file: string): Promise<Map<string, number>> {
    const facts = {
      table: "path" as const,
      dumpId: sha256(readFileSync(file)),
      capturedAt: new Date("2026-11-22T18:30:00Z"),
      dumpSize: 1,
      source: "app.heapsnapshot",
    };
    const rows = await rowsOf(await buffer(heap.export("parquet", facts)));
    const stable = rows.filter((row) => row.stable);
    return new Map(
      stable.map((row) => [(row.path as string[]).join(" > "), Number(row.shallow_size)]),
    );
  }

  test("have the leaks at paths that are the same in all builds", async () => {
    const [before, after] = [
      await sizes(first(), files[0] as string),
      await sizes(last(), files.at(-1) as string),
    ];
    const grown = [...after].filter(([path, size]) => size - (before.get(path) ?? 0) > 100_000);
    const text = grown.map(([path]) => path).join("\n");
    for (const name of ["CachedPage.content", "Visit.trace", "auditLines", "heard", "polled"]) {
      expect(text, name).toContain(name);
    }
    for (const name of BOUNDED) expect(text).not.toContain(`->${name} `);
    expect(text).not.toMatch(PARTS);
  });
});

describe.skipIf(!hasDuckDb)("the query growth of a fleet, in DuckDB", () => {
  test("has the five leaks first, and nothing that is kept on purpose", () => {
    const rows = fleetGrowth(folder, [files[0] as string, files.at(-1) as string]);
    const largest = rows.slice(0, 5).map(({ path }) => path.join(" > "));
    for (const name of ["CachedPage.content", "->visits", "->auditLines", "->heard", "->polled"]) {
      expect(largest.filter((path) => path.includes(name)).length, name).toBeGreaterThan(0);
    }
    expect(rows[0]).toMatchObject({ service: "shop", machines_growing: 1 });
    const text = grownPaths(rows, 10_000);
    for (const name of BOUNDED) expect(text).not.toContain(`->${name}`);
    expect(text).not.toMatch(PARTS);
  });

  test("explains what the server grew by", () => {
    const rows = fleetGrowth(folder, [files[0] as string, files.at(-1) as string]);
    const grown = rows.reduce((sum, { growth }) => sum + growth, 0);
    const [before, after] = [first(), last()].map((heap) => heap.summary().totalLiveSize);
    const lived = (after as number) - (before as number);
    expect(grown / lived).toBeGreaterThan(0.95);
  });
});

describe("heap-diff", () => {
  interface Retained {
    type: string;
    constructor: string;
    retention_path: string[];
  }
  let records: Retained[];
  beforeAll(async () => {
    const text = await buffer(last().export("heap-diff", { before: first(), samples: 50 }));
    const lines = text.toString().trimEnd().split("\n");
    records = lines.map((line) => JSON.parse(line));
  });

  test("has a path for each object that is retained", () => {
    const retained = records.filter(({ type }) => type === "retained");
    expect(retained.length).toBeGreaterThan(100);
    expect(retained.every(({ retention_path: path }) => path.length > 1 && path.length <= 20)).toBe(
      true,
    );
  });

  test("names what the program names", () => {
    const paths = (name: string) =>
      records
        .filter((record) => record.type === "retained" && record.constructor === name)
        .map((record) => record.retention_path);
    for (const path of paths("CachedPage")) {
      expect(path.slice(0, 4)).toEqual(["global", "app", "cache", "items"]);
      expect(path[4]).toMatch(/^\[\d+\]$/);
    }
    expect(paths("CachedPage").length).toBe(50);
    const visits = paths("Visit").map((path) => path.slice(-3));
    expect(visits).toHaveLength(50);
    for (const [file, map, key] of visits) {
      expect([file, map]).toEqual(["leaks.cjs", "visits"]);
      expect(key).toMatch(/^\["visit \d+"\]$/);
    }
  });

  test("names constructors without the numbers of scripts", () => {
    for (const record of records) expect(String(record.constructor)).not.toMatch(/script|@\d/);
  });
});

describe("a merged path", () => {
  test("has all steps between objects of one class", () => {
    const { tree } = last().paths({ class: "CachedPage" });
    const text = JSON.stringify(tree);
    for (const label of ["app", "cache", "items"]) expect(text).toContain(`"label":"${label}"`);
  });
});
