// Instrumented programs do the same as before: every byte of memory, at every dump, is the judge.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import binaryen from "binaryen";
import { describe, expect, test } from "vitest";
import { exposeGlobals } from "../dist/capture.js";
import { createProfiler, instrument, type Profiler } from "../dist/profile.js";
import { run } from "./support/capture.ts";
import { compile, compileSource, OPTIMISED, programNames, UNOPTIMISED } from "./support/compile.ts";
import { someOf } from "./support/nightly.ts";
import { usedBytes, walkedBytes } from "./support/pprof.ts";

/** All intervals matter: each allocation is a sample, some are, none is. */
const INTERVALS = [1, 1000, Number.POSITIVE_INFINITY];

describe.each([
  { build: "unoptimised", flags: UNOPTIMISED },
  { build: "optimised", flags: OPTIMISED },
])("programs of the judge, $build", ({ flags }) => {
  test.each(someOf(programNames, 4))("%s has the same memory at every dump", async (name) => {
    const compiled = await compile(name, flags);
    const plain = await run(compiled);
    const interval = INTERVALS[programNames.indexOf(name) % INTERVALS.length] as number;
    const program = instrument(compiled.wasm, { contexts: interval === 1 });
    const profiler = createProfiler(program, { interval });
    const profiled = await run({ ...compiled, wasm: program.wasm }, { ...profiler.imports });
    expect(profiled.length).toBe(plain.length);
    for (const [nth, { dump }] of profiled.entries()) {
      expect(Buffer.compare(dump, plain[nth]?.dump as Uint8Array)).toBe(0);
    }
  });
});

const PROGRAMS = join(import.meta.dirname, "programs");
const others = readdirSync(PROGRAMS)
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.slice(0, -".ts".length));

test.each(others)("%s has the same memory after each of its functions", async (name) => {
  const source = readFileSync(join(PROGRAMS, `${name}.ts`), "utf8");
  const { wasm } = await compileSource(name, source, OPTIMISED);
  const program = instrument(wasm, { contexts: true });
  const steps = (module: Uint8Array<ArrayBuffer>, profiler?: Profiler) => {
    const compiled = new WebAssembly.Module(module);
    const imports: WebAssembly.Imports = {};
    for (const { module: from, name, kind } of WebAssembly.Module.imports(compiled)) {
      const global = () => new WebAssembly.Global({ value: "i32", mutable: true }, 0);
      const value = kind === "global" ? global() : () => 0;
      imports[from] = { ...imports[from], [name]: value } as WebAssembly.ModuleImports;
    }
    Object.assign(imports, profiler?.imports);
    const { exports } = new WebAssembly.Instance(compiled, imports);
    const functions = Object.entries(exports).filter(
      ([key, value]) => typeof value === "function" && value.length === 0 && !key.startsWith("__"),
    );
    return functions.map(([key, run]) => {
      let result: unknown;
      try {
        result = (run as () => unknown)();
      } catch (error) {
        result = (error as Error).message;
      }
      const memory = Buffer.from((exports.memory as WebAssembly.Memory).buffer.slice(0));
      return { key, result, memory };
    });
  };
  const plain = steps(wasm as Uint8Array<ArrayBuffer>);
  const profiled = steps(program.wasm, createProfiler(program, { interval: 1 }));
  expect(profiled.map(({ key, result }) => [key, result])).toEqual(
    plain.map(({ key, result }) => [key, result]),
  );
  for (const [nth, { memory }] of profiled.entries()) {
    expect(Buffer.compare(memory, plain[nth]?.memory as Buffer)).toBe(0);
  }
});

const SAMPLES = join(import.meta.dirname, "samples/warpo-optimised");
const samples = readdirSync(SAMPLES, { recursive: true, encoding: "utf8" }).filter((file) =>
  file.endsWith(".wasm.gz"),
);

