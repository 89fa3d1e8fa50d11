// Tables of heap snapshots of V8: their numbers are those of the answers, what a snapshot does not say is null, and
// what they must not show is in none of them.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openHeapFile } from "../dist/index.js";
import type { Heap, ParquetOptions } from "../index.js";
import { failureOf, outputOf, runIn } from "./support/command_line.ts";
import { type Row, rowsOf, sha256, sum, TABLES, type Table, textOf } from "./support/parquet.ts";

const PROGRAM = join(import.meta.dirname, "snapshots/program.cjs");
const SECRETS = join(import.meta.dirname, "snapshots/secrets.cjs");

let folder: string;
/** Of a program with objects of all kinds. */
let heap: Heap;
let bytes: Buffer;
/** Of a program with secrets. */
let secrets: Heap;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "heap-analyzer-snapshot-tables-"));
  const [before, after] = ["before", "app"].map((name) => join(folder, `${name}.heapsnapshot`));
  execFileSync(process.execPath, [PROGRAM, before as string, after as string]);
  heap = openHeapFile(after as string);
  bytes = readFileSync(after as string);
  const file = join(folder, "secrets.heapsnapshot");
  execFileSync(process.execPath, [SECRETS, file]);
  secrets = openHeapFile(file);
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

const tableBytes = (of: Heap, table: Table, options: Partial<ParquetOptions> = {}) => {
  const facts = {
    dumpId: sha256(bytes),
    capturedAt: new Date("2026-11-22T18:30:00Z"),
    dumpSize: bytes.length,
    source: "app.heapsnapshot",
  };
  return buffer(of.export("parquet", { ...facts, table, ...options }));
};

const rows = async (of: Heap, table: Table, options?: Partial<ParquetOptions>) =>
  await rowsOf(await tableBytes(of, table, options));

const allRows = (of: Heap, options?: Partial<ParquetOptions>) =>
  Promise.all(TABLES.map((table) => rows(of, table, options)));

/** Some rows of a table, from all its parts. */
const sample = (rows: Row[]) => rows.filter((_, nth) => nth % Math.ceil(rows.length / 200) === 0);

/** What matches, without the text in which it does. */
const found = (text: string, pattern: RegExp) => [...new Set(text.match(pattern))];

