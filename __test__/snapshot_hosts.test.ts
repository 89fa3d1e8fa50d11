// Heap snapshots of hosts that `npm run test:full -- hosts` installs: objects of WasmGC in Node 24, bytes outside of
// the heap in Node 26, and a leak in Bun.

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { growth, openHeapFile } from "../dist/index.js";
import type { Heap } from "../index.js";
import { BYTES_OUTSIDE, NODE_26 } from "./snapshots/hosts.ts";
import { PARTS } from "./snapshots/leaks.ts";
import { wasmGc } from "./snapshots/wasm_gc.ts";
import { compile, UNOPTIMISED } from "./support/compile.ts";
import { rowsOf, sha256 } from "./support/parquet.ts";

const CLI = join(import.meta.dirname, "../dist/heap_analyzer/cli.js");
const VERSIONS = join(import.meta.dirname, "node_versions/node_modules");
const NODE = join(VERSIONS, "node-24/bin/node");
const BUN = join(VERSIONS, "bun/bin/bun");

for (const path of [NODE, NODE_26, BUN].filter((path) => !existsSync(path))) {
  console.info(`snapshots of ${path} are left out: npm run test:full -- hosts installs it`);
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "heap-analyzer-hosts-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Snapshots that a program writes. */
function written(host: string, name: string, ...args: string[]): string[] {
  const files = [0, 1, 2, 3].map((nth) => join(folder, `${name}-${nth}.heapsnapshot`));
  const program = join(import.meta.dirname, "snapshots", args[0] as string);
  execFileSync(host, [program, ...args.slice(1), ...files]);
  return files;
}

test.skipIf(!existsSync(NODE_26))(
  "what Node 26 counts outside of its heap is live, and of no object",
  () => {
    const file = join(folder, "outside.heapsnapshot");
    const program = join(import.meta.dirname, "snapshots/program.cjs");
    execFileSync(NODE_26, ["--require", BYTES_OUTSIDE, program, file, `${file}.after`]);
    const { snapshot } = JSON.parse(readFileSync(file, "utf8"));
    expect(snapshot.extra_native_bytes).toBeGreaterThan(0);
    const heap = openHeapFile(file);
    const { outsideSize, totalLiveSize } = heap.summary();
    expect(outsideSize).toBe(snapshot.extra_native_bytes);
    const { constructors } = heap.constructors();
    const ofObjects = constructors.reduce((sum, { totalShallowSize }) => sum + totalShallowSize, 0);
    expect(totalLiveSize).toBe(ofObjects + (outsideSize ?? 0));
  },
);

describe.skipIf(!existsSync(NODE))("objects of WasmGC in Node 24", () => {
  let named: string;
  let files: string[];
  let heaps: Heap[];
  beforeAll(() => {
    const [stripped, original] = [false, true].map((hasNames) => {
      const path = join(folder, `${hasNames ? "game" : "stripped"}.wasm`);
      writeFileSync(path, wasmGc(hasNames));
      return path;
    });
    named = original as string;
    files = written(NODE, "gc", "wasm_gc.cjs", stripped as string);
    heaps = files.map((file) => openHeapFile(file, named));
  }, 60_000);

  const last = () => heaps.at(-1) as Heap;

  test("have the types of the module that is given, with exact counts", () => {
    const counts = (name: string) => heaps.map((heap) => heap.find({ class: name }).total);
    expect(counts("$Player (wasm)")).toEqual([500, 1000, 1500, 2000]);
    expect(counts("$Players (wasm)")).toEqual([1, 2, 3, 4]);
    expect(counts("$Round (wasm)")).toEqual([1, 2, 3, 4]);
  });

  test("have its fields and globals in paths", () => {
    const [player] = last().find({ class: "$Player (wasm)", limit: 1 }).objects;
    const { path } = last().paths(player?.address as number);
    expect(path?.text).toContain("{$rounds} > $Round (wasm).$");
    expect(path?.text).toContain("$Round (wasm).$players > $Players (wasm)");
  });

  test("have all sizes that they have without the module", () => {
    const plain = openHeapFile(files.at(-1) as string);
    const sizes = (heap: Heap) =>
      heap
        .constructors()
        .constructors.filter(({ className }) => className.endsWith("(wasm)"))
        .map(({ count, totalShallowSize, totalRetainedSize }) =>
          [count, totalShallowSize, totalRetainedSize].join(),
        )
        .sort();
    expect(sizes(last())).toEqual(sizes(plain));
    expect(last().summary()).toEqual(plain.summary());
    const names = plain.constructors().constructors.map(({ className }) => className);
    expect(names).not.toContain("$Player (wasm)");
  });

  test("grow by name, and no part of V8 is a suspect", () => {
    const { suspects } = last().suspects({ before: heaps[0] as Heap });
    for (const { text } of suspects)
      expect(text).not.toMatch(/^(\d+|One) global|\(system\) retain/);
    const classes = growth(heaps).places.map(({ className }) => className);
    expect(classes).toContain("$Round (wasm)");
  });

  test("have the names in the command line, also of a comparison", () => {
    const [before, after] = [files[0], files.at(-1)] as [string, string];
    const run = (...args: string[]) =>
      execFileSync(process.execPath, [CLI, ...args, "--wasm", named], { encoding: "utf8" });
    expect(run("find", after, "--class", "$Round (wasm)")).toMatch(/^4 objects/);
    const difference = run("diff", before, after, "--format", "table");
    expect(difference).toMatch(/\$Player \(wasm\) +1500 +0 +\+1500/);
  });

  test("have the names in tables, which are those of a heap snapshot without a module", async () => {
    const file = files.at(-1) as string;
    const tables = join(folder, "tables");
    const args = ["--to", "parquet", "--output", tables, "--captured-at", "2026-11-22"];
    execFileSync(process.execPath, [CLI, "export", file, ...args, "--wasm", named]);
    const id = sha256(readFileSync(file));
    const rows = (table: string) =>
      rowsOf(readFileSync(join(tables, table, "date=2026-11-22/module=none", `${id}.parquet`)));
    const counts = new Map((await rows("class")).map((row) => [row.class, Number(row.count)]));
    expect(counts.get("$Player (wasm)")).toBe(2000);
    expect((await rows("dump"))[0]).toMatchObject({ dump_id: id, module_id: null });
  });

  test("are not named by another module", async () => {
    const { wasm } = await compile("arrays", UNOPTIMISED);
    const other = join(folder, "other.wasm");
    writeFileSync(other, wasm);
    const args = [CLI, "summary", files[0] as string, "--wasm", other];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    expect([status, stderr]).toEqual([1, expect.stringContaining("leave out --wasm")]);
  });
});

describe.skipIf(!existsSync(BUN))("a server that leaks in Bun", () => {
  let heaps: Heap[];
  beforeAll(() => {
    heaps = written(BUN, "bun", "leaks.cjs").map((file) => openHeapFile(file));
  }, 60_000);

  const last = () => heaps.at(-1) as Heap;

  test("has all objects of the program, with paths", () => {
    const counts = heaps.map((heap) => heap.find({ class: "CachedPage" }).total);
    expect(counts).toEqual([400, 800, 1200, 1600]);
    const [page] = last().find({ class: "CachedPage", limit: 1 }).objects;
    expect(last().object(page?.address as number).path?.text).toBe(
      "global GlobalObject > GlobalObject.app > Object.cache > Object.items > Array[*] > CachedPage",
    );
  });

  test("grows at the leaks", () => {
    const { places } = growth(heaps);
    const grown = (name: string) => places.find(({ className }) => className === name)?.counts;
    expect(grown("CachedPage")).toEqual([400, 800, 1200, 1600]);
    expect(grown("Timeout")).toEqual([400, 800, 1200, 1600]);
    // Bun does not write what a Map refers to.
    const visits = places.find(({ className }) => className === "Visit");
    expect(visits?.path).toBe("system (no strong reference) > Visit");
  });

  test("has the list as first suspect", () => {
    const { suspects } = last().suspects({ before: heaps[0] as Heap });
    expect(suspects[0]?.text).toContain("Object.items");
    expect(suspects[0]?.text).not.toMatch(PARTS);
  });
});
