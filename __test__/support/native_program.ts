// Programs of C, C++ and Rust that log every block that they allocate or free, and say what becomes of some.

import { spawnSync } from "node:child_process";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { WASI } from "node:wasi";
import { expect } from "vitest";
import { exposeGlobals, writeDump } from "../../dist/capture.js";
import { analyze, openHeap } from "../../dist/index.js";
import { systemImports } from "./wasi.ts";

export const PROGRAMS = join(import.meta.dirname, "../programs/native");
/** The fates that a program declares, as in truth.h. */
const FATES = ["leaked", "static", "stack", "interior", "register", "leaked cycle", "leaked owner"];

/** Not the `wasm-opt` of this project, which clang would run, and which removes names. */
export const PATH = (process.env.PATH ?? "")
  .split(delimiter)
  .filter((part) => !part.includes("node_modules"))
  .join(delimiter);

const ALLOCATING = ["malloc", "calloc", "realloc", "free"];

/** Compiles a program of C with the log of its blocks. */
export const clang = (output: string, program: string, level: string) => {
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

export const hasClang =
  spawnSync("clang", ["--target=wasm32-wasi", "-E", "-include", "stdlib.h", "-xc", "/dev/null"])
    .status === 0;

/** The same module without custom sections: it has neither names nor debug information. */
export const stripped = (file: string) => {
  const wasm = readFileSync(file);
  const kept = [wasm.subarray(0, 8)];
  for (let at = 8; at < wasm.length; ) {
    let [size, shift, end] = [0, 0, at + 1];
    for (let byte = 0x80; byte >= 0x80; shift += 7) {
      byte = wasm[end++] as number;
      size += (byte & 0x7f) * 2 ** shift;
    }
    if (wasm[at] !== 0) kept.push(wasm.subarray(at, end + size));
    at = end + size;
  }
  const output = file.replace(/\.wasm$/, "-stripped.wasm");
  writeFileSync(output, Buffer.concat(kept));
  return output;
};

/** What a program logged until it asked for a dump. */
export interface NativeGuest {
  wasm: Uint8Array<ArrayBuffer>;
  file: string;
  dump: string;
  /** By address: the size that was asked for. */
  live: Map<number, number>;
  /** By address. */
  fates: Map<number, string>;
  /** What it printed. */
  output: string;
}

/** A module that reports its allocations. */
export interface ProfiledModule {
  wasm: Uint8Array<ArrayBuffer>;
  imports: object;
  attach: (exports: WebAssembly.Exports) => void;
  /** Called right after the dump. */
  onDump: () => void;
}

/** Runs a module until it asks for a dump, and to its end. */
export function dumped(file: string, profiled?: ProfiledModule): NativeGuest {
  const wasm = profiled?.wasm ?? new Uint8Array(readFileSync(file));
  const live = new Map<number, number>();
  const fates = new Map<number, string>();
  const dump = file.replace(/\.wasm$/, ".dump");
  const printed = file.replace(/\.wasm$/, ".txt");
  let atDump = new Map<number, number>();
  const stdout = openSync(printed, "w");
  const wasi = new WASI({ version: "preview1", args: ["guest"], stdout });
  const truth = {
    alloc: (block: number, size: number) => live.set(block, size),
    freed: (block: number) => live.delete(block),
    fate: (block: number, fate: number) => fates.set(block, FATES[fate] as string),
    dump: () => {
      atDump = new Map(live);
      writeDump(instance.exports, dump);
      profiled?.onDump();
    },
  };
  // Of emscripten.
  const env = { emscripten_notify_memory_growth: () => {} };
  const imports = { ...systemImports(wasi), truth, env, ...profiled?.imports };
  const module = new WebAssembly.Module(exposeGlobals(wasm));
  const instance = new WebAssembly.Instance(module, imports);
  profiled?.attach(instance.exports);
  if ("_start" in instance.exports) wasi.start(instance);
  else (instance.exports.run as () => void)();
  closeSync(stdout);
  return { wasm, file, dump, live: atDump, fates, output: readFileSync(printed, "utf8") };
}

/** The blocks are exactly those of the log. `overhead`: the bytes that the allocator adds to a block. */
export function expectBlocksOfLog({ wasm, dump, live }: NativeGuest, overhead = 4) {
  const heap = openHeap(readFileSync(dump), wasm);
  expect(live.size).toBeGreaterThan(500);
  expect(heap.summary().objects.live).toBe(live.size);
  for (const [block, requested] of live) {
    const { address, shallowSize } = heap.object(block);
    expect(address).toBe(block);
    // What rounding adds.
    expect(shallowSize).toBeGreaterThanOrEqual(requested + overhead);
    expect(shallowSize).toBeLessThanOrEqual(requested + overhead + 28);
  }
  const constructors = analyze(readFileSync(dump), wasm);
  expect(JSON.stringify(constructors)).toContain("block of ");
  heap.close();
}
