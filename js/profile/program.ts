/** Instrumented modules. */
import type { Bytes } from "../../index.js";
import { bytes } from "../bytes.js";
import { HeapAnalyzerError, invalidArgument } from "../errors.js";
import * as native from "../native.js";
import { callNative } from "../native_errors.js";
import { typed } from "../option_facts.js";
import { readOptions } from "../options.js";

/** The table of an instrumented module, as `table.rs` writes it. */
export interface SiteTable {
  family: "assemblyscript" | "c" | "tinygo" | "go";
  frees: boolean;
  contexts: boolean;
  codeStart: number;
  newCodeStart: number;
  allocators: string[];
  call: number;
  offsets: [number, number][];
}

/** A function and a line in it. */
export interface Frame {
  /** The function's name. */
  function: string;
  /** Its source file; empty if it is not known. */
  file: string;
  /** The line in it, from 1; 0 if it is not known. */
  line: number;
}

/** Options of {@link instrument}. */
export interface InstrumentOptions {
  /** The source map of the module as JSON, as `asc --sourceMap` writes it into `<module>.wasm.map`. */
  sourceMap?: string | undefined;
  /**
   * Names of functions for a module without them: the text of the `.symbols` file that Emscripten writes with
   * `--emit-symbol-map`, or of the JavaScript that it writes with the module, which has the names of exports.
   */
  symbols?: string | undefined;
  /**
   * Whether the module knows the way of calls to each allocation (default: false). A profiler that records every
   * allocation (`interval: 1`) then captures the engine's stack once for each way. All calls that may lead to an
   * allocation have more code, so the program is slower with other intervals. Programs of Go are not changed by it.
   */
  contexts?: boolean | undefined;
}

/** A module that reports its allocations. {@link instrument} makes it. */
export class InstrumentedModule {
  /** The module to compile. */
  readonly wasm: Uint8Array<ArrayBuffer>;
  readonly #table: SiteTable;
  readonly #sourceMap: string | undefined;

  /** {@link instrument} calls it. */
  constructor(wasm: Uint8Array<ArrayBuffer>, table: SiteTable, sourceMap: string | undefined) {
    this.wasm = wasm;
    this.#table = table;
    this.#sourceMap = sourceMap;
  }

  /** The language whose allocator was found. */
  get family(): "assemblyscript" | "c" | "tinygo" | "go" {
    return this.#table.family;
  }

  /** The names of the functions that report allocations. */
  get allocators(): string[] {
    return [...this.#table.allocators];
  }

  /**
   * The offset in the original file of an offset in {@link wasm}; undefined for code that was added.
   */
  originalOffset(offset: number): number | undefined {
    const { offsets } = this.#table;
    let [low, high] = [0, offsets.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((offsets[middle] as [number, number])[0] <= offset) low = middle + 1;
      else high = middle;
    }
    const [start, original] = offsets[low - 1] ?? [0, 0];
    return original === 0 ? undefined : original + offset - start;
  }

  /**
   * The functions at offsets in {@link wasm}: for each offset the innermost first, with those that the
   * compiler inlined there.
   */
  symbolize(offsets: readonly number[]): Frame[][] {
    return JSON.parse(
      callNative(() => native.symbolize(this.wasm, this.#sourceMap, [...offsets])),
    ) as Frame[][];
  }

  /** @internal */
  static tableOf(name: string, value: unknown): SiteTable {
    if (typeof value !== "object" || value === null || !(#table in value)) {
      throw invalidArgument(name, "what instrument() returned", value);
    }
    return value.#table;
  }

  /** @internal */
  static sourceMapOf(program: InstrumentedModule): string | undefined {
    return program.#sourceMap;
  }
}

/**
 * Returns a module that behaves the same and reports its allocations to a profiler.
 *
 * The module imports four functions more, or seven with `contexts`, which {@link Profiler.imports} has. If the globals of the module are
 * exposed too, expose them afterwards. A module that was instrumented before is not changed again.
 *
 * @throws {HeapAnalyzerError} `ERR_SYMBOLS` (the names are of another module), `ERR_MODULE`, `ERR_MODULE_KIND` (a 64-bit memory, or a component),
 *   `ERR_ALLOCATOR_MISSING` (no function that allocates is found, or the optimiser copied it into others; the
 *   message has the names that were looked for), `ERR_INVALID_ARG_TYPE` or `ERR_OUT_OF_MEMORY`.
 */
export function instrument(wasm: Bytes, options?: InstrumentOptions): InstrumentedModule {
  if (typeof wasm === "string") {
    throw invalidArgument(
      "wasm",
      "a Uint8Array, Buffer or ArrayBuffer",
      wasm,
      "read the file first",
    );
  }
  const checks = {
    sourceMap: typed("string"),
    symbols: typed("string"),
    contexts: typed("boolean"),
  };
  const read = readOptions(options, checks, "sync") as InstrumentOptions;
  const { sourceMap, symbols, contexts = false } = read;
  const module = bytes("wasm", wasm);
  const made = callNative(() => native.instrumentAllocations(module, symbols, contexts));
  const table = JSON.parse(made.table) as SiteTable;
  const result = new Uint8Array(made.wasm) as Uint8Array<ArrayBuffer>;
  const program = new InstrumentedModule(result, table, sourceMap);
  // A source map that cannot be read is an error now, not at the end of the run.
  if (sourceMap !== undefined) program.symbolize([]);
  return program;
}

export { HeapAnalyzerError };
