// Heap dumps of programs that the JDK runs now. The judge is the JVM's own histogram (`jcmd GC.class_histogram`).

import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { analyzeFile, openHeapFile } from "../dist/index.js";

const SOURCE = join(import.meta.dirname, "samples/jvm/Leaky.java");
const run = (program: string, ...options: string[]) =>
  execFileSync(program, options, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

/** Rows of a histogram: instances and bytes by class. */
type Histogram = Map<string, [number, number]>;

let folder: string;
let program: ChildProcess;
let lines: AsyncIterator<string>;
let pid: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "jvm-programs-"));
  copyFileSync(SOURCE, join(folder, "Leaky.java"));
  run("javac", "-d", folder, join(folder, "Leaky.java"));
  // Without class data sharing, all classes in the histogram are loaded, and in the dump.
  const options = ["-Xshare:off", "-Xmx64m", "-cp", folder, "Leaky"];
  program = spawn("java", options, { stdio: ["pipe", "pipe", "inherit"] });
  if (program.stdout === null) throw new Error("the program has no output");
  lines = createInterface(program.stdout)[Symbol.asyncIterator]();
  pid = (await nextLine()).replace("ready ", "");
});

afterAll(() => {
  program?.kill();
  rmSync(folder, { recursive: true, force: true });
});

async function nextLine(): Promise<string> {
  const { value, done } = await lines.next();
  if (done) throw new Error("the program ended");
  return value;
}

function dump(name: string, ...options: string[]): string {
  const path = join(folder, name);
  run("jcmd", pid, "GC.heap_dump", ...options, path);
  return path;
}

function histogram(): Histogram {
  const rows: Histogram = new Map();
  const text = run("jcmd", pid, "GC.class_histogram");
  for (const [, count, bytes, name] of text.matchAll(/^ *\d+: +(\d+) +(\d+) +(\S+)/gm)) {
    rows.set(javaName(name as string), [Number(count), Number(bytes)]);
  }
  return rows;
}

const PRIMITIVES: Record<string, string> = {
  B: "byte",
  C: "char",
  D: "double",
  F: "float",
  I: "int",
  J: "long",
  S: "short",
  Z: "boolean",
};

/** `java.lang.String[]` for `[Ljava.lang.String;`. */
function javaName(name: string): string {
  const element = name.replace(/^\[+/, "");
  const dimensions = name.length - element.length;
  if (dimensions === 0) return name;
  const known = PRIMITIVES[element] ?? element.slice(1, -1);
  return known + "[]".repeat(dimensions);
}

/** The live objects by class. */
function liveObjects(path: string): Histogram {
  const { constructors } = analyzeFile(path);
  return new Map(
    constructors.map((row) => [row.className, [row.count, row.totalShallowSize] as const]),
  ) as Histogram;
}

/** Classes of objects that only fields of class objects hold: a heap dump does not have these fields. */
const HELD_BY_CLASSES = [
  "byte[]",
  "java.lang.Class",
  "java.lang.Class$ReflectionData",
  "java.lang.Class[]",
  "java.lang.String",
  "java.lang.invoke.",
  "java.lang.ref.SoftReference",
  "java.lang.reflect.",
  "java.util.ImmutableCollections$List",
  "jdk.internal.reflect.",
];

/** The JVM collects what it made for the first command after it. */
function settle(): void {
  for (let round = 0; round < 3; round++) histogram();
}

test("live objects and their bytes are those of the JVM, class by class", () => {
  settle();
  const expected = histogram();
  const found = liveObjects(dump("first.hprof"));
  const differing = [...expected].filter(
    ([name, [count, bytes]]) => found.get(name)?.join() !== [count, bytes].join(),
  );
  const isExplained = (name: string) => HELD_BY_CLASSES.some((start) => name.startsWith(start));
  const unexplained = differing.filter(([name]) => !isExplained(name));
  // Subclasses of Thread: their fields follow padding that the dump does not show.
  const isThread = ([name]: [string, unknown]) => /Thread$/.test(name);
  expect(unexplained.filter((row) => !isThread(row))).toEqual([]);
  for (const [name, [count]] of differing) {
    expect(found.get(name)?.[0] ?? 0, name).toBeLessThanOrEqual(count);
  }
  expect([...found.keys()].filter((name) => !expected.has(name))).toEqual([]);
});

test("a compressed dump has the same heap", () => {
  const plain = liveObjects(dump("plain.hprof"));
  const compressed = liveObjects(dump("gz.hprof.gz", "-gz=1"));
  const own = (rows: Histogram) => [...rows].filter(([name]) => name.startsWith("Leaky"));
  expect(own(compressed)).toEqual(own(plain));
});

test("what grows is named by its place", async () => {
  const before = openHeapFile(dump("before.hprof"));
  program.stdin?.write("\n");
  await nextLine();
  const after = openHeapFile(dump("after.hprof"));
  const counts = [before, after].map((heap) => heap.find({ class: "Leaky$Session" }).total);
  expect(counts[1]).toBe((counts[0] as number) + 20);
  before.close();
  after.close();
});

test.each([
  { options: [], status: 2 },
  { options: ["--mended"], status: 0 },
])("the gate of the example with $options ends with $status", ({ options, status }) => {
  const gate = join(import.meta.dirname, "../examples/leaky-jvm/gate.mjs");
  const result = spawnSync(process.execPath, [gate, ...options], { encoding: "utf8" });
  expect(result.status, result.stdout + result.stderr).toBe(status);
  if (status !== 0) expect(result.stdout).toContain("Server.feed");
});
