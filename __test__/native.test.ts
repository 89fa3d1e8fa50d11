// Heaps of C and Rust programs that are compiled here. The programs log every block that they allocate or free, and say what
// becomes of some. Without the compiler, a test is skipped.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WASI } from "node:wasi";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exposeGlobals, writeDump } from "../dist/capture.js";
import { analyze, openHeap } from "../dist/index.js";
import { runIn } from "./support/command_line.ts";
import { compileSource } from "./support/compile.ts";
import {
  clang,
  dumped,
  expectBlocksOfLog,
  hasClang,
  type NativeGuest,
  PATH,
  PROGRAMS,
  stripped,
} from "./support/native_program.ts";
import { systemImports } from "./support/wasi.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "native-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a program of C until it asks for a dump. */
const run = (name: string, level: string) => {
  const file = join(folder, `${name}${level}.wasm`);
  expect(clang(file, name, level)).toMatchObject({ status: 0 });
  return dumped(file);
};

/** The address of the block that retains most. */
function largest(dump: string, file: string): number {
  const heap = openHeap(readFileSync(dump), readFileSync(file));
  const [first] = heap.find({ limit: 1 }).objects;
  heap.close();
  return first?.address ?? 0;
}

describe.skipIf(!hasClang).each(["-O0", "-O2"])("clang %s", (level) => {
  test.each(["guest", "multi"])("%s: the blocks are those of the log", (name) => {
    expectBlocksOfLog(run(name, level));
  });

  test("what nothing refers to is what the program leaks", () => {
    const { wasm, dump, fates } = run("guest", level);
    const heap = openHeap(readFileSync(dump), wasm);
    const kinds = new Map([...fates.keys()].map((block) => [block, heap.paths(block).path?.text]));
    const by = (fate: string) =>
      [...fates].filter(([, found]) => found === fate).map(([block]) => kinds.get(block) ?? "");
    for (const fate of ["leaked", "leaked cycle", "leaked owner"]) {
      expect(by(fate).length).toBeGreaterThan(0);
      for (const path of by(fate)) expect(path).toMatch(/^unreferenced > /);
    }
    for (const path of by("interior")) expect(path).toMatch(/^global static inside > /);
    for (const path of by("stack")) expect(path).toMatch(/^stack/);
    heap.close();
  });

  test("without debug information, fields of a condition are the offsets of references", () => {
    const { file, dump } = run("guest", level);
    const wasm = readFileSync(stripped(file));
    const heap = openHeap(readFileSync(dump), wasm);
    const found = heap.find({ where: 'this["+0x0"] != null', limit: 1000 });
    expect(found.total).toBeGreaterThan(0);
    expect(found.where).toMatchObject({
      examined: heap.summary().objects.live,
      withoutField: heap.summary().objects.live - found.total,
      failed: [],
    });
    const all = heap.find({ limit: 10_000 }).objects.map(({ address }) => address);
    const holders = (block: number) =>
      heap
        .referrers(block, { limit: 1000 })
        .referrers.filter(({ label }) => label === "+0x0")
        .map(({ address }) => address);
    const [target] = all.filter((block) => holders(block).length > 0);
    const same = heap.find({ where: `this["+0x0"] == ${target}`, limit: 1000 }).objects;
    expect(same.map(({ address }) => address).sort()).toEqual(holders(target as number).sort());
    expect(heap.find({ where: "shallowSize > 100 && retainedSize > 1000" }).total).toBe(
      heap.find({ where: "shallowSize > 100", minSize: 1001 }).total,
    );
    const unknown = () => heap.find({ where: "open == false" });
    expect(unknown).toThrow(/character 1: found open, which is neither a field/);
    heap.close();
  });

  test("commands work; waste needs debug information", () => {
    const { file, dump } = run("guest", level);
    const wasm = ["--wasm", file];
    const address = `0x${largest(dump, file).toString(16)}`;
    const output = (name: string) => ["--output", join(folder, name)];
    const commands = [
      ["analyze", dump],
      ["diff", dump, dump],
      ["summary", dump],
      ["suspects", dump],
      ["suspects", dump, "--before", dump],
      ["growth", dump, dump, dump],
      ["find", dump, "--class", "block of *"],
      ["paths", dump, "--object", address],
      ["paths", dump, "--class", "block of *"],
      ["object", dump, address],
      ["referrers", dump, address],
      ["dominators", dump, address],
      ["unreachable", dump],
      ["waste", dump],
      ["report", dump, "--before", dump, ...output("report.html")],
      ["export", dump, "--to", "heapsnapshot", ...output("x.heapsnapshot")],
      ["export", dump, "--to", "pprof", ...output("x.pb.gz")],
      ["export", dump, dump, "--to", "heap-diff", ...output("x.ndjson")],
      ["export", dump, "--to", "parquet", "--captured-at", "file-time", ...output("tables")],
    ];
    for (const command of commands) {
      const result = runIn(folder, [...command, ...wasm]);
      expect(result, `${command[0]}: ${result.stderr}`).toMatchObject({ status: 0 });
    }
    const { stdout } = runIn(folder, ["summary", dump, ...wasm]);
    expect(stdout).toMatch(/^roots \d+ global, \d+ stack, [1-9]\d* unreferenced$/m);
    const { status, stderr } = runIn(folder, ["waste", dump, "--wasm", stripped(file)]);
    expect(status).toBe(1);
    expect(stderr).toContain("a heap of a native program cannot answer waste: ");
  });
});

