/**
 * Runs a compiled program and takes a dump, and the truth, each time it asks for one.
 */

import { captureDump, exposeGlobals } from "@warpo/heap-analyzer/capture";

import type { CompiledProgram } from "./compile.ts";
import { type HeapTruth, readTruth } from "./truth.ts";
import { exportGlobals, readWasmModule, TYPE_I32 } from "./wasm_module.ts";

export interface Capture {
  /** The program's number for it. */
  id: number;
  /** An ASHD dump, version 2. */
  dump: Uint8Array;
  /** The objects in the collector's lists at this moment. */
  truth: HeapTruth;
  /** Values of mutable i32 globals by name. */
  globals: Map<string, number>;
  /** The object to which the program will cut the only reference before its next dump. */
  victim?: number;
}

/** Runs `main()` of a program, with imports for what changed the module. */
export async function run(
  program: CompiledProgram,
  others: WebAssembly.Imports = {},
): Promise<Capture[]> {
  const captures: Capture[] = [];
  const host: Host = await instantiateForTest(
    program.wasm,
    {
      dump: (id: number) => {
        const globals = host.namedGlobals();
        captures.push({
          id,
          globals,
          dump: host.captureDump(),
          truth: readTruth(host.memory.buffer, host.heapBase, globals),
        });
      },
      victim: (address: number) => {
        const capture = captures.at(-1);
        if (capture) capture.victim = address >>> 0;
      },
      collectorState: () => host.collectorState(),
      limit: 10,
      counter: new WebAssembly.Global({ value: "i32", mutable: true }, 0),
      wide: new WebAssembly.Global({ value: "i64", mutable: true }, 0n),
    },
    others,
  );
  host.main();
  return captures;
}

interface Host {
  memory: WebAssembly.Memory;
  heapBase: number;
  main(): void;
  namedGlobals(): Map<string, number>;
  collectorState(): number;
  captureDump(): Uint8Array;
}

/**
 * The module is given two sets of exports: the package's own, for the dump, and one for the truth,
 * which shall not depend on the package.
 */
async function instantiateForTest(
  wasm: Uint8Array,
  imports: WebAssembly.ModuleImports,
  others: WebAssembly.Imports,
): Promise<Host> {
  const module = readWasmModule(wasm);
  const mutable = module.globals.filter((global) => global.mutable && global.type === TYPE_I32);
  const exported = new Map(mutable.map(({ index }) => [`judge:${index}`, index]));
  const compiled = await WebAssembly.compile(exportGlobals(exposeGlobals(wasm), exported));
  const instance = await WebAssembly.instantiate(compiled, {
    ...others,
    host: imports,
    env: {
      // For builds that import it.
      memory: new WebAssembly.Memory({ initial: 4 }),
      abort: (message: number, file: number, line: number, column: number) => {
        throw new Error(`${text(file)}:${line}:${column}: ${text(message)}`);
      },
    },
  });
  const text = (pointer: number) => (pointer ? utf16(exports.memory.buffer, pointer) : "?");
  const exports = instance.exports as Record<string, WebAssembly.Global> & {
    memory: WebAssembly.Memory;
    main(): void;
    /** Of a build that does not start by itself. */
    _start?(): void;
  };
  const value = (name: string) => Number(exports[name]?.value) >>> 0;
  const state = mutable.find(({ name }) => name === "~lib/rt/itcms/state")?.index;
  const host: Host = {
    collectorState: () => value(`judge:${state}`),
    memory: exports.memory,
    // Builds without the transform do not export it themselves.
    heapBase: value("__heap_base") || value("__warpo_heap_analyzer:heap_base"),
    main: () => {
      exports._start?.();
      exports.main();
    },
    namedGlobals: () =>
      new Map(
        mutable.map(({ index, name }) => [name ?? `global ${index}`, value(`judge:${index}`)]),
      ),
    captureDump: () => captureDump(instance.exports),
  };
  return host;
}

function utf16(memory: ArrayBuffer, pointer: number): string {
  const length = new DataView(memory).getUint32(pointer - 4, true);
  return Buffer.from(memory, pointer, length).toString("utf16le");
}

/** The value of a global of the collector. */
export function collectorGlobal(capture: Capture, name: "state" | "total"): number {
  const value = capture.globals.get(`~lib/rt/itcms/${name}`);
  if (value === undefined) throw new Error(`the module has no global ${name}`);
  return value;
}
