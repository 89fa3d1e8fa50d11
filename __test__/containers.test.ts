/**
 * Coredumps, raw memory and compressed dumps with the API, the command line and the servers. The judge is the dump that Node
 * wrote at the same trap; `crates/engine/tests/it/containers.rs` compares the bytes. A process takes half a second, so
 * what all commands have in common is asked here in one.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gunzipSync, gzipSync } from "node:zlib";
import {
  analyze,
  analyzeFile,
  diffFile,
  growth,
  type Heap,
  openHeap,
  openHeapFile,
} from "@warpo/heap-analyzer";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect } from "./mcp/client.ts";
import { CLI, runIn } from "./support/command_line.ts";
import { dataOfReport } from "./support/report_data.ts";

const SAMPLES = join(import.meta.dirname, "programs/coredump");
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

/** The exit code and the output of the command line. */
function run(args: string[], input?: Uint8Array) {
  if (input === undefined) return runIn(folder, [...args, "--wasm", WASM]);
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...args, "--wasm", WASM], {
    input,
  });
  return { status, stdout: String(stdout), stderr: String(stderr) };
}

function output(args: string[], input?: Uint8Array): string {
  const { status, stdout, stderr } = run(args, input);
  expect(stderr).toBe("");
  expect(status).toBe(0);
  return stdout;
}

function failure(...args: string[]): string {
  const { status, stderr } = run(args);
  expect(status).toBe(1);
  return stderr;
}

/** The values as options of the command line. */
function globalOptions(...values: Record<string, number>[]): string[] {
  return INDEXES.flatMap((index) => [
    "--global",
    `${index}=${values.map((one) => one[index]).join(",")}`,
  ]);
}