const rust = (rustc: string, target: string, level: string, output: string) =>
  spawnSync(rustc, ["-g", `-Copt-level=${level}`, `--target=${target}`, "guest.rs", "-o", output], {
    cwd: PROGRAMS,
    encoding: "utf8",
  });

test.skipIf(!hasClang)("a dump of another program is refused, unless that is tolerated", () => {
  const { dump } = run("guest", "-O0");
  const other = run("multi", "-O0").wasm;
  const bytes = readFileSync(dump);
  expect(() => openHeap(bytes, other)).toThrow(
    expect.objectContaining({ code: "ERR_MODULE_MISMATCH" }),
  );
  const heap = openHeap(bytes, other, { force: true });
  expect(heap.warnings.map(({ code }) => code)).toContain("WARN_MODULE_MISMATCH");
  heap.close();
});

test.skipIf(!hasClang)("a program without an allocator has no blocks, which is said", () => {
  const file = join(folder, "none.wasm");
  const options = ["-nostdlib", "-Wl,--no-entry", "-Wl,--export=run"];
  const args = ["--target=wasm32", "-O1", ...options, "none.c", "-o", file];
  const { status, stderr } = spawnSync("clang", args, {
    cwd: PROGRAMS,
    env: { ...process.env, PATH },
    encoding: "utf8",
  });
  expect(status, stderr).toBe(0);
  const { wasm, dump } = dumped(file);
  const heap = openHeap(readFileSync(dump), wasm);
  expect(heap.summary().objects.live).toBe(0);
  expect(heap.warnings.map(({ code }) => code)).toContain("WARN_NO_ALLOCATOR");
  heap.close();
});

describe.skipIf(!hasClang).each(["-O0", "-O2"])("clang %s, without names", (level) => {
  test("the module is exposed, and has the same blocks and roots", () => {
    const named = run("guest", level);
    const guest = dumped(stripped(named.file));
    expect(Buffer.from(guest.wasm).includes("__stack_pointer")).toBe(false);
    expectBlocksOfLog(guest);
    const [full, bare] = [named, guest].map(({ dump, wasm }) => {
      const heap = openHeap(readFileSync(dump), wasm);
      const { roots, unreferenced } = heap.summary();
      const codes = heap.warnings.map(({ code }) => code);
      heap.close();
      return { roots, unreferenced, codes };
    });
    // Without debug information there are no types to guess.
    const codes = full?.codes.filter((code) => code !== "WARN_TYPE_GUESSED");
    expect(bare).toEqual({ ...full, codes });
  });
});

test.skipIf(!hasClang)("without names, blocks of zeros are no heap of AssemblyScript", () => {
  const file = join(folder, "zeroed.wasm");
  const args = ["--target=wasm32-wasi", "-O2", "zeroed.c", "-Wl,--strip-all", "-o", file];
  const { status, stderr } = spawnSync("clang", args, {
    cwd: PROGRAMS,
    env: { ...process.env, PATH },
    encoding: "utf8",
  });
  expect(status, stderr).toBe(0);
  const { wasm, dump } = dumped(file);
  const heap = openHeap(readFileSync(dump), wasm);
  expect(heap.find({ limit: 1 }).total).toBe(100);
  heap.close();
});

