// 200 dumps on a cluster of Spark that loses a worker: every query gives the known answer, in DuckDB and in Spark.
// The same job on file systems that are not local paths.

import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Cluster, installEngines, PYTHON, type Report } from "./cluster.ts";
import { type Fleet, type Listed, makeFleet } from "./dumps.ts";
import * as expected from "./expected.ts";
import { hadoopFileSystem, type ObjectStorage, startObjectStorage } from "./file_systems.ts";

const FOLDER = resolve(import.meta.dirname, "../../build/fleet/test");
const CLI = resolve(import.meta.dirname, "../../dist/heap_analyzer/cli.js");
const TABLES = join(FOLDER, "tables");
const SINCE = "2026-11-15";
const RELEASE = "3.0";

let fleet: Fleet;
let cluster: Cluster;
let objects: ObjectStorage;
let first: { status: number; report: Report | undefined };
let killedAfter = 0;

/** The folder that `viewfs://cluster/data` shows. */
const VIEWED = join(FOLDER, "viewed");

/** The files of a table. */
function files(table: string, tables = TABLES): string[] {
  try {
    const names = readdirSync(join(tables, table), { recursive: true, encoding: "utf8" });
    return names.filter((name) => name.endsWith(".parquet"));
  } catch {
    return [];
  }
}

const analyze = (list: string, ...more: string[]) => analyzeInto(TABLES, list, ...more);

const analyzeInto = (tables: string, list: string, ...more: string[]) =>
  cluster.run(
    "analyze",
    "--list",
    list,
    "--tables",
    tables,
    "--analyzer",
    `node ${CLI}`,
    "--dumps-per-task",
    "4",
    ...more,
  );

beforeAll(async () => {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  installEngines();
  fleet = await makeFleet(join(FOLDER, "dumps"));
  objects = await startObjectStorage();
  const hadoop = hadoopFileSystem(join(FOLDER, "hadoop"), VIEWED);
  cluster = new Cluster(join(FOLDER, "spark"), { ...objects.environment, ...hadoop });
  await cluster.start(3);
  const running = analyze(join(FOLDER, "dumps/list.jsonl"));
  let isRunning = true;
  running
    .finally(() => {
      isRunning = false;
    })
    .catch(() => {});
  while (isRunning && files("dump").length < 40) await setTimeout(50);
  killedAfter = files("dump").length;
  cluster.killWorker(0);
  first = await running;
});

afterAll(() => {
  cluster?.stop();
  objects?.stop();
});

test("the job goes on when a worker dies in the middle", () => {
  expect(fleet.list).toHaveLength(200);
  expect(killedAfter).toBeGreaterThanOrEqual(40);
  expect(killedAfter).toBeLessThan(150);
  expect(cluster.hasLostWorker()).toBe(true);
  expect(first).toEqual({ status: 0, report: { listed: 200, analyzed: 198, failed: [] } });
});

test("every different dump has one row, and nothing is left of tasks that died", () => {
  expect(files("dump")).toHaveLength(198);
  for (const table of ["class", "path", "suspect", "waste"]) {
    expect(files(table)).toHaveLength(fleet.known.length);
  }
});

/** What an engine finds in the tables, by their name. */
type Read = Record<
  string,
  { rows: number; types: Record<string, string>; facts: Record<string, number> }
>;

function read(engine: "duckdb" | "clickhouse", tables = TABLES): Read {
  const script = join(import.meta.dirname, "readers.py");
  return JSON.parse(execFileSync(PYTHON, [script, engine, tables], { encoding: "utf8" }));
}

/** The columns of the tables on the page about them, with their types. */
function documented(): Record<string, Record<string, string>> {
  const page = readFileSync(resolve(import.meta.dirname, "../../examples/fleet/README.md"), "utf8");
  const sections = page.split("\n### ").slice(1);
  return Object.fromEntries(
    sections.map((section) => {
      const rows = [...section.matchAll(/^\| `(\w+)` \| ([^|]+) \|/gm)];
      const name = section.slice(0, section.indexOf("\n"));
      return [name, Object.fromEntries(rows.map(([, column, type]) => [column, type]))];
    }),
  );
}