describe("the API", () => {
  test.each([CORE, PACKED, join(SAMPLES, "ref.debug.dump.zst")])("reads %s", (file) => {
    const expected = JSON.stringify(analyzeFile(dump, WASM));
    expect(JSON.stringify(analyzeFile(file, WASM))).toBe(expected);
    const bytes = readFileSync(file);
    expect(JSON.stringify(analyze(bytes, readFileSync(WASM)))).toBe(expected);
    expect(diffFile(dump, file, WASM).totalLiveSizeDelta).toBe(0);
  });

  test("answers every question about each container as about the dump", async () => {
    const options = { raw: true, globals: GLOBALS };
    const heaps = [
      openHeapFile(dump, WASM),
      openHeapFile(CORE, WASM),
      openHeapFile(PACKED, WASM),
      openHeapFile(raw, WASM, options),
    ];
    const before = heaps[0] as Heap;
    const answers = (heap: Heap) => {
      const { trap, ...summary } = heap.summary();
      const { body: report } = dataOfReport(heap.report());
      const table = heap.placeTable();
      return JSON.stringify([
        summary,
        [heap.suspects(), heap.suspects({ before }), heap.find({ class: "prog/Item" })],
        [heap.paths({ class: "prog/Item" }), heap.dominators(), heap.dominators({ by: "class" })],
        [heap.waste(), heap.unreachable(), heap.object(0x260)],
        [report.cells, report.classes],
        growth([table, table, table]),
      ]);
    };
    const [expected, ...others] = heaps.map(answers);
    for (const other of others) expect(other).toBe(expected);
    const exported = (heap: Heap) =>
      Promise.all([buffer(heap.export("heapsnapshot")), buffer(heap.export("pprof"))]);
    const [ofDump, ...ofOthers] = await Promise.all(heaps.map(exported));
    for (const other of ofOthers) expect(other).toEqual(ofDump);
    for (const heap of heaps) heap.close();
  });

  test("reads a compressed heap snapshot, which has no module", async () => {
    const heap = openHeapFile(CORE, WASM);
    const snapshot = await buffer(heap.export("heapsnapshot"));
    heap.close();
    const packed = join(folder, "app.heapsnapshot.gz");
    writeFileSync(packed, gzipSync(snapshot));
    expect(analyzeFile(packed)).toEqual(analyze(snapshot));
    const withModule = () => analyzeFile(packed, WASM);
    expect(withModule).toThrow(expect.objectContaining({ code: "ERR_SNAPSHOT_WITH_MODULE" }));
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
  test("shows the frames of the trap in a summary", () => {
    const text = output(["summary", CORE]);
    expect(text).toContain("trap: 4 frames, the innermost first\n  at prog/fail [function 129");
  });

  test("reads raw memory from a file, and compressed from a pipe", () => {
    const heap = openHeapFile(dump, WASM);
    const expected = JSON.parse(JSON.stringify(heap.summary()));
    heap.close();
    const options = ["--raw", ...globalOptions(GLOBALS)];
    const args = ["summary", ...options, "--format", "json"];
    expect(JSON.parse(output([...args, raw]))).toEqual(expected);
    expect(JSON.parse(output([...args, "-"], gzipSync(MEMORY)))).toEqual(expected);
    // The next command has the values too.
    const next = `--raw --global 0=${GLOBALS[0]} --global 1=${GLOBALS[1]}`;
    expect(output(["suspects", ...options, raw])).toContain(next);
  });

  test("compares raw memories, each with its own values", () => {
    const options = ["--raw", "--format", "json"];
    const same = ["diff", raw, raw, ...options, ...globalOptions(GLOBALS, GLOBALS)];
    const { partial, warnings, ...ofNode } = diffFile(dump, dump, WASM);
    expect(JSON.parse(output(same))).toEqual(ofNode);
    // The collector's total is another value: a negative control.
    const growth = ["growth", raw, raw, ...options, "--warmup", "0"];
    const changed = run([...growth, ...globalOptions(GLOBALS, { ...GLOBALS, 1: 0 })]);
    expect(changed.stderr).toContain("the collector counts 0 bytes");
    expect(run([...growth, ...globalOptions(GLOBALS, GLOBALS)]).stderr).not.toContain(
      "the collector counts 0 bytes",
    );
    const text = failure("diff", raw, raw, "--raw", "--global", "0=1");
    expect(text).toContain("expected one value for each");
  });

  test("says what is wrong with the options", () => {
    expect(failure("summary", dump, "--global", "0=1")).toContain("needs --raw");
    for (const wrong of [
      "heap=x",
      "heap",
      "=1",
      "heap=",
      "heap=@5",
      "heap=1,-",
      "heap=4294967296",
    ]) {
      const text = failure("summary", raw, "--raw", "--global", wrong);
      expect(text, wrong).toContain("Expected the name or the index of a global");
    }
  });

  test("checks a coredump and dumps, and writes two into a report", () => {
    const budget = ["--no-default", "--max", "prog/Item=10"];
    const { status, stdout } = run(["check", CORE, PACKED, dump, ...budget]);
    expect(status).toBe(2);
    expect(stdout).toContain("prog/Item");
    const page = join(folder, "report.html");
    output(["report", CORE, "--before", dump, "--output", page]);
    const { body } = dataOfReport(readFileSync(page, "utf8"));
    expect(body.summary.trap.total).toBe(4);
  });
});

describe("the servers", () => {
  beforeAll(() => {
    for (const file of [CORE, PACKED]) copyFileSync(file, join(folder, basename(file)));
    copyFileSync(WASM, join(folder, "app.wasm"));
  });

  test("open coredumps, compressed dumps and raw memory", async () => {
    const session = await connect(["--root", folder]);
    const dumps = ["node.dump", "as.debug.core", "ref.debug.dump.gz"];
    const opened = await session.call("open_heaps", { dumps });
    const globals = INDEXES.map((index) => ({
      name: String(index),
      values: [GLOBALS[index] as number],
    }));
    const arguments_ = { dumps: ["app.raw"], raw: true, globals };
    const ofRaw = await session.call("open_heaps", arguments_);
    const heaps = [...opened.heaps, ...ofRaw.heaps];
    expect(heaps.length).toBe(4);
    expect(new Set(heaps.map(({ totalLiveSize }) => totalLiveSize)).size).toBe(1);
    const [first, core] = opened.details;
    expect(core.trap.frames[0]).toMatchObject({ function: "prog/fail", index: 129 });
    expect(first).not.toHaveProperty("trap");
    const rows = heaps.map(({ heap }) => session.call("classes", { heap }));
    const [expected, ...others] = (await Promise.all(rows)).map((answer) => answer.rows);
    for (const other of others) expect(other).toEqual(expected);
    // Without the values there are warnings, and the heap is another.
    const without = await session.call("open_heaps", { dumps: ["app.raw"], raw: true });
    expect(without.heaps[0].heap).not.toBe(ofRaw.heaps[0].heap);
    const codes = without.warnings.map(({ code }: { code: string }) => code);
    expect(codes).toContain("WARN_GLOBALS_MISSING");
    expect(await session.failure("open_heaps", { dumps: ["app.raw"] })).toContain("app.raw");
    const two = { dumps: ["app.raw", "app.raw"], raw: true, globals };
    expect(await session.failure("open_heaps", two)).toContain("expected one for each of 2 dumps");
    expect(await session.failure("open_heaps", { ...arguments_, raw: false })).toContain(
      "needs raw",
    );
    const missing = { dumps: ["as.debug.core"], coredumpInstance: 3 };
    expect(await session.failure("open_heaps", missing)).toContain("instance 3 is not one of them");
    await session.close();
  });

  test("count what a compressed dump unpacks to", async () => {
    const small = await connect(["--root", folder, "--memory", "200KiB"]);
    const refused = await small.failure("open_heaps", { dumps: ["ref.debug.dump.gz"] });
    expect(refused).toContain("start the server with a larger --memory");
    await small.close();
  });
});