describe("the numbers are those of the answers", () => {
  test("of the heap as a whole", async () => {
    const { totalLiveSize, objects, classes, roots } = heap.summary();
    const [row] = await rows(heap, "dump");
    expect(row).toMatchObject({
      dump_id: sha256(bytes),
      dump_size: BigInt(bytes.length),
      error_code: null,
      partial: false,
      live_size: BigInt(totalLiveSize),
      live_objects: BigInt(objects.live),
      classes: BigInt(classes),
      global_roots: BigInt(roots.global),
    });
  });

  test("of classes, of which those of one name are one row", async () => {
    const known = new Map<string, { count: number; shallow: number; sets: number[] }>();
    for (const row of heap.constructors().constructors) {
      const name = row.className.replace(/ \(script \d+:\d+:\d+\)$/, "");
      const sums = known.get(name) ?? { count: 0, shallow: 0, sets: [] };
      known.set(name, {
        count: sums.count + row.count,
        shallow: sums.shallow + row.totalShallowSize,
        sets: [...sums.sets, row.retainedSetSize as number],
      });
    }
    const table = await rows(heap, "class");
    expect(table.map((row) => row.class).sort()).toEqual([...known.keys()].sort());
    for (const { class: name, count, shallow_size, retained_set_size } of table) {
      const { sets, ...sums } = known.get(name as string) as { sets: number[] };
      expect({ count: Number(count), shallow: Number(shallow_size) }, `${name}`).toEqual(sums);
      expect(Number(retained_set_size)).toBeGreaterThanOrEqual(Math.max(...sets));
      expect(Number(retained_set_size)).toBeLessThanOrEqual(sets.reduce((all, set) => all + set));
    }
  });

  test("of paths, which together have all live bytes", async () => {
    const table = await rows(heap, "path");
    const { totalLiveSize, objects } = heap.summary();
    expect([sum(table, "shallow_size"), sum(table, "count")]).toEqual([
      totalLiveSize,
      objects.live,
    ]);
  });

  test("of the paths to a class", async () => {
    const table = await rows(heap, "path");
    const [found] = heap.find({ class: "Session", limit: 1 }).objects;
    const path = heap.object(found?.address as number).path;
    const row = table.find(({ fingerprint }) => fingerprint === path?.fingerprint);
    expect(row).toMatchObject({
      stable: path?.stable,
      root_kind: "global",
      root_name: "module",
      path: path?.text.split(" > "),
      class: "Session",
      count: 350n,
    });
  });

  test("of suspects", async () => {
    const expected = heap.suspects({ limit: 20 }).suspects.map((suspect, nth) => ({
      rank: nth + 1,
      kind: suspect.kind,
      class: suspect.className,
      retained_size: BigInt(suspect.retainedSize),
      share: suspect.share,
      owner: suspect.accumulation?.owner ?? null,
      fingerprint: suspect.path?.fingerprint ?? null,
      freed_by_cutting: suspect.cut == null ? null : BigInt(suspect.cut.freed),
    }));
    expect(expected.length).toBeGreaterThan(0);
    expect(await rows(heap, "suspect")).toMatchObject(expected);
  });

  test("of waste", async () => {
    const table = await rows(heap, "waste");
    const kinds = heap.waste({ limit: 1 }).kinds.filter(({ count }) => count > 0);
    expect(kinds.map(({ kind }) => kind)).toEqual(["duplicate-strings"]);
    expect([sum(table, "count"), sum(table, "savings")]).toEqual([
      kinds[0]?.count,
      kinds[0]?.savings,
    ]);
  });

  test("of all objects of all constructors", async () => {
    const expected = new Map<number, [number, number]>();
    for (const { instances } of heap.constructors().constructors) {
      for (const { address, shallowSize, retainedSize } of instances) {
        expected.set(address, [shallowSize, retainedSize]);
      }
    }
    const found = new Map(
      (await rows(heap, "object"))
        .filter(({ shallow_size }) => shallow_size !== 0n)
        .map((row) => [
          row.address as number,
          [Number(row.shallow_size), Number(row.retained_size)] as [number, number],
        ]),
    );
    expect(found.size).toBe(heap.summary().objects.live);
    expect([...found].sort()).toEqual([...expected].sort());
  });

  test("of single objects", async () => {
    for (const row of sample(await rows(heap, "object", { strings: true }))) {
      const answer = heap.object(row.address as number);
      expect(row).toMatchObject({
        class: answer.className,
        state: "live",
        fingerprint: answer.path?.fingerprint ?? null,
        dominator: answer.dominator?.address ?? null,
      });
    }
  });

  test("of references, in the order of the snapshot", async () => {
    const edges = new Map<unknown, [unknown, unknown][]>();
    for (const { source, label, target } of await rows(heap, "edge")) {
      edges.set(source, [...(edges.get(source) ?? []), [label, target]]);
    }
    for (const { address } of sample(await rows(heap, "object"))) {
      const { fields } = heap.object(address as number);
      const known = fields.map((field) => [field.name, field.address]);
      const listed = edges.get(address)?.slice(0, known.length) ?? [];
      // Those that keep nothing alive come last, and have no row.
      expect(listed).toEqual(known.slice(0, listed.length));
    }
  });

  test("of objects, each of which a root or a reference keeps alive", async () => {
    const kept = new Set((await rows(heap, "edge")).map(({ target }) => target));
    const objects = (await rows(heap, "object")).map(({ address }) => address);
    expect(objects.filter((address) => !kept.has(address))).toEqual([]);
  });

  test("of roots, by kind and name", async () => {
    const table = (await rows(heap, "edge")).filter(({ source }) => source === null);
    const { roots } = heap.summary();
    const kinds = table.map(({ root_kind }) => root_kind);
    expect(kinds.filter((kind) => kind === "global")).toHaveLength(roots.global);
    expect(kinds.filter((kind) => kind === "system")).toHaveLength(roots.system as number);
    expect(table).toContainEqual(expect.objectContaining({ label: "global", root_kind: "global" }));
    expect(table).toContainEqual(
      expect.objectContaining({ label: "(GC roots)", root_kind: "system" }),
    );
  });
});

test("references have the names of V8", async () => {
  const labels = new Set((await rows(heap, "edge")).map(({ label }) => label as string));
  for (const label of ["sessions", "[\"a name, with 'quotes'\"]", "[2]", "->app", "{map}", "{3}"]) {
    expect(labels).toContain(label);
  }
});