test.skipIf(!hasClang)("a heap that the program damaged is refused, also without names", () => {
  const { file, dump, live } = run("guest", "-O0");
  const bytes = readFileSync(dump);
  const memory = bytes.length % 65536;
  const blocks = [...live.keys()].sort((one, other) => one - other);
  const damaged = blocks[500] as number;
  bytes.writeUInt32LE(0x1234_5672, memory + damaged - 4);
  for (const module of [file, stripped(file)]) {
    expect(() => openHeap(bytes, readFileSync(module))).toThrow(
      expect.objectContaining({ code: "ERR_HEAP_CORRUPT" }),
    );
    // The blocks before the damage are known.
    const heap = openHeap(bytes, readFileSync(module), { partial: true });
    const found = heap.find({ limit: 1000 }).objects.map(({ address }) => address);
    expect(found.sort((one, other) => one - other)).toEqual(blocks.slice(0, 500));
    expect(heap.warnings.map(({ code }) => code)).toContain("WARN_PARTIAL");
    heap.close();
  }
});

test.skipIf(!hasClang)(
  "an allocator of the program in a block is a warning, numbers are none",
  () => {
    const [arena, numbers] = ["-DARENA", "-DNUMBERS"].map((definition) => {
      const { wasm, dump } = run("arena", definition);
      const heap = openHeap(readFileSync(dump), wasm);
      const { warnings } = heap;
      heap.close();
      return warnings.filter(({ code }) => code === "WARN_NESTED_ALLOCATOR");
    });
    expect(arena?.[0]?.message).toMatch(/^1 block\(s\) with 10485\d\d bytes, the first at 0x/);
    expect(numbers).toEqual([]);
  },
);

test.skipIf(!hasClang)(
  "between two calls, no frame is active, and a library says who may hold its blocks",
  () => {
    const codesOf = ({ wasm, dump }: NativeGuest) => {
      const heap = openHeap(readFileSync(dump), wasm);
      const codes = heap.warnings.map(({ code }) => code);
      heap.close();
      return codes;
    };
    // The program asks for the dump in main, and leaks less than half of its blocks.
    const command = codesOf(run("guest", "-O0"));
    expect(command).toContain("WARN_FRAMES_ACTIVE");
    expect(command).not.toContain("WARN_HOST_ROOTS_UNKNOWN");
    const file = join(folder, "library.wasm");
    const options = ["-mexec-model=reactor", "-Wl,--export=make,--export=__data_end"];
    const args = ["--target=wasm32-wasi", "-O1", "library.c", ...options, "-o", file];
    const env = { ...process.env, PATH };
    const compiled = spawnSync("clang", args, { cwd: PROGRAMS, env, encoding: "utf8" });
    expect(compiled.status, compiled.stderr).toBe(0);
    const wasm = readFileSync(file);
    const wasi = new WASI({ version: "preview1" });
    const module = new WebAssembly.Module(exposeGlobals(wasm));
    const instance = new WebAssembly.Instance(module, systemImports(wasi));
    wasi.initialize(instance);
    const make = instance.exports.make as (size: number) => number;
    const dump = join(folder, "library.dump");
    const held = [make(40), make(50)] as [number, number];
    writeDump(instance.exports, dump);
    const guest = { wasm, dump } as unknown as NativeGuest;
    expect(codesOf(guest)).toEqual(["WARN_CONSERVATIVE", "WARN_HOST_ROOTS_UNKNOWN"]);
    writeDump(instance.exports, dump, { hostRoots: { first: held[0], "the second": held[1] } });
    expect(codesOf(guest)).toEqual(["WARN_CONSERVATIVE"]);
    const heap = openHeap(readFileSync(dump), wasm);
    expect(heap.paths(held[1]).path?.root).toEqual({ kind: "host", name: "the second" });
    expect(heap.summary().unreferenced).toEqual({ count: 0, shallowSize: 0, entries: 0 });
    heap.close();
  },
);