test("DuckDB and ClickHouse read every table with the documented types, and find the same", () => {
  const [duckdb, clickhouse] = [read("duckdb"), read("clickhouse")];
  const found = Object.keys(clickhouse);
  expect(found).toEqual(["class", "dump", "path", "suspect", "waste"]);
  const columns = documented();
  const names: Record<string, [RegExp, RegExp]> = {
    string: [/^VARCHAR$/, /^String$/],
    uint64: [/^UBIGINT$/, /^UInt64$/],
    uint32: [/^UINTEGER$/, /^UInt32$/],
    double: [/^DOUBLE$/, /^Float64$/],
    boolean: [/^BOOLEAN$/, /^Bool$/],
    "timestamp, UTC, ms": [/^TIMESTAMP WITH TIME ZONE$/, /^DateTime64\(3, 'UTC'\)$/],
    "map of strings": [/^MAP\(VARCHAR, VARCHAR\)$/, /^Map\(String, String\)$/],
    "list of strings": [/^VARCHAR\[\]$/, /^Array\(String\)$/],
    "list of {class, count, retained_size}": [
      /^STRUCT\("?class"? VARCHAR, "?count"? UBIGINT, retained_size UBIGINT\)\[\]$/,
      /^Array\(Tuple\(\s*class [^,]*String\)?,\s*count [^,]*UInt64\)?,\s*retained_size [^,]*UInt64\)*$/,
    ],
    "list of {holder, count, savings}": [
      /^STRUCT\(holder VARCHAR, "?count"? UBIGINT, savings UBIGINT\)\[\]$/,
      /^Array\(Tuple\(\s*holder [^,]*String\)?,\s*count [^,]*UInt64\)?,\s*savings [^,]*UInt64\)*$/,
    ],
  };
  for (const table of found) {
    const described = columns[table] ?? {};
    expect(Object.keys(duckdb[table]?.types ?? {})).toEqual(Object.keys(described));
    expect(Object.keys(clickhouse[table]?.types ?? {})).toEqual(Object.keys(described));
    for (const [column, type] of Object.entries(described)) {
      const [first, second] = names[type.replace(/\?$/, "")] ?? [];
      expect(duckdb[table]?.types[column], `${table}.${column}`).toMatch(first as RegExp);
      expect(clickhouse[table]?.types[column], `${table}.${column}`).toMatch(second as RegExp);
    }
    expect(clickhouse[table]?.rows).toBe(duckdb[table]?.rows);
    expect(clickhouse[table]?.facts).toEqual(duckdb[table]?.facts);
  }
});

const COMPACT = join(FOLDER, "compact");
const cases: [string, string, string][] = [
  ["duckdb", "duckdb", TABLES],
  ["spark", "spark", TABLES],
  ["duckdb to compact tables", "duckdb", COMPACT],
];

describe.each(cases)("the answers of %s", (_, engine, tables) => {
  let answers: Record<string, expected.Answer>;

  beforeAll(async () => {
    if (tables === COMPACT) {
      const { status } = await cluster.run("compact", "--tables", TABLES, "--output", COMPACT);
      expect(status).toBe(0);
    }
    const script = join(import.meta.dirname, "answers.py");
    const output = execFileSync(PYTHON, [script, engine, tables, SINCE, RELEASE], {
      encoding: "utf8",
      maxBuffer: 1 << 28,
      stdio: ["ignore", "pipe", "ignore"],
    });
    answers = JSON.parse(output);
  });

  const queries: [string, (fleet: Fleet) => expected.Answer][] = [
    ["new_since_date", (fleet) => expected.newSinceDate(fleet, SINCE)],
    ["new_since_release", (fleet) => expected.newSinceRelease(fleet, RELEASE)],
    ["growth", expected.growth],
    ["top_classes", expected.topClasses],
    ["waste", expected.waste],
    ["problems", expected.problems],
  ];

  test.each(queries)("to %s are those of the loops", (name, compute) => {
    const sorted = (answer: expected.Answer | undefined) =>
      answer?.map((row) => JSON.stringify(row, Object.keys(row).sort())).sort();
    const withoutPaths = answers[name]?.map(({ path: _, ...row }) => row);
    const known = compute(fleet);
    expect(known.length).toBeGreaterThan(0);
    expect(sorted(withoutPaths)).toEqual(sorted(known));
  });

  test("name the leaks", () => {
    const paths = (name: string) =>
      answers[name]?.map(({ path }) => (path as string[]).join(" > ")) ?? [];
    expect(paths("growth")[0]).toMatch(
      /^global assembly\/server\/prices > assembly\/server\/PriceFeed.listeners/,
    );
    const audit = paths("new_since_release");
    expect(audit.every((path) => path.startsWith("global assembly/server/audit"))).toBe(true);
  });

  test("have an order", () => {
    for (const [name, column] of [
      ["growth", "growth"],
      ["top_classes", "retained_set_size"],
    ] as const) {
      const sizes = answers[name]?.map((row) => Number(row[column])) ?? [];
      expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
    }
  });
});

describe("a second run", () => {
  test("analyzes nothing again", async () => {
    const { status, report } = await analyze(join(FOLDER, "dumps/list.jsonl"));
    expect([status, report?.analyzed]).toEqual([0, 0]);
  });

  test("analyzes what is missing, and reports what is not there", async () => {
    for (const file of files("dump").slice(0, 3)) unlinkSync(join(TABLES, "dump", file));
    const list = join(FOLDER, "more.jsonl");
    const gone = { ...fleet.list[0], dump: join(FOLDER, "gone.dump") };
    writeFileSync(list, [...fleet.list, gone].map((line) => JSON.stringify(line)).join("\n"));
    const { status, report } = await analyze(list, "--trust-paths");
    expect([status, report?.analyzed]).toEqual([1, 3]);
    expect(report?.failed.map(({ dump }) => dump)).toEqual([gone.dump]);
    expect(files("dump")).toHaveLength(198);
  });
});