test("what a snapshot does not say is null", async () => {
  const [row] = await rows(heap, "dump");
  const known = ["dump_id", "captured_at", "labels", "source", "dump_size"];
  known.push("schema_version", "tool_version", "partial", "live_size", "live_objects", "classes");
  known.push("global_roots", "warning_count", "warning_codes", "warning_messages");
  const found = Object.entries(row ?? {}).filter(([, value]) => value !== null);
  expect(found.map(([name]) => name).sort()).toEqual(known.sort());
});

describe("what strings contain", () => {
  test("is in no table", async () => {
    expect(found(textOf(await allRows(secrets)), /classified/gi)).toEqual([]);
  });

  test("is shown if it is asked for, also of strings that V8 joins later", async () => {
    const objects = await rows(secrets, "object", { strings: true });
    const contents = (name: string) =>
      objects.filter((row) => row.class === name).map((row) => row.contents);
    expect(contents("(string)")).toContain('"classified title"');
    expect(contents("(concatenated string)")).toContain(
      '"classified text of many words rope end 7"',
    );
  });

  test("is null for slices, which V8 writes without it", async () => {
    const objects = await rows(secrets, "object", { strings: true });
    const slices = objects.filter((row) => row.class === "(sliced string)");
    expect(slices.length).toBeGreaterThanOrEqual(20);
    for (const { contents } of slices) expect(contents).toBeNull();
  });
});

describe("names replaced by hashes", () => {
  test("are names without that", async () => {
    const text = textOf(await allRows(secrets));
    const names = ["UnspokenTicket", "unspokenTitle", "two Unspoken words", "->unspokenVariable"];
    expect(names.filter((name) => !text.includes(name))).toEqual([]);
  });

  test("are in no table", async () => {
    expect(found(textOf(await allRows(secrets, { hashNames: true })), /unspoken/gi)).toEqual([]);
  });

  test("are also those that V8 puts in brackets", async () => {
    const hashed = textOf(await allRows(heap, { hashNames: true }));
    expect(found(hashed, /\((concatenated |sliced )?string\)|\(array\)|\(GC roots\)/g)).toEqual([]);
  });
});

describe("the command", () => {
  const run = (file: string, output: string, ...args: string[]) => {
    const at = ["--captured-at", "2026-11-22T18:30:00Z", "--source", "app.heapsnapshot"];
    return runIn(folder, ["export", file, "--to", "parquet", "--output", output, ...at, ...args]);
  };
  const files = (of: string) =>
    readdirSync(join(folder, of), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".parquet"))
      .map((name) => name.replaceAll("\\", "/"))
      .sort();
  const place = (id: string) => `date=2026-11-22/module=none/${id}.parquet`;

  test("writes all tables of a snapshot into the folders of no module", async () => {
    outputOf(run("app.heapsnapshot", "all", "--objects", "--edges", "--fields"));
    const file = place(sha256(bytes));
    expect(files("all")).toEqual([...TABLES].sort().map((table) => `${table}/${file}`));
    for (const table of TABLES) {
      const written = readFileSync(join(folder, "all", table, file));
      expect(written.equals(await tableBytes(heap, table)), table).toBe(true);
    }
  });

  test.each([
    ["cut", () => bytes.subarray(0, 100_000), "ERR_SNAPSHOT_TRUNCATED"],
    ["empty", () => Buffer.alloc(0), "ERR_SNAPSHOT"],
  ])("makes a row of a snapshot that is %s, if it is asked to", async (name, damaged, code) => {
    writeFileSync(join(folder, name), damaged());
    failureOf(run(name, `${name}-tables`));
    expect(run(name, `${name}-tables`, "--keep-unreadable").status).toBe(0);
    const id = sha256(damaged());
    expect(files(`${name}-tables`)).toEqual([`dump/${place(id)}`]);
    const [row] = await rowsOf(readFileSync(join(folder, `${name}-tables`, "dump", place(id))));
    expect(row).toMatchObject({ dump_id: id, module_id: null, error_code: code, live_size: null });
  });

  test("refuses a module beside a snapshot, as the other commands do", () => {
    writeFileSync(join(folder, "app.wasm"), "");
    const args = ["app.heapsnapshot", "--wasm", "app.wasm"];
    const of = (...command: string[]) => failureOf(runIn(folder, command));
    expect(failureOf(run("app.heapsnapshot", "none", "--wasm", "app.wasm"))).toBe(
      of("summary", ...args),
    );
  });
});

test("the API refuses a module beside a snapshot", () => {
  const exported = () => tableBytes(heap, "dump", { moduleId: "0".repeat(64) });
  expect(exported).toThrow("expected none: a heap snapshot of V8 has no module");
});