describe("genuine WARPO builds, optimised", () => {
  test.each(samples)("%s runs as before, and its profile is what the walk says", (sample) => {
    const wasm = new Uint8Array(gunzipSync(readFileSync(join(SAMPLES, sample))));
    const program = instrument(wasm, { contexts: true });
    const memories = (module: Uint8Array<ArrayBuffer>, profiler?: Profiler) => {
      const found: [id: number, memory: Buffer][] = [];
      const instance = new WebAssembly.Instance(new WebAssembly.Module(module), {
        env: {
          abort: () => {
            throw new Error("the program aborted");
          },
        },
        host: {
          dump: (id: number) => {
            const { exports } = instance;
            found.push([id, Buffer.from((exports.memory as WebAssembly.Memory).buffer.slice(0))]);
            if (profiler) {
              const bytes = { sample, id, bytes: walkedBytes(exports, wasm) };
              expect({ sample, id, bytes: usedBytes(profiler) }).toEqual(bytes);
            }
          },
        },
        ...profiler?.imports,
      });
      profiler?.attach(instance.exports);
      (instance.exports.main as () => void)();
      return found;
    };
    const profiler = createProfiler(program, { interval: 1 });
    const profiled = memories(exposeGlobals(program.wasm) as Uint8Array<ArrayBuffer>, profiler);
    const plain = memories(exposeGlobals(wasm) as Uint8Array<ArrayBuffer>);
    expect(profiled.map(([id]) => id)).toEqual(plain.map(([id]) => id));
    for (const [nth, [, memory]] of profiled.entries()) {
      expect(Buffer.compare(memory, plain[nth]?.[1] as Buffer)).toBe(0);
    }
    expect(profiled.length).toBeGreaterThan(1);
  });
});

/** An allocator, and a function for a proposal: what it returns is the same with a profiler. */
const withAllocator = (parts: string, body: string, memory = "(memory 1)") => `(module
  ${memory}
  ${parts}
  (global $top (mut i32) (i32.const 64))
  (func $malloc (param i32) (result i32)
    (local $at i32)
    (local.set $at (global.get $top))
    (global.set $top (i32.add (global.get $top) (local.get 0)))
    (local.get $at))
  (func $free (param i32) (i32.store (local.get 0) (i32.const 7)))
  (func $main (result i32) (local $block i32)
    (local.set $block (call $malloc (i32.const 24)))
    ${body}
    (call $free (local.get $block))
    (i32.load (local.get $block)))
  (export "malloc" (func $malloc))
  (export "free" (func $free))
  (export "main" (func $main)))`;

const PROPOSALS: Record<string, string> = {
  "threads and atomics": withAllocator(
    "",
    "(drop (i32.atomic.rmw.add (local.get $block) (i32.const 3)))",
    "(memory 1 1 shared)",
  ),
  SIMD: withAllocator(
    "",
    "(v128.store (local.get $block) (i32x4.add (v128.load (local.get $block)) (i32x4.splat (i32.const 2))))",
  ),
  "exception handling": withAllocator(
    "(tag $tag (param i32)) (func $throws (param i32) (throw $tag (call $malloc (local.get 0))))",
    "(local.set $block (try (result i32) (do (call $throws (i32.const 8)) (i32.const 0)) (catch $tag (pop i32))))",
  ),
  "tail calls": withAllocator(
    '(func $calloc (param i32 i32) (result i32) (return_call $malloc (i32.mul (local.get 0) (local.get 1)))) (export "calloc" (func $calloc))',
    "(local.set $block (call $calloc (i32.const 4) (i32.const 8)))",
  ),
  "reference types": withAllocator(
    "(table $functions 2 funcref) (elem declare func $free) (elem (table $functions) (i32.const 1) func $malloc)",
    "(table.set $functions (i32.const 0) (ref.func $free)) (local.set $block (call_indirect $functions (param i32) (result i32) (i32.const 8) (i32.const 1)))",
  ),
  "bulk memory": withAllocator(
    '(data $bytes "abcdefgh")',
    "(memory.init $bytes (local.get $block) (i32.const 0) (i32.const 8)) (memory.fill (local.get $block) (i32.const 1) (i32.const 4))",
  ),
  "multiple values": withAllocator(
    "(func $two (result i32 i32) (call $malloc (i32.const 8)) (call $malloc (i32.const 16)))",
    "(call $two) (local.set $block) (drop)",
  ),
  "extended constants": withAllocator(
    "(global $sum i32 (i32.add (i32.const 8) (i32.mul (i32.const 2) (i32.const 4))))",
    "(local.set $block (call $malloc (global.get $sum)))",
  ),
  "garbage collection and typed references": withAllocator(
    "(type $point (struct (field i32))) (type $size (func (param i32) (result i32))) (global $made (ref $size) (ref.func $malloc))",
    "(local.set $block (call_ref $size (struct.get $point 0 (struct.new $point (i32.const 8))) (global.get $made)))",
  ),
  "several memories": withAllocator(
    "(memory $other 1)",
    "(i32.store $other (i32.const 0) (local.get $block))",
    "(memory $first 1)",
  ),
};

