// Profiles of programs without names, compiled from source here. Without the compiler, a test is skipped.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import binaryen from "binaryen";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { instrument } from "../dist/profile.js";
import { ENVIRONMENT, failureOf, outputOf, runIn } from "./support/command_line.ts";
import { decoded } from "./support/pprof.ts";

const PROGRAMS = join(import.meta.dirname, "programs/profile");

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "profile-unnamed-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Not the `wasm-opt` of this project, which clang would run. */
const PATH = (process.env.PATH ?? "")
  .split(delimiter)
  .filter((part) => !part.includes("node_modules"))
  .join(delimiter);

function compiled(command: string, args: string[], output: string): boolean {
  const env = { ...process.env, PATH };
  return spawnSync(command, [...args, "-o", output], { cwd: PROGRAMS, env }).status === 0;
}

const CLANG = ["--target=wasm32-wasi", "-Wl,--strip-all"];
const EMCC = ["-sSTANDALONE_WASM"];
/** Whether a compiler makes a program here. */
function has(command: string, args: string[], program = "unnamed.c"): boolean {
  const output = join(tmpdir(), `has-${command}-${process.pid}.wasm`);
  const made = compiled(command, [...args, program], output);
  rmSync(output, { force: true });
  return made;
}
const hasClang = has("clang", CLANG);
const hasEmcc = has("emcc", EMCC);
const RUST = ["--target=wasm32-unknown-unknown", "--crate-type=cdylib", "-Cstrip=symbols"];
const hasRust = has("rustc", RUST, "leak.rs");
if (!hasClang) console.warn("there is no clang for wasm32-wasi: its programs are not profiled");
if (!hasEmcc) console.warn("there is no emcc (Debian: emscripten): its programs are not profiled");
if (!hasRust)
  console.warn("there is no rustc for wasm32-unknown-unknown: its programs are not profiled");

/** The module without its section of names. */
function withoutNames(wasm: Buffer): Uint8Array {
  const module = binaryen.readBinary(wasm);
  binaryen.setDebugInfo(false);
  module.runPasses(["strip-debug"]);
  return module.emitBinary();
}

function checkProgram(wasm: string): void {
  const heap = `${wasm}.pb.gz`;
  const args = ["profile", "--heap", heap, "--interval", "1", wasm, "argument"];
  expect(outputOf(runIn(folder, args))).toBe("done argument\n");
  const values = decoded(readFileSync(heap)).samples.map((sample) => sample.values);
  expect(values).toContainEqual([1000, 56_000, 1000, 56_000]); // malloc
  expect(values).toContainEqual([1000, 151_500, 0, 0]); // calloc
  expect(values).toContainEqual([1000, 500_000, 0, 0]); // realloc
  expect(values).toContainEqual([1, 1000, 1, 1000]); // posix_memalign
}

describe("an allocator is found by what it does", () => {
  test.skipIf(!hasClang).each(["-O0", "-O1", "-O2", "-Os"])("clang %s", (level) => {
    const wasm = join(folder, `clang${level}.wasm`);
    expect(compiled("clang", [...CLANG, level, "unnamed.c"], wasm)).toBe(true);
    checkProgram(wasm);
  });

  test.skipIf(!hasRust).each(["0", "1", "2", "3", "s", "z"])("Rust, opt-level %s", (level) => {
    const wasm = join(folder, `rust-${level}.wasm`);
    const heap = `${wasm}.pb.gz`;
    expect(compiled("rustc", [...RUST, `-Copt-level=${level}`, "leak.rs"], wasm)).toBe(true);
    expect(
      WebAssembly.Module.customSections(new WebAssembly.Module(readFileSync(wasm)), "name"),
    ).toEqual([]);
    const args = ["profile", "--heap", heap, "--interval", "1", "--invoke", "run", wasm, "1000"];
    outputOf(runIn(folder, args));
    const values = decoded(readFileSync(heap)).samples.map((sample) => sample.values);
    expect(values).toContainEqual([1000, 56_000, 1000, 56_000]); // leak
    expect(values).toContainEqual([1000, 50_500, 0, 0]); // freed
    expect(values).toContainEqual([1000, 500_000, 0, 0]); // moved
  });

  test.skipIf(!hasClang)("clang, with malloc exported and all else without a name", () => {
    const wasm = join(folder, "exported.wasm");
    const made = compiled("clang", [...CLANG, "-O2", "-Wl,--export=malloc", "unnamed.c"], wasm);
    expect(made).toBe(true);
    checkProgram(wasm);
  });

  test.skipIf(!hasEmcc).each(["-O1", "-O2", "-O3", "-Os"])(
    "emcc %s",
    (level) => {
      const wasm = join(folder, `emcc${level}.wasm`);
      expect(compiled("emcc", [...EMCC, level, "unnamed.c"], wasm)).toBe(true);
      checkProgram(wasm);
    },
    120_000,
  );

  test.skipIf(!hasEmcc).each(["-O0", "-O1", "-O2", "-O3", "-Os"])(
    "emcc %s with emmalloc",
    (level) => {
      const wasm = join(folder, `emmalloc${level}.wasm`);
      const args = [...EMCC, "-sMALLOC=emmalloc", level, "unnamed.c"];
      expect(compiled("emcc", args, wasm)).toBe(true);
      writeFileSync(wasm, withoutNames(readFileSync(wasm)));
      checkProgram(wasm);
    },
    120_000,
  );

  test.skipIf(!hasEmcc)(
    "but emmalloc not if a part of it was copied into the program",
    () => {
      const wasm = join(folder, "copied-emmalloc.wasm");
      const args = [...EMCC, "-sMALLOC=emmalloc", "-O2", "freed_once.c"];
      expect(compiled("emcc", args, wasm)).toBe(true);
      const module = binaryen.readBinary(readFileSync(wasm));
      binaryen.setOneCallerInlineMaxSize(100_000);
      module.runPasses(["inlining"]);
      expect(() => instrument(module.emitBinary())).toThrow(/emmalloc without names, and /);
    },
    120_000,
  );

  test.skipIf(!hasClang)("and a program that computes as emmalloc does has no allocator", () => {
    const wasm = join(folder, "like.wasm");
    const flags = ["--target=wasm32", "-nostdlib", "-O1", "-Wl,--no-entry", "-Wl,--strip-all"];
    expect(compiled("clang", [...flags, "like_emmalloc.c"], wasm)).toBe(true);
    expect(() => instrument(readFileSync(wasm))).toThrow(/no function of an allocator/);
  });

  test.skipIf(!hasClang)("but not if an optimiser copied a part of it into the program", () => {
    const wasm = join(folder, "copied.wasm");
    expect(compiled("clang", [...CLANG, "-O2", "leak.c"], wasm)).toBe(true);
    const module = binaryen.readBinary(readFileSync(wasm));
    // What is called once is copied into its caller, however large it is.
    binaryen.setOneCallerInlineMaxSize(100_000);
    module.runPasses(["inlining"]);
    writeFileSync(wasm, module.emitBinary());
    expect(() => instrument(readFileSync(wasm))).toThrow(
      /dlmalloc without names, and function \d+, which works with its state/,
    );
  });
});