test.skipIf(!hasClang)("pointers of the host are roots, in the dump or beside it", () => {
  const { wasm, dump, fates } = run("guest", "-O0");
  const [leaked] = [...fates].find(([, fate]) => fate === "leaked") as [number, string];
  const bytes = readFileSync(dump);
  const before = openHeap(bytes, wasm);
  const count = before.summary().unreferenced?.count as number;
  expect(before.paths(leaked).path?.text).toMatch(/^unreferenced > /);
  before.close();
  const open = (hostRoots: Record<string, number> | number[]) =>
    openHeap(bytes, wasm, { hostRoots });
  const named = open({ parser: leaked + 8 });
  expect(named.paths(leaked).path?.root).toEqual({ kind: "host", name: "parser" });
  expect(named.summary()).toMatchObject({ roots: { host: 1 }, unreferenced: { count: count - 1 } });
  named.close();
  const wrong = open([4]);
  expect(wrong.warnings.map(({ code }) => code)).toContain("WARN_HOST_ROOT_ELSEWHERE");
  expect(wrong.summary().unreferenced?.count).toBe(count);
  wrong.close();
});

test.each([["-O0"], ["-O3"]])(
  "a program of AssemblyScript without names, compiled with %s, that has allocated nothing, is empty",
  async (level) => {
    const source = "export function make(): Array<i32> { return new Array<i32>(4); }";
    const options = { transform: false, exportRuntime: false };
    const { wasm } = await compileSource("idle", source, [level], options);
    const module = new WebAssembly.Module(exposeGlobals(wasm));
    const env = { abort: () => {} };
    const { exports } = new WebAssembly.Instance(module, { env });
    const dump = join(folder, "idle.dump");
    writeDump(exports, dump);
    expect(analyze(readFileSync(dump), wasm)).toMatchObject({ totalLiveSize: 0, constructors: [] });
    (exports.make as () => number)();
    writeDump(exports, dump);
    expect(() => analyze(readFileSync(dump), wasm)).not.toThrow();
  },
);

const SAMPLES = join(import.meta.dirname, "samples/warpo-february");

test.each(readdirSync(SAMPLES).filter((name) => !name.includes(".")))(
  "the heap of %s is one of AssemblyScript, also without names",
  (sample) => {
    const files = readdirSync(join(SAMPLES, sample));
    const unpacked = (end: string) => {
      const name = files.find((file) => file.endsWith(end)) as string;
      return gunzipSync(readFileSync(join(SAMPLES, sample, name)));
    };
    const file = join(folder, `${sample}.wasm`);
    writeFileSync(file, unpacked(".wasm.gz"));
    const dump = unpacked(".dump.gz");
    const live = openHeap(dump, readFileSync(file));
    const expected = live.summary();
    live.close();
    expect(expected).not.toHaveProperty("unreferenced");
    const open = () => openHeap(dump, readFileSync(stripped(file)));
    // Its header has no boundaries, and only a name says where the heap begins.
    if (sample === "refused-no-stack-pointer-O3") {
      expect(open).toThrow(/the heap is corrupt .* the allocator's tail pointer/);
      return;
    }
    const heap = open();
    const found = heap.summary();
    heap.close();
    expect(found).not.toHaveProperty("unreferenced");
    expect(found.totalLiveSize).toBe(expected.totalLiveSize);
  },
);

/** The newest Rust of this machine, and that of Debian. */
const RUSTS = ["rustc", "/usr/bin/rustc"].flatMap((rustc) =>
  ["wasm32-unknown-unknown", "wasm32-wasi"].map((target) => ({ rustc, target })),
);

describe.each(RUSTS)("$rustc, $target", ({ rustc, target }) => {
  test.for(["0", "2"])("-Copt-level=%s: the blocks are those of the log", (level, context) => {
    const file = join(folder, `${rustc.replaceAll("/", "")}-${target}-${level}.wasm`);
    const { status, stderr } = rust(rustc, target, level, file);
    const isMissing = status === null || /E0463|could not find specification/.test(stderr);
    context.skip(isMissing, `there is no ${rustc} for ${target}`);
    expect(status, stderr).toBe(0);
    const guest = dumped(file);
    expectBlocksOfLog(guest);
    const heap = openHeap(readFileSync(guest.dump), guest.wasm);
    const leaked = [...guest.fates].filter(([, fate]) => fate.startsWith("leaked"));
    expect(leaked.length).toBeGreaterThan(0);
    for (const [block] of leaked) {
      expect(heap.paths(block).path?.text).toMatch(/^unreferenced > /);
    }
    heap.close();
  });
});
