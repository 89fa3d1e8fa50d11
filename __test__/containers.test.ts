/**
 * Coredumps, raw memory and compressed dumps with the API, the command line and the servers. The judge is the dump that Node
 * wrote at the same trap; `crates/engine/tests/it/containers.rs` compares the bytes.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { analyze, analyzeFile, diffFile, openHeap, openHeapFile } from "@warpo/heap-analyzer";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect, GENERATIONS } from "./mcp/client.ts";

const SAMPLES = join(import.meta.dirname, "programs/coredump");
const COMMAND_LINE = join(import.meta.dirname, "../dist/heap_analyzer/cli.js");
const WASM = join(SAMPLES, "prog.debug.wasm");
const CORE = join(SAMPLES, "as.debug.core");
const PACKED = join(SAMPLES, "ref.debug.dump.gz");
const DUMP = gunzipSync(readFileSync(PACKED));

/** The memory of the dump, and the indexes of the mutable i32 globals. */
const MEMORY = DUMP.subarray(24 + 4 * DUMP.readUInt32LE(20));
const INDEXES = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 16, 19, 24];

let folder: string;
/** The dump of Node, not compressed. */
let dump: string;
let raw: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "containers-"));
  dump = join(folder, "node.dump");
  raw = join(folder, "app.raw");
  writeFileSync(dump, DUMP);
  writeFileSync(raw, MEMORY);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The values by index. */
const GLOBALS: Record<string, number> = Object.fromEntries(
  INDEXES.map((index, nth) => [String(index), DUMP.readUInt32LE(24 + 4 * nth)]),
);

function run(...args: string[]): string {
  return execFileSync(process.execPath, [COMMAND_LINE, ...args], { encoding: "utf8" });
}

function failure(...args: string[]): string {
  const { status, stderr } = spawnSync(process.execPath, [COMMAND_LINE, ...args]);
  expect(status).toBe(1);
  return String(stderr);
}

describe("the API", () => {
  test.each([CORE, PACKED, join(SAMPLES, "ref.debug.dump.zst")])("reads %s", (file) => {
    const expected = JSON.stringify(analyzeFile(dump, WASM));
    expect(JSON.stringify(analyzeFile(file, WASM))).toBe(expected);
    const bytes = readFileSync(file);
    expect(JSON.stringify(analyze(bytes, readFileSync(WASM)))).toBe(expected);
    expect(diffFile(dump, file, WASM).totalLiveSizeDelta).toBe(0);
  });

  test("names the frames of a trap, and a dump has none", () => {
    const heap = openHeapFile(CORE, WASM);
    const { trap } = heap.summary();
    expect(trap?.total).toBe(4);
    expect(trap?.frames[0]).toEqual({ function: "prog/fail", index: 129, offset: 77 });
    heap.close();
    const ofNode = openHeapFile(dump, WASM);
    expect(ofNode.summary()).not.toHaveProperty("trap");
    ofNode.close();
  });

  test("counts the memory that was unpacked, from which questions read", () => {
    const [ofFile, ofPacked] = [openHeapFile(dump, WASM), openHeapFile(PACKED, WASM)];
    expect(ofPacked.memorySize - ofFile.memorySize).toBe(DUMP.length);
    const [one, other] = [ofFile, ofPacked].map(
      (heap) => heap.find({ contains: "item-7" }).objects,
    );
    expect(one).toEqual(other);
    expect(one?.length).toBeGreaterThan(0);
    for (const heap of [ofFile, ofPacked]) heap.close();
    const limited = () => openHeapFile(PACKED, WASM, { memoryLimit: DUMP.length - 1 });
    expect(limited).toThrow(expect.objectContaining({ code: "ERR_OUT_OF_PROPORTION" }));
    openHeapFile(PACKED, WASM, { memoryLimit: DUMP.length }).close();
  });

  test("warns of values of raw memory that are missing", () => {
    const bytes = readFileSync(WASM);
    const without = openHeap(MEMORY, bytes, { raw: true });
    const codes = without.warnings.map(({ code }) => code);
    expect(codes).toContain("WARN_GLOBALS_MISSING");
    expect(codes).toContain("WARN_RAW_STACK_ASSUMED_EMPTY");
    expect(without.constructors().warnings).toEqual(without.warnings);
    const { 19: counter, ...others } = GLOBALS;
    const some = openHeapFile(raw, WASM, { raw: true, globals: others });
    expect(some.warnings.map(({ code }) => code)).toEqual(["WARN_RAW_GLOBALS_ASSUMED"]);
    expect(some.warnings[0]?.message).toContain("the first is prog/counter");
    // A name says the same as an index.
    const named = { ...others, "prog/counter": counter as number };
    const all = openHeapFile(raw, WASM, { raw: true, globals: named });
    expect(all.warnings).toEqual([]);
    for (const heap of [without, some, all]) heap.close();
  });

  test("refuses options that say nothing", () => {
    const open = (options: object) => () => openHeapFile(dump, WASM, options);
    const code = (name: string) => expect.objectContaining({ code: name });
    expect(open({ globals: { 0: 1 } })).toThrow(code("ERR_INVALID_OPTION"));
    expect(open({ raw: true, globals: { 0: 1.5 } })).toThrow(code("ERR_INVALID_OPTION"));
    expect(open({ raw: true, globals: 1 })).toThrow(code("ERR_INVALID_ARG_TYPE"));
    expect(open({ raw: true })).toThrow(code("ERR_RAW_MEMORY"));
    const compare = () => diffFile(raw, raw, WASM, { raw: true });
    expect(compare).toThrow(code("ERR_INVALID_OPTION"));
    expect(open({ coredumpInstance: -1 })).toThrow(code("ERR_INVALID_OPTION"));
  });
});