describe("modules with proposals", () => {
  for (const [proposal, text] of Object.entries(PROPOSALS)) {
    const parsed = binaryen.parseText(text);
    parsed.setFeatures(binaryen.Features.All);
    const wasm = new Uint8Array(parsed.emitBinary());
    // A newer Node runs more of them.
    const runs = WebAssembly.validate(wasm);
    if (!runs) {
      console.warn(`Node ${process.version} does not run ${proposal}: only Binaryen judges it`);
    }
    test.each([
      ["valid and does the same", false],
      ["valid and does the same if it knows the way of calls", true],
    ])(`${proposal}: the module is %s`, (_, contexts) => {
      const program = instrument(wasm, { contexts });
      expect(instrument(program.wasm).wasm).toEqual(program.wasm);
      // Binaryen does not read code between the operands of `call_ref` and the call.
      if (!contexts || !/call_ref/.test(text)) {
        const read = binaryen.readBinary(program.wasm);
        read.setFeatures(binaryen.Features.All);
        expect(read.validate()).toBe(1);
      }
      if (!runs) return;
      const profiler = createProfiler(program, { interval: 1 });
      const main = (module: Uint8Array<ArrayBuffer>, imports: WebAssembly.Imports) => {
        const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module), imports);
        return { exports, result: (exports.main as () => number)() };
      };
      const { exports, result } = main(program.wasm, { ...profiler.imports });
      profiler.attach(exports);
      expect(result).toBe(main(wasm, {}).result);
      expect(profiler.totals().objects).toBeGreaterThan(0);
    });
  }
});

test("a module with a 64-bit memory is refused", () => {
  const parsed = binaryen.parseText(`(module (memory i64 1) (func $malloc (param i64) (result i64)
    (local.get 0)) (export "malloc" (func $malloc)))`);
  parsed.setFeatures(binaryen.Features.All);
  expect(() => instrument(new Uint8Array(parsed.emitBinary()))).toThrow(/64-bit/);
});

test("a block that is resized where it is has its new size", () => {
  // Zig's allocator by its names.
  const parsed = binaryen.parseText(`(module
    (memory 1)
    (func $heap.BrkAllocator.alloc (param i32 i32 i32 i32) (result i32) (i32.const 64))
    (func $heap.BrkAllocator.resize (param i32 i32 i32 i32 i32 i32) (result i32)
      (i32.lt_u (local.get 4) (i32.const 100)))
    (func $heap.BrkAllocator.free (param i32 i32 i32 i32 i32))
    (export "alloc" (func $heap.BrkAllocator.alloc))
    (export "resize" (func $heap.BrkAllocator.resize))
    (export "free" (func $heap.BrkAllocator.free)))`);
  binaryen.setDebugInfo(true);
  const program = instrument(new Uint8Array(parsed.emitBinary()));
  binaryen.setDebugInfo(false);
  const profiler = createProfiler(program, { interval: 1 });
  const module = new WebAssembly.Module(program.wasm);
  const { exports } = new WebAssembly.Instance(module, { ...profiler.imports });
  const { alloc, resize, free } = exports as Record<string, (...values: number[]) => number>;
  alloc?.(0, 10, 0, 0);
  expect(usedBytes(profiler)).toBe(10);
  expect(resize?.(0, 64, 10, 0, 50, 0)).toBe(1);
  expect(usedBytes(profiler)).toBe(50);
  // What cannot be resized stays as it is.
  expect(resize?.(0, 64, 50, 0, 200, 0)).toBe(0);
  expect(usedBytes(profiler)).toBe(50);
  free?.(0, 64, 50, 0, 0);
  expect(usedBytes(profiler)).toBe(0);
});
