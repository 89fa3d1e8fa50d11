// Heaps of C and Rust programs that are compiled here. The programs log every block that they allocate or free, and say what
// becomes of some. Without the compiler, a test is skipped.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { WASI } from "node:wasi";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exposeGlobals, writeDump } from "../dist/capture.js";
import { analyze, openHeap } from "../dist/index.js";
import { runIn } from "./support/command_line.ts";
import { compileSource } from "./support/compile.ts";

const PROGRAMS = join(import.meta.dirname, "programs/native");
const ALLOCATING = ["malloc", "calloc", "realloc", "free"];
/** The fates that a program declares, as in truth.h. */
const FATES = ["leaked", "static", "stack", "interior", "register", "leaked cycle", "leaked owner"];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "native-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Not the `wasm-opt` of this project, which clang would run, and which removes names. */
const PATH = (process.env.PATH ?? "")
  .split(delimiter)
  .filter((part) => !part.includes("node_modules"))
  .join(delimiter);

const clang = (output: string, program: string, level: string) => {
  const run = (...args: string[]) =>
    spawnSync("clang", ["--target=wasm32-wasi", "-g", ...args], {
      cwd: PROGRAMS,
      env: { ...process.env, PATH },
      encoding: "utf8",
    });
  const objects = [program, "wrap"].map((name) => ({ name, object: `${output}.${name}.o` }));
  for (const { name, object } of objects) {
    const compiled = run("-c", level, "-fno-builtin-malloc", "-o", object, `${name}.c`);
    if (compiled.status !== 0) return compiled;
  }
  const wraps = ALLOCATING.map((name) => `-Wl,--wrap=${name}`);
  return run("-o", output, ...objects.map(({ object }) => object), ...wraps);
};

/** Runs a program of C until it asks for a dump. */
const run = (name: string, level: string) => {
  const file = join(folder, `${name}${level}.wasm`);
  expect(clang(file, name, level)).toMatchObject({ status: 0 });
  return dumped(file);
};

/** Runs a module until it asks for a dump. */
const dumped = (file: string) => {
  const wasm = readFileSync(file);
  const live = new Map<number, number>();
  const fates = new Map<number, string>();
  const dump = file.replace(/\.wasm$/, ".dump");
  let atDump = new Map<number, number>();
  const wasi = new WASI({ version: "preview1", args: ["guest"] });
  const imports = wasi.getImportObject() as WebAssembly.Imports;
  const truth = {
    alloc: (block: number, size: number) => live.set(block, size),
    freed: (block: number) => live.delete(block),
    fate: (block: number, fate: number) => fates.set(block, FATES[fate] as string),
    dump: () => {
      atDump = new Map(live);
      writeDump(instance.exports, dump);
    },
  };
  const module = new WebAssembly.Module(exposeGlobals(wasm));
  const instance = new WebAssembly.Instance(module, { ...imports, truth });
  if ("_start" in instance.exports) wasi.start(instance);
  else (instance.exports.run as () => void)();
  return { wasm, file, dump, live: atDump, fates };
};

const hasClang =
  spawnSync("clang", ["--target=wasm32-wasi", "-E", "-include", "stdlib.h", "-xc", "/dev/null"])
    .status === 0;

/** The address of the block that retains most. */
function largest(dump: string, file: string): number {
  const heap = openHeap(readFileSync(dump), readFileSync(file));
  const [first] = heap.find({ limit: 1 }).objects;
  heap.close();
  return first?.address ?? 0;
}

/** The blocks are exactly those of the log. */
function expectBlocksOfLog({ wasm, dump, live }: ReturnType<typeof dumped>) {
  const heap = openHeap(readFileSync(dump), wasm);
  expect(live.size).toBeGreaterThan(1000);
  expect(heap.summary().objects.live).toBe(live.size);
  for (const [block, requested] of live) {
    const { address, shallowSize } = heap.object(block);
    expect(address).toBe(block);
    // The header, and what rounding adds.
    expect(shallowSize).toBeGreaterThanOrEqual(requested + 4);
    expect(shallowSize).toBeLessThanOrEqual(requested + 4 + 28);
  }
  const constructors = analyze(readFileSync(dump), wasm);
  expect(JSON.stringify(constructors)).toContain("block of ");
  heap.close();
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
    for (const path of by("interior")) expect(path).toMatch(/^global static 0x[0-9a-f]+ > /);
    for (const path of by("stack")) expect(path).toMatch(/^stack/);
    heap.close();
  });

  test("fields of a condition are the offsets of references", () => {
    const { wasm, dump } = run("guest", level);
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

  test("commands work, but for those that need types or garbage", () => {
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
    for (const command of ["waste", "unreachable"]) {
      const { status, stderr } = runIn(folder, [command, dump, ...wasm]);
      expect(status).toBe(1);
      expect(stderr).toContain(`a heap of a native program cannot answer ${command}: `);
    }
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

test.skipIf(!hasClang)("a program whose allocator is not known is refused", () => {
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
  expect(() => openHeap(readFileSync(dump), wasm)).toThrow(
    expect.objectContaining({ code: "ERR_ALLOCATOR_UNKNOWN" }),
  );
});

/** A program of C with its dump, and the same module without names. */
const zeroed = () => {
  const [file, stripped] = ["zeroed.wasm", "stripped.wasm"].map((name) => join(folder, name)) as [
    string,
    string,
  ];
  for (const options of [
    ["-o", file],
    ["-Wl,--strip-all", "-o", stripped],
  ]) {
    const { status, stderr } = spawnSync(
      "clang",
      ["--target=wasm32-wasi", "-O2", "zeroed.c", ...options],
      { cwd: PROGRAMS, env: { ...process.env, PATH }, encoding: "utf8" },
    );
    expect(status, stderr).toBe(0);
  }
  return { ...dumped(file), stripped: readFileSync(stripped) };
};

test.skipIf(!hasClang)("with a module without names, a dump of C is refused, not empty", () => {
  const { wasm, dump, stripped } = zeroed();
  const bytes = readFileSync(dump);
  const heap = openHeap(bytes, wasm);
  expect(heap.find({ limit: 1 }).total).toBe(100);
  heap.close();
  for (const options of [{}, { partial: true }, { force: true }]) {
    expect(() => analyze(bytes, stripped, options)).toThrow(
      expect.objectContaining({ code: "ERR_ALLOCATOR_UNKNOWN" }),
    );
  }
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