describe("two heap snapshots beside a dump", () => {
  const tables = join(FOLDER, "tables-with-snapshots");

  beforeAll(async () => {
    const dumps = ["before", "after"].map((name) => join(FOLDER, `${name}.heapsnapshot`));
    const program = join(import.meta.dirname, "../snapshots/program.cjs");
    execFileSync(process.execPath, [program, ...dumps]);
    const labels = { service: "host", release: RELEASE, machine: "m1" };
    const snapshots = dumps.map((dump, nth) => ({
      dump,
      capturedAt: `${SINCE}T0${nth}:00:00Z`,
      labels,
    }));
    const lines = [fleet.list[0], ...snapshots];
    const list = join(FOLDER, "snapshots.jsonl");
    writeFileSync(list, lines.map((line) => JSON.stringify(line)).join("\n"));
    const { status, report } = await analyzeInto(tables, list);
    expect([status, report]).toEqual([0, { listed: 3, analyzed: 3, failed: [] }]);
  });

  test("have their tables in the folder of no module", () => {
    for (const table of ["dump", "class", "path", "suspect", "waste"]) {
      const names = files(table, tables).filter((name) => name.includes("/module=none/"));
      expect(names, table).toHaveLength(2);
    }
  });

  test.each(["duckdb", "spark"])("are in the answers of %s", (engine) => {
    const script = join(import.meta.dirname, "answers.py");
    const output = execFileSync(PYTHON, [script, engine, tables, SINCE, RELEASE], {
      encoding: "utf8",
      maxBuffer: 1 << 28,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const answers: Record<string, expected.Answer> = JSON.parse(output);
    expect(answers.top_classes).toContainEqual(
      expect.objectContaining({ service: "host", class: "Session", machines: 1 }),
    );
    for (const name of ["growth", "new_since_date", "new_since_release"]) {
      const services = answers[name]?.map(({ service }) => service);
      expect(services, name).toContain("host");
    }
  });
});

describe("file systems that are not local", () => {
  /** Two dumps and one that cannot be read, with their modules, as files of a folder elsewhere. */
  function moved(folder: string) {
    const chosen = [...fleet.list.slice(0, 2), (fleet.unreadable[0] as { dump: Listed }).dump];
    const place = (file: string) => `${folder}/${basename(file)}`;
    const lines = chosen.map((one) => ({ ...one, dump: place(one.dump), wasm: place(one.wasm) }));
    return {
      files: [...new Set(chosen.flatMap(({ dump, wasm }) => [dump, wasm]))],
      list: lines.map((line) => JSON.stringify(line)).join("\n"),
    };
  }

  /** The rows of `dump` and the files of each table, which have to be those of the local tables. */
  function expectTables(tables: string): void {
    for (const table of Object.keys(read("duckdb", tables))) {
      const names = files(table, tables);
      expect(names).toHaveLength(table === "dump" ? 3 : 2);
      for (const name of names.filter(() => table !== "dump")) {
        const [found, known] = [tables, TABLES].map((at) => readFileSync(join(at, table, name)));
        expect(found?.equals(known as Buffer), name).toBe(true);
      }
    }
  }

  test("the job copies dumps from an object storage", async () => {
    const tables = join(FOLDER, "tables-of-objects");
    const { files: sources, list } = moved(`s3a://${objects.bucket}/dumps`);
    for (const file of sources) {
      await objects.put(`dumps/${basename(file)}`, new Uint8Array(readFileSync(file)));
    }
    const path = join(FOLDER, "objects.jsonl");
    writeFileSync(path, list);
    const { status, report } = await analyzeInto(tables, path);
    expect([status, report]).toEqual([0, { listed: 3, analyzed: 3, failed: [] }]);
    expectTables(tables);
  });

  test("tables are published to an object storage, where ClickHouse and pyarrow read them", () => {
    const script = join(import.meta.dirname, "object_tables.py");
    const args = [script, TABLES, `s3a://${objects.bucket}/tables`, objects.url];
    const env = { ...process.env, ...objects.environment };
    const counts = JSON.parse(execFileSync(PYTHON, args, { encoding: "utf8", env }));
    for (const [table, { rows }] of Object.entries(read("duckdb"))) {
      expect(counts[table], table).toEqual({ clickhouse: rows, pyarrow: rows });
    }
  });

  test("the job uses the command hadoop for what only Spark knows, and goes on where it stopped", async () => {
    const { files: sources, list } = moved("viewfs://cluster/data/dumps");
    mkdirSync(join(VIEWED, "dumps"));
    for (const file of sources) copyFileSync(file, join(VIEWED, "dumps", basename(file)));
    writeFileSync(join(VIEWED, "list.jsonl"), list);
    const run = () =>
      analyzeInto("viewfs://cluster/data/tables", "viewfs://cluster/data/list.jsonl");
    expect(await run()).toEqual({
      status: 0,
      report: { listed: 3, analyzed: 3, failed: [] },
    });
    expectTables(join(VIEWED, "tables"));
    expect((await run()).report).toEqual({ listed: 3, analyzed: 0, failed: [] });
  });
});