const READS_PATH = `
#include <stdio.h>
#include <stdlib.h>
int main(void) { puts(getenv("PATH") ? getenv("PATH") : "none"); return 0; }`;

/** Takes memory by itself, and never calls the `malloc` that it exports. */
const OWN_ALLOCATOR = `
__attribute__((export_name("malloc"))) void *unused(unsigned long size) { return (void *)size; }
__attribute__((export_name("grow"))) int grow(void) { return __builtin_wasm_memory_grow(0, 2); }
__attribute__((export_name("rest"))) int rest(void) { return 1; }`;

describe.skipIf(!hasEmcc)("names of functions from a file", () => {
  const wasm = () => join(folder, "named.wasm");
  const profiled = (...more: string[]) => {
    const heap = join(folder, "named.pb.gz");
    const run = runIn(folder, ["profile", "--heap", heap, "--interval", "1", ...more, wasm()]);
    return { run, frames: () => decoded(readFileSync(heap)).samples.flatMap(({ stack }) => stack) };
  };

  test("a symbol map names them, and one of another module is refused", () => {
    const output = join(folder, "named.js");
    const args = ["-O1", "-sSTANDALONE_WASM", "--emit-symbol-map", "unnamed.c"];
    expect(compiled("emcc", args, output)).toBe(true);
    const symbols = `${output}.symbols`;
    const plain = profiled();
    expect(outputOf(plain.run)).toBe("done \n");
    expect(plain.frames().some((frame) => frame.startsWith("wasm-function["))).toBe(true);
    const named = profiled("--symbols", symbols);
    expect(outputOf(named.run)).toBe("done \n");
    expect(named.frames().some((frame) => frame.startsWith("main "))).toBe(true);
    expect(named.frames().some((frame) => frame.startsWith("wasm-function["))).toBe(false);

    const other = join(folder, "other.symbols");
    writeFileSync(other, readFileSync(symbols, "utf8").split("\n").slice(0, 10).join("\n"));
    expect(failureOf(profiled("--symbols", other).run)).toMatch(/it is of another module/);
    writeFileSync(other, "a text without names");
    expect(failureOf(profiled("--symbols", other).run)).toMatch(/neither lines like 12:main nor/);
  }, 120_000);
});

describe.skipIf(!hasClang)("a program of its own", () => {
  const heap = () => join(folder, "own.pb.gz");
  const made = (source: string, ...flags: string[]) => {
    writeFileSync(join(folder, "own.c"), source);
    const wasm = join(folder, "own.wasm");
    const all = ["--target=wasm32-wasi", "-O1", ...flags, join(folder, "own.c")];
    expect(compiled("clang", all, wasm)).toBe(true);
    return wasm;
  };

  test("sees only the variables of the environment that it is given", () => {
    const wasm = made(READS_PATH);
    const run = (...more: string[]) => runIn(folder, ["profile", "--heap", heap(), ...more, wasm]);
    const printed = (...more: string[]) => run(...more).stdout;
    expect(printed()).toBe("none\n");
    expect(printed("--env", "PATH")).toBe(`${ENVIRONMENT.PATH}\n`);
    expect(printed("--env", "PATH=a=b")).toBe("a=b\n");
    expect(failureOf(run("--env", "UNSET"))).toMatch(/UNSET is not set: expected UNSET=<value>/);
  });

  test("whose memory grows although no function that was found ran is an error", () => {
    const wasm = made(OWN_ALLOCATOR, "-nostartfiles", "-Wl,--no-entry");
    const run = (invoked: string) =>
      runIn(folder, ["profile", "--heap", heap(), "--invoke", invoked, wasm]);
    expect(failureOf(run("grow"))).toMatch(
      /no allocation was recorded, but the program's memory grew by 131072 bytes.*malloc/,
    );
    const quiet = run("rest");
    expect(quiet.status).toBe(0);
    expect(quiet.stderr).toMatch(/^note: no allocation was recorded: .*malloc/);
  });
});
