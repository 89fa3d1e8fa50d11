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
  /** By how many bytes the first data segment begins earlier, with zeros: an optimiser lets it begin at any byte. */
  zeros?: number;
}

// The bundled judge is at the same depth.
const ROOT = resolve(import.meta.dirname, "../..");
const PROGRAM = resolve(ROOT, "__test__/programs/native/random.c");
/** The linker puts its data after the allocator's. */
const BEHIND = resolve(ROOT, "__test__/programs/native/random_behind.c");
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
  const [object, behind] = [`${wasm}.o`, `${wasm}.behind.o`];
  const common = ["clang", "--target=wasm32-wasi"];
  return run([
    [...common, "-c", level, "-o", object, PROGRAM],
    [...common, "-c", level, "-o", behind, BEHIND],
    // Static data is in the order of the files, and the allocator's state is that of libc.
    [...common, "-mexec-model=reactor", "-o", wasm, object, "-lc", behind],
  ]);
}

function emcc(wasm: string, level: string, allocator: Allocator): string | undefined {
  const settings = ["-sSTANDALONE_WASM", "-sALLOW_MEMORY_GROWTH", `-sMALLOC=${allocator.name}`];
  const names = ["--profiling-funcs", "-sERROR_ON_UNDEFINED_SYMBOLS=0", "--no-entry"];
  return run([["emcc", level, ...settings, ...names, "-o", wasm, PROGRAM, BEHIND]]);
}

const UNALIGNED = [1, 2, 3].map((zeros) => {
  const name = `clang-O2-segment-at-${1024 - zeros}`;
  return { name, level: "-O2", allocator: DLMALLOC, compile: clang, zeros };
});

export const BUILD_KINDS: BuildKind[] = LEVELS.flatMap((level): BuildKind[] => [
  { name: `clang${level}`, level, allocator: DLMALLOC, compile: clang },
  { name: `emcc${level}`, level, allocator: DLMALLOC, compile: emcc },
  { name: `emcc-emmalloc${level}`, level, allocator: EMMALLOC, compile: emcc },
]).concat(UNALIGNED);

/** Compiles the program; gives the reason if that cannot be done here. */
export function makeBuild({ name, level, allocator, compile, zeros }: BuildKind): Build | string {
  mkdirSync(OUTPUT, { recursive: true });
  const file = resolve(OUTPUT, `${name}.${process.pid}.wasm`);
  const problem = compile(file, level, allocator);
  if (problem !== undefined) return problem;
  const linked = new Uint8Array(readFileSync(file));
  const wasm = zeros === undefined ? linked : withZeros(linked, zeros);
  return { name, allocator, wasm, module: new WebAssembly.Module(exposeGlobals(wasm)) };
}

const DATA_SECTION = 11;

/** Reads a LEB128 number. Returns it with the offset of the next byte. */
function number(bytes: Uint8Array, at: number): { value: number; end: number } {
  let [value, shift, end] = [0, 0, at];
  for (let byte = 0x80; byte >= 0x80; shift += 7) {
    byte = bytes[end++] as number;
    value += (byte & 0x7f) * 2 ** shift;
  }
  return { value, end };
}

/** In five bytes, which are enough for every number of 32 bits, with a sign or without. */
const encoded = (value: number) => [
  ...[0, 7, 14, 21].map((shift) => ((value >>> shift) & 0x7f) | 0x80),
  (value >>> 28) & 0x0f,
];

/** The same module with zeros before the first data segment, whose address must be a constant. */
function withZeros(wasm: Uint8Array, zeros: number): Uint8Array<ArrayBuffer> {
  for (let at = 8; at < wasm.length; ) {
    const size = number(wasm, at + 1);
    const end = size.end + size.value;
    if (wasm[at] !== DATA_SECTION) {
      at = end;
      continue;
    }
    const count = number(wasm, size.end);
    // The flags 0, `i32.const`, the address, and `end`.
    const address = number(wasm, count.end + 2);
    const length = number(wasm, address.end + 1);
    const head = wasm.subarray(size.end, count.end + 2);
    const section = [
      ...head,
      ...encoded(address.value - zeros),
      0x0b,
      ...encoded(length.value + zeros),
      ...new Array<number>(zeros).fill(0),
      ...wasm.subarray(length.end, end),
    ];
    return new Uint8Array([
      ...wasm.subarray(0, at + 1),
      ...encoded(section.length),
      ...section,
      ...wasm.subarray(end),
    ]);
  }
  throw new Error("the module has no data");
}
