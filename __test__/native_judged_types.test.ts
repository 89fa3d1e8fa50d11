/**
 * Random programs of C, C++ and Rust that log the type of every block: no type that the analyzer finds contradicts the log, and
 * most blocks to which something refers have one. `npm run test:full -- native` makes many programs; a part of them is in
 * native_types.test.ts.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PATH, PROGRAMS } from "./support/native_program.ts";
import { randomCProgram } from "./support/random_c_program.ts";
import { randomCppProgram } from "./support/random_cpp_program.ts";
import { randomRustProgram } from "./support/random_rust_program.ts";
import { dumpedWithTypes, judgedTypes, type TypedSums } from "./support/typed_guest.ts";

const PROGRAMS_OF_EACH = Number(process.env.TEST_NATIVE_PROGRAMS ?? 12);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "native-judged-types-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const started = (program: string, args: string[]) => {
  // The caches of Zig are those of the tests of the profiler.
  const cache = join(tmpdir(), "heap-analyzer-zig");
  const caches = { ZIG_GLOBAL_CACHE_DIR: cache, ZIG_LOCAL_CACHE_DIR: cache };
  return spawnSync(program, args, {
    cwd: PROGRAMS,
    env: { ...process.env, PATH, ...caches },
    encoding: "utf8",
  });
};

interface Compiler {
  name: string;
  /** The ending of a source. */
  ending: string;
  program: (seed: number) => string;
  command: string[];
  levels: string[];
}

const INCLUDE = `-I${PROGRAMS}`;
const STANDALONE = ["-sSTANDALONE_WASM", "-sALLOW_MEMORY_GROWTH"];
const EMXX = [...STANDALONE, "-sERROR_ON_UNDEFINED_SYMBOLS=0", "-std=c++17", "-fno-exceptions"];
const RUSTC = ["-g", "--edition=2021", "--crate-name=random", "--target=wasm32-unknown-unknown"];
const ZIG = ["python3", "-m", "ziglang", "c++", "--target=wasm32-wasi", "-std=c++17"];
const COMPILERS: Compiler[] = [
  {
    name: "clang",
    ending: "c",
    program: randomCProgram,
    command: ["clang", "--target=wasm32-wasi", "-g", INCLUDE],
    levels: ["-O0", "-O2"],
  },
  {
    name: "em++",
    ending: "cpp",
    program: randomCppProgram,
    command: ["em++", "-g", ...EMXX, INCLUDE],
    levels: ["-O0", "-O2"],
  },
  {
    name: "zig c++",
    ending: "cpp",
    program: randomCppProgram,
    command: [...ZIG, "-g", "-fno-exceptions", INCLUDE],
    levels: ["-O0", "-O2"],
  },
  {
    name: "rustc",
    ending: "rs",
    program: randomRustProgram,
    command: ["rustc", ...RUSTC],
    levels: ["-Copt-level=0", "-Copt-level=2"],
  },
  {
    name: "Debian's rustc",
    ending: "rs",
    program: randomRustProgram,
    command: ["/usr/bin/rustc", ...RUSTC],
    levels: ["-Copt-level=0", "-Copt-level=2"],
  },
];

/** Whether a compiler can make a module of an empty program. */
const isHere = ({ command, ending }: Compiler) => {
  const temporary = mkdtempSync(join(tmpdir(), "native-judged-types-"));
  const source = join(temporary, `empty.${ending}`);
  writeFileSync(source, ending === "rs" ? "fn main() {}" : "int main(void) { return 0; }");
  const [program, ...args] = command;
  const { status } = started(program as string, [...args, source, "-o", `${source}.wasm`]);
  rmSync(temporary, { recursive: true });
  return status === 0;
};
const isAskedFor = process.env.TEST_NATIVE !== undefined;

describe.each(COMPILERS)("$name", (compiler) => {
  const levels = test.skipIf(!isAskedFor || !isHere(compiler));
  levels.each(compiler.levels)("%s: no type contradicts what random programs log", (level) => {
    const total: TypedSums = { blocks: 0, bytes: 0, typedBlocks: 0, typedBytes: 0 };
    const wrong: string[] = [];
    for (let seed = 1; seed <= PROGRAMS_OF_EACH; seed++) {
      const source = join(folder, `random${seed}.${compiler.ending}`);
      writeFileSync(source, compiler.program(seed));
      const wasm = join(folder, `random${seed}.wasm`);
      const [program, ...args] = compiler.command;
      const made = started(program as string, [...args, level, source, "-o", wasm]);
      expect(made.status, made.stderr).toBe(0);
      const judged = judgedTypes(dumpedWithTypes(wasm));
      wrong.push(...judged.wrong.map((text) => `program ${seed}: ${text}`));
      for (const key of Object.keys(total) as (keyof TypedSums)[]) total[key] += judged.sums[key];
    }
    const share = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)} %`;
    console.info(
      `${compiler.name} ${level}: of ${total.blocks} referenced blocks, ` +
        `${share(total.typedBlocks, total.blocks)} have types, ` +
        `and ${share(total.typedBytes, total.bytes)} of their bytes`,
    );
    expect(wrong).toEqual([]);
    // The programs of C++ lose blocks that they take out of containers: only old words refer to these.
    const [blocks, bytes] = compiler.ending === "cpp" ? [0.85, 0.8] : [0.95, 0.95];
    expect(total.typedBlocks / total.blocks).toBeGreaterThan(blocks);
    expect(total.typedBytes / total.bytes).toBeGreaterThan(bytes);
  });
});
