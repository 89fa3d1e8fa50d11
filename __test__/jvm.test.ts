// Heap dumps of a JVM. The dumps are of `samples/jvm/Leaky.java`, written by JDK 17 and reduced by `reduce.py` beside it.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { analyzeFile, openHeapFile } from "../dist/index.js";
import type { Heap, PathAnswer } from "../index.js";
import { runIn } from "./support/command_line.ts";

const SAMPLES = join(import.meta.dirname, "samples/jvm");
const DUMPS = [1, 2, 3].map((nth) => `leaky-${nth}.hprof.gz`);
const run = (...args: string[]) => runIn(SAMPLES, args);

let folder: string;
let heap: Heap;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "jvm-"));
  heap = openHeapFile(join(SAMPLES, "leaky-3.hprof.gz"));
});
afterAll(() => {
  heap.close();
  rmSync(folder, { recursive: true, force: true });
});

test("objects have the counts and bytes of the JVM's histogram", () => {
  // `jcmd GC.class_histogram` of the same moments: instances and bytes.
  const expected = {
    Leaky$Order: ["180,7200", "240,9600", "300,12000"],
    "Leaky$Order[]": ["62,1984", "82,2624", "102,3264"],
    Leaky$Session: ["62,1488", "82,1968", "102,2448"],
  };
  const heaps = DUMPS.map((dump) => analyzeFile(join(SAMPLES, dump)).constructors);
  const found = Object.keys(expected).map((name) => [
    name,
    heaps.map((rows) => {
      const row = rows.find(({ className }) => className === name);
      return `${row?.count},${row?.totalShallowSize}`;
    }),
  ]);
  expect(Object.fromEntries(found)).toEqual(expected);
});

describe("outputs", () => {
  test.each([
    ["summary", ["summary", "leaky-3.hprof.gz"]],
    ["growth", ["growth", ...DUMPS]],
    ["paths", ["paths", "leaky-3.hprof.gz", "--class", "Leaky$Session"]],
    ["suspects", ["suspects", "leaky-3.hprof.gz", "--before", "leaky-1.hprof.gz"]],
    ["diff", ["diff", "leaky-1.hprof.gz", "leaky-3.hprof.gz", "--format", "table"]],
  ])("%s", async (name, args) => {
    await expect(run(...args).stdout).toMatchFileSnapshot(`golden/jvm-${name}.txt`);
  });
});

test("a check fails for what grows, and passes for dumps without growth", () => {
  const options = ["--min-dumps", "3"];
  expect(run("check", ...DUMPS, ...options).status).toBe(2);
  const steady = Array<string>(3).fill("leaky-1.hprof.gz");
  expect(run("check", ...steady, ...options).status).toBe(0);
});

test("a weak reference keeps its referent not alive, and a soft one does", () => {
  const { objects } = heap.find({ class: "java.lang.ref.SoftReference" });
  expect(objects.length).toBeGreaterThan(0);
  // `weak` refers to the only session of this user: it is in the dump only if something else keeps it.
  expect(heap.find({ class: "Leaky$Session", where: 'user == "weakly"' }).total).toBe(0);
  expect(heap.find({ class: "Leaky$Session", where: 'user == "on-stack"' }).total).toBe(1);
});

test("local variables are held by a thread and its frame", () => {
  const where = 'user == "on-stack"';
  const [object] = heap.find({ class: "Leaky$Session", where }).objects;
  const { path } = heap.paths({ objects: [object?.address as number] }) as PathAnswer;
  expect(path?.root?.kind).toBe("stack");
  expect(path?.root?.name).toMatch(/^thread "main" at Leaky\.main\(Leaky\.java:\d+\)$/);
});

test("entries of a map and fields are read", () => {
  const [map] = heap.find({ class: "java.util.HashMap", sort: "retained" }).objects;
  const object = heap.object(map?.address as number, { entries: 2 });
  expect(object.entries?.kind).toBe("map");
  const order = heap.find({ class: "Leaky$Order", where: "id == 7 && amount == 2" });
  expect(order.total).toBe(1);
});

describe("damage", () => {
  const cut = (bytes: number) => {
    const path = join(folder, `cut-${bytes}.hprof`);
    const whole = gunzipSync(readFileSync(join(SAMPLES, "leaky-1.hprof.gz")));
    writeFileSync(path, whole.subarray(0, bytes));
    return path;
  };

  test("a truncated dump is an error that says what to do", () => {
    const { status, stderr } = run("summary", cut(60_000));
    expect(status).not.toBe(0);
    expect(stderr).toContain("ends at byte");
    expect(stderr).toContain("--partial");
  });

  test("with --partial, what is complete is read", () => {
    const { status, stdout, stderr } = run("summary", cut(80_000), "--partial");
    expect(status).toBe(0);
    expect(stdout).toMatch(/objects/);
    expect(stderr).toContain("partial result");
  });

  test("a module beside a dump is refused", () => {
    const wasm = join(import.meta.dirname, "../examples/leaky-parser/fixed.wasm");
    expect(run("summary", "leaky-1.hprof.gz", "--wasm", wasm).stderr).toContain("without a module");
  });
});
