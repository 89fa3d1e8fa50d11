/** The builds of the random native program: compilers, levels of optimisation, allocators. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { delimiter, resolve } from "node:path";
import { exposeGlobals } from "@warpo/heap-analyzer/capture";
import type { Allocator } from "./judge.ts";

/** A compiled program. */
export interface Build {
  name: string;
  allocator: Allocator;
  wasm: Uint8Array<ArrayBuffer>;
  module: WebAssembly.Module;
}

export interface BuildKind {
  name: string;
  level: string;
  allocator: Allocator;
  /** Makes the module, or says why that cannot be done here. */
  compile: (wasm: string, level: string, allocator: Allocator) => string | undefined;
}

// The bundled judge is at the same depth.
const ROOT = resolve(import.meta.dirname, "../..");
const PROGRAM = resolve(ROOT, "__test__/programs/native/random.c");
const OUTPUT = resolve(ROOT, "build/random_native");
const LEVELS = ["-O0", "-O1", "-O2", "-O3"];
const DLMALLOC = { name: "dlmalloc", overhead: 4, mostRounding: 28 };
/** What emmalloc leaves out in front of an aligned block becomes a part of the block before it. */
const EMMALLOC = { name: "emmalloc", overhead: 8, mostRounding: 1024 };

/** Not the `wasm-opt` of this project, which compilers would run, and which removes names. */
const PATH = (process.env.PATH ?? "")
  .split(delimiter)
  .filter((part) => !part.includes("node_modules"))
  .join(delimiter);

/** Runs the commands. Returns why they failed. */
function run(commands: string[][]): string | undefined {
  for (const [program, ...args] of commands) {
    const { error, status, stderr } = spawnSync(program as string, args, {
      env: { ...process.env, PATH },
      encoding: "utf8",
    });
    if (error !== undefined) return `there is no ${program}`;
    if (status !== 0) return stderr;
  }
}

function clang(wasm: string, level: string): string | undefined {
  const object = `${wasm}.o`;
  const common = ["clang", "--target=wasm32-wasi"];
  return run([
    [...common, "-c", level, "-o", object, PROGRAM],
    [...common, "-mexec-model=reactor", "-o", wasm, object],
  ]);
}

function emcc(wasm: string, level: string, allocator: Allocator): string | undefined {
  const settings = ["-sSTANDALONE_WASM", "-sALLOW_MEMORY_GROWTH", `-sMALLOC=${allocator.name}`];
  const names = ["--profiling-funcs", "-sERROR_ON_UNDEFINED_SYMBOLS=0", "--no-entry"];
  return run([["emcc", level, ...settings, ...names, "-o", wasm, PROGRAM]]);
}

export const BUILD_KINDS: BuildKind[] = LEVELS.flatMap((level) => [
  { name: `clang${level}`, level, allocator: DLMALLOC, compile: clang },
  { name: `emcc${level}`, level, allocator: DLMALLOC, compile: emcc },
  { name: `emcc-emmalloc${level}`, level, allocator: EMMALLOC, compile: emcc },
]);

/** Compiles the program; gives the reason if that cannot be done here. */
export function makeBuild({ name, level, allocator, compile }: BuildKind): Build | string {
  mkdirSync(OUTPUT, { recursive: true });
  const file = resolve(OUTPUT, `${name}.${process.pid}.wasm`);
  const problem = compile(file, level, allocator);
  if (problem !== undefined) return problem;
  const wasm = new Uint8Array(readFileSync(file));
  return { name, allocator, wasm, module: new WebAssembly.Module(exposeGlobals(wasm)) };
}
