// Tables for questions about many dumps, read by a Parquet reader of its own: their numbers are those of the
// answers, their types are those that the schema promises.

import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { type FileMetaData, parquetMetadata, type SchemaElement } from "hyparquet";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openHeap, openHeapFile } from "../dist/index.js";
import type { Accounting, Heap, ParquetOptions } from "../index.js";
import { failureOf, outputOf, runIn } from "./support/command_line.ts";
import { hostileHeap } from "./support/hostile_heap.ts";
import { type LeakyServer, leakyServer } from "./support/leaky_server.ts";
import {
  arrayBuffer,
  type Row,
  rowsOf,
  sha256,
  sum,
  TABLES,
  type Table,
  textOf,
} from "./support/parquet.ts";

let server: LeakyServer;
let heap: Heap;
let folder: string;
let facts: Omit<ParquetOptions, "table" | "moduleId"> & { moduleId: string };

beforeAll(async () => {
  server = await leakyServer();
  heap = openHeapFile(server.after, server.wasm);
  folder = realpathSync(mkdtempSync(join(tmpdir(), "heap-analyzer-parquet-")));
  facts = {
    dumpId: sha256(readFileSync(server.after)),
    moduleId: sha256(readFileSync(server.wasm)),
    capturedAt: new Date("2026-11-22T18:30:00Z"),
    dumpSize: readFileSync(server.after).length,
    source: "after.dump",
    labels: { service: "shop", release: "1.0" },
  };
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

const tableBytes = (table: Table, of = heap, options = {}) =>
  buffer(of.export("parquet", { ...facts, table, ...options }));

const rows = async (table: Table, of = heap, options = {}) =>
  await rowsOf(await tableBytes(table, of, options));

describe("the numbers are those of the answers", () => {
  test("of the heap as a whole", async () => {
    const { totalHeapSize, totalLiveSize, objects, classes, roots } = heap.summary();
    const accounting = heap.accounting as Accounting;
    const [row] = await rows("dump");
    expect(row).toMatchObject({
      dump_id: facts.dumpId,
      module_id: facts.moduleId,
      captured_at: facts.capturedAt,
      labels: { release: "1.0", service: "shop" },
      source: "after.dump",
      dump_size: BigInt(facts.dumpSize),
      error_code: null,
      partial: false,
      heap_size: BigInt(totalHeapSize as number),
      live_size: BigInt(totalLiveSize),
      live_global_size: BigInt(accounting.live.global),
      free_size: BigInt(accounting.free.bytes),
      collector: accounting.collector,
      live_objects: BigInt(objects.live),
      static_objects: BigInt(objects.static as number),
      classes: BigInt(classes),
      global_roots: BigInt(roots.global),
      warning_count: 0,
      warning_codes: [],
    });
  });

  test("of classes", async () => {
    const view = heap.constructors({ sort: "retained-set" });
    const expected = view.constructors.map((row) => ({
      dump_id: facts.dumpId,
      class: row.className,
      stable: true,
      count: BigInt(row.count),
      shallow_size: BigInt(row.totalShallowSize),
      retained_set_size: BigInt(row.retainedSetSize ?? -1),
    }));
    expect(await rows("class")).toEqual(expected);
  });

  test("of paths, which together have all live bytes", async () => {
    const paths = await rows("path");
    const { totalLiveSize, objects } = heap.summary();
    expect([sum(paths, "shallow_size"), sum(paths, "count")]).toEqual([
      totalLiveSize,
      objects.live,
    ]);
    const { suspects } = heap.suspects();
    const listeners = suspects[0]?.path;
    const row = paths.find(({ fingerprint }) => fingerprint === listeners?.fingerprint);
    expect((row?.path as string[] | undefined)?.join(" > ")).toBe(listeners?.text);
    expect(row).toMatchObject({ stable: true, root_kind: "global" });
    expect(row?.root_name).toBe("assembly/server/prices");
  });

  test("of suspects", async () => {
    const { suspects } = heap.suspects();
    const expected = suspects.map((suspect, nth) => ({
      dump_id: facts.dumpId,
      rank: nth + 1,
      kind: suspect.kind,
      class: suspect.className,
      retained_size: BigInt(suspect.retainedSize),
      share: suspect.share,
      owner: suspect.accumulation?.owner,
      fingerprint: suspect.path?.fingerprint,
      freed_by_cutting: BigInt(suspect.cut?.freed ?? -1),
    }));
    expect(await rows("suspect")).toMatchObject(expected);
  });

  test("of waste, by kind", async () => {
    const table = await rows("waste");
    const { kinds } = heap.waste({ limit: 1000 });
    for (const { kind, count, savings } of kinds) {
      const of = table.filter((row) => row.kind === kind);
      expect([kind, sum(of, "count"), sum(of, "savings")]).toEqual([kind, count, savings]);
    }
    const [group] = kinds.find(({ kind }) => kind === "entries")?.groups ?? [];
    const row = table.find((row) => row.class === group?.what);
    expect(row?.holders).toEqual(
      group?.holders.map(({ holder, count, savings }) => ({
        holder,
        count: BigInt(count),
        savings: BigInt(savings),
      })),
    );
  });

  test("of fields", async () => {
    const fields = await rows("field", heap, { strings: true });
    const objects = (await rows("object")).filter(({ state }) => state !== "garbage");
    // Numbers are texts, such as 12.0.
    const plain = (value: unknown) =>
      value == null || Number.isNaN(Number(value)) ? value : Number(value);
    for (const { address } of objects.slice(-200)) {
      const expected = heap.object(address as number).fields.map((field) => ({
        dump_id: facts.dumpId,
        name: field.name,
        type: field.type,
        // Of objects, only strings have a value.
        ...(field.address === null && { value: plain(field.value && String(field.value)) }),
        target: field.address,
      }));
      const found = fields.filter((row) => row.address === address);
      const shown = found.map((row) => ({ ...row, value: plain(row.value) }));
      expect(shown).toMatchObject(expected);
    }
    const text = fields.find(({ value, target }) => target != null && value != null);
    expect(heap.object(text?.target as number).preview).toContain(text?.value);
    const known = new Set(objects.map(({ address }) => address));
    expect(fields.filter(({ address }) => !known.has(address as number))).toEqual([]);
  });

  test("of objects and references", async () => {
    const objects = await rows("object");
    const { totalLiveSize, objects: counts, roots } = heap.summary();
    const live = objects.filter(({ state }) => state === "live");
    expect([live.length, sum(live, "shallow_size")]).toEqual([counts.live, totalLiveSize]);
    const edges = await rows("edge");
    const { global, stack, pinned } = roots;
    expect(edges.filter(({ source }) => source == null)).toHaveLength(global + stack + pinned);
    for (const row of objects.slice(-20)) {
      const address = row.address as number;
      const answer = heap.object(address);
      expect(row).toMatchObject({
        class: answer.className,
        state: answer.state,
        retained_size: BigInt(answer.retainedSize),
        fingerprint: answer.path?.fingerprint,
      });
      expect(row.dominator ?? undefined).toBe(answer.dominator?.address);
      const referring = edges.filter(({ source, target }) => source != null && target === address);
      expect(referring).toHaveLength(answer.referrerCount);
    }
  });
});

/** The number of elements of a schema that a column has, its groups included. */
function sizeAt(schema: SchemaElement[], nth: number): number {
  let size = 1;
  for (let child = 0; child < (schema[nth]?.num_children ?? 0); child++) {
    size += sizeAt(schema, nth + size);
  }
  return size;
}

describe("a file", () => {
  const metadataOf = async (table: Table): Promise<FileMetaData> =>
    parquetMetadata(arrayBuffer(await tableBytes(table)));

  test.each(TABLES)("of %s has its version, and the columns of its page", async (table) => {
    const { schema, key_value_metadata } = await metadataOf(table);
    expect(key_value_metadata).toEqual([
      { key: "warpo.table", value: table },
      { key: "warpo.schema-version", value: "1" },
    ]);
    const page = readFileSync(join(__dirname, "../examples/fleet/README.md"), "utf8");
    const section = page.split(`\n### ${table}\n`)[1]?.split("\n#")[0] ?? "";
    const described = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    const names = schema.map(({ name }) => name);
    const columns: string[] = [];
    for (let nth = 1; nth < schema.length; nth += sizeAt(schema, nth)) {
      columns.push(names[nth] as string);
    }
    expect(columns).toEqual(described);
  });

  test("has unsigned numbers, dictionaries, and the least and the greatest value", async () => {
    const { schema, row_groups } = await metadataOf("object");
    const address = schema.find(({ name }) => name === "address");
    expect(address?.logical_type).toEqual({ type: "INTEGER", bitWidth: 32, isSigned: false });
    const column = (name: string) =>
      row_groups[0]?.columns.find(({ meta_data }) => meta_data?.path_in_schema[0] === name)
        ?.meta_data;
    expect(column("class")?.encodings).toContain("RLE_DICTIONARY");
    expect(column("address")?.encodings).toContain("DELTA_BINARY_PACKED");
    const objects = await rows("object");
    expect(column("address")?.statistics).toMatchObject({
      min_value: objects[0]?.address,
      max_value: objects.at(-1)?.address,
    });
  });
});

describe("what strings contain", () => {
  const user = "<h1>/products/35";
  const isShown = async (options: object) => {
    const all = await Promise.all(TABLES.map((table) => rows(table, heap, options)));
    return textOf(all).includes(user);
  };

  test("is in no table", async () => {
    expect(await isShown({})).toBe(false);
  });

  test("is shown if it is asked for", async () => {
    expect(await isShown({ strings: true })).toBe(true);
  });
});

test("names can be replaced by hashes, by which rows are still the same", async () => {
  const hashed = await Promise.all(TABLES.map((table) => rows(table, heap, { hashNames: true })));
  const text = textOf(hashed);
  for (const name of ["assembly", "~lib", "listeners"]) expect(text).not.toContain(name);
  const [plain, hashes] = await Promise.all([
    rows("path"),
    rows("path", heap, { hashNames: true }),
  ]);
  const plainly = (rows: Row[]) => rows.map(({ fingerprint, count }) => [fingerprint, count]);
  expect(plainly(hashes)).toEqual(plainly(plain));
  expect(new Set(hashes.map(({ class: name }) => name)).size).toBe(
    new Set(plain.map(({ class: name }) => name)).size,
  );
});

test("hostile names are text in a table like any other", async () => {
  const { whole, wasm } = await hostileHeap();
  const hostile = openHeap(whole, wasm);
  const names = (await rows("class", hostile)).map((row) => row.class);
  expect(names).toEqual(
    hostile.constructors({ sort: "retained-set" }).constructors.map((row) => row.className),
  );
  hostile.close();
});

describe("the command", () => {
  const COMMON = [
    "--wasm",
    "server.wasm",
    "--to",
    "parquet",
    "--captured-at",
    "2026-11-22T23:30:00-02:00",
  ];
  const LABELS = ["--label", "service=shop", "--label", "release=1.0"];
  const run = (dump: string, output: string, ...args: string[]) =>
    runIn(server.folder, ["export", dump, ...COMMON, "--output", output, ...args]);
  const files = (of: string) =>
    readdirSync(of, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) =>
        join(entry.parentPath, entry.name)
          .slice(of.length + 1)
          .replaceAll("\\", "/"),
      )
      .sort();

  test("writes the tables by date and module, and the same bytes again", async () => {
    const [one, two] = [join(folder, "one"), join(folder, "two")];
    for (const output of [one, two, two]) {
      outputOf(
        run("after.dump", output, ...LABELS, "--source", "s3://dumps/after.dump", "--edges"),
      );
    }
    const place = `date=2026-11-23/module=sha256-${facts.moduleId.slice(0, 12)}/${facts.dumpId}.parquet`;
    const tables = ["class", "dump", "edge", "path", "suspect", "waste"];
    expect(files(one)).toEqual(tables.map((table) => `${table}/${place}`));
    expect(files(two)).toEqual(files(one));
    for (const file of files(one)) {
      expect(readFileSync(join(two, file)).equals(readFileSync(join(one, file)))).toBe(true);
    }
    const options = {
      capturedAt: new Date("2026-11-23T01:30:00Z"),
      source: "s3://dumps/after.dump",
    };
    const dump = readFileSync(join(one, "dump", place));
    expect(dump.equals(await tableBytes("dump", heap, options))).toBe(true);
  });

  test("makes a row of a dump that cannot be read, if it is asked to", async () => {
    const output = join(folder, "damaged");
    const damaged = join(folder, "damaged.dump");
    writeFileSync(damaged, readFileSync(server.after).subarray(0, 5000));
    expect(failureOf(run(damaged, output))).toContain("truncated");
    const { status, stderr } = run(damaged, output, "--keep-unreadable");
    expect([status, stderr.slice(0, 9)]).toEqual([0, "warning: "]);
    const [file, ...others] = files(output);
    expect(others).toEqual([]);
    const [row] = await rowsOf(readFileSync(join(output, file as string)));
    expect(row).toMatchObject({
      dump_id: sha256(readFileSync(damaged)),
      dump_size: 5000n,
      error_code: "ERR_DUMP_BOUNDARY",
      error_message: expect.stringContaining("damaged or truncated"),
      live_size: null,
      warning_count: 0,
      warning_codes: [],
    });
  });

  test("says what is missing", () => {
    const fails = (...args: string[]) => failureOf(runIn(server.folder, ["export", ...args]));
    const to = ["--wasm", "server.wasm", "--to", "parquet"];
    expect(fails("after.dump", ...to, "--output", folder)).toContain("--captured-at <time>");
    expect(fails("after.dump", ...to, "--captured-at", "file-time")).toContain("--output <folder>");
    const output = ["--output", folder, "--captured-at", "file-time"];
    expect(fails("-", ...to, ...output)).toContain("give it files");
    expect(fails("after.dump", ...to, "--captured-at", "yesterday")).toContain(
      "Expected a time with its zone",
    );
    expect(fails("after.dump", ...to, ...output, "--label", "shop")).toContain("service=shop");
    expect(fails("none.dump", ...to, ...output)).toContain("none.dump");
  });

  test("needs the module of a dump, also to make a row of one that cannot be read", () => {
    const output = join(folder, "without-module");
    const args = ["--to", "parquet", "--captured-at", "file-time", "--output", output];
    const run = runIn(server.folder, ["export", "after.dump", ...args, "--keep-unreadable"]);
    expect(failureOf(run)).toContain("pass the module with --wasm");
    expect(existsSync(output)).toBe(false);
  });
});

test("wrong options of the API are refused", () => {
  const exported = (options: object) => () =>
    heap.export("parquet", { ...facts, table: "dump", ...options } as ParquetOptions);
  const cases: [object, string][] = [
    [{ table: "dumps" }, "options.table: found dumps; expected dump, class"],
    [{ dumpId: "12" }, "64 hexadecimal digits"],
    [{ capturedAt: new Date(Number.NaN) }, "a valid Date"],
    [{ labels: { release: 1 } }, "an object whose values are strings"],
    [{ moduleId: undefined }, "option moduleId: found none; expected the SHA-256 of the module"],
  ];
  for (const [options, message] of cases) expect(exported(options)).toThrow(message);
});