describe("the command line", () => {
  test.each([
    ["suspects"],
    ["find", "--class", "prog/Item"],
    ["paths", "--class", "prog/Item"],
    ["dominators"],
    ["waste"],
    ["unreachable"],
    ["analyze", "--format", "table"],
  ])("%s answers about a coredump as about the dump", (command, ...options) => {
    const ask = (file: string) => {
      const text = run(command as string, file, ...options, "--wasm", WASM);
      return text.replaceAll(file, "FILE");
    };
    expect(ask(CORE)).toBe(ask(dump));
  });

  test("reads raw memory from a file and from a pipe", () => {
    const values = Object.entries(GLOBALS).flatMap(([name, value]) => [
      "--global",
      `${name}=${value}`,
    ]);
    const args = ["summary", "--wasm", WASM, "--raw", ...values, "--format", "json"];
    const ofNode = JSON.parse(run("summary", "--wasm", WASM, "--format", "json", dump));
    expect(JSON.parse(run(...args, raw))).toEqual(ofNode);
    const piped = execFileSync(process.execPath, [COMMAND_LINE, ...args, "-"], { input: MEMORY });
    expect(JSON.parse(String(piped))).toEqual(ofNode);
    // The next command has the values too.
    const suspects = run("suspects", "--wasm", WASM, "--raw", ...values, raw);
    expect(suspects).toContain(`--raw --global 0=${GLOBALS[0]} --global 1=${GLOBALS[1]}`);
    const input = gzipSync(MEMORY);
    const packed = execFileSync(process.execPath, [COMMAND_LINE, ...args, "-"], { input });
    expect(JSON.parse(String(packed))).toEqual(ofNode);
  });

  test("compares raw memories, each with its own values", () => {
    const values = (second: Record<string, number>) =>
      Object.entries(GLOBALS).flatMap(([name, value]) => [
        "--global",
        `${name}=${value},${second[name]}`,
      ]);
    const options = ["--wasm", WASM, "--raw"];
    for (const format of ["json", "table"]) {
      const ofNode = run("diff", dump, dump, "--wasm", WASM, "--format", format);
      const same = ["diff", raw, raw, ...options, "--format", format];
      expect(run(...same, ...values(GLOBALS))).toBe(ofNode);
    }
    // The collector's total is another value: a negative control.
    const changed = { ...GLOBALS, 1: 0 };
    const args = ["growth", raw, raw, ...options, "--format", "json", "--warmup", "0"];
    expect(run(...args, ...values(GLOBALS))).not.toBe(run(...args, ...values(changed)));
    const text = failure("diff", raw, raw, ...options, "--global", "0=1");
    expect(text).toContain("expected one value for each");
  });

  test("says what is wrong with the options", () => {
    expect(failure("summary", dump, "--wasm", WASM, "--global", "0=1")).toContain("needs --raw");
    const text = failure("summary", raw, "--wasm", WASM, "--raw", "--global", "heap=x");
    expect(text).toContain("Expected the name or the index of a global");
  });

  test("compares a coredump with a dump, and writes both into a report", () => {
    expect(run("diff", dump, CORE, "--wasm", WASM, "--format", "table")).toContain(
      "live 20.0 KiB → 20.0 KiB (0 B)",
    );
    expect(run("growth", dump, CORE, dump, "--wasm", WASM)).toContain("nothing grows");
    const output = join(folder, "report.html");
    run("report", CORE, "--wasm", WASM, "--before", dump, "--output", output);
    expect(readFileSync(output, "utf8").length).toBeGreaterThan(50_000);
  });
});

test("the servers open coredumps and compressed dumps, and count what these unpack to", async () => {
  for (const file of [CORE, PACKED]) copyFileSync(file, join(folder, file.split("/").at(-1) ?? ""));
  copyFileSync(WASM, join(folder, "app.wasm"));
  const generation = GENERATIONS[0] as (typeof GENERATIONS)[number];
  const session = await connect(["--root", folder], generation);
  const dumps = ["node.dump", "as.debug.core", "ref.debug.dump.gz"];
  const { heaps } = await session.call("open_heaps", { dumps });
  const sizes = heaps.map(({ totalLiveSize }: { totalLiveSize: number }) => totalLiveSize);
  expect(new Set(sizes).size).toBe(1);
  await session.close();
  const small = await connect(["--root", folder, "--memory", "200KiB"], generation);
  const refused = await small.client.callTool({
    name: "open_heaps",
    arguments: { dumps: ["ref.debug.dump.gz"] },
  });
  expect(refused.isError).toBe(true);
  expect(JSON.stringify(refused)).toContain("start the server with a larger --memory");
  await small.close();
});
