// Reads the parts of a dump from the exports of an instance, without copying the memory.

import { HeapAnalyzerError, invalidArgument } from "../errors.js";
import { isAtRest } from "./at_rest.js";
import { findExports, notExposed } from "./find_exports.js";
import type { Exports } from "./registry.js";
import { GLOBAL_PREFIX, MEMORY, RESERVED_PREFIX } from "./reserved_names.js";

/** Options of a capture. */
export interface CaptureOptions {
  /** The memory, for modules that import it. Default: the memory that the module exports. */
  memory?: { readonly buffer: ArrayBufferLike };
  /**
   * Accept a module that was not changed by `exposeGlobals`, if it exports `__data_end`, `__heap_base`,
   * `__stack_pointer` and its memory, as newer WARPO builds do. The dump then has no global values
   * (N = 0). The analyzer cannot find the objects that only globals keep alive, and warns about it.
   * Default: false, because in such a dump live objects can count as garbage.
   */
  allowMissingGlobals?: boolean;
  /**
   * Of a program of C, C++, Rust or Zig: pointers that the host holds, as a list or by name. They are roots: without
   * them, what only the host holds counts as unreferenced. The dump then has the highest bit of its version set.
   */
  hostRoots?: readonly number[] | Readonly<Record<string, number>>;
}

/** A dump in two parts: everything before the memory, and the memory itself, not copied. */
export interface Snapshot {
  /** What the instance exports, the globals among them. Absent if the snapshot was not taken of exports. */
  exports?: Exports;
  header: Uint8Array<ArrayBuffer>;
  memory: ArrayBufferLike;
  /** The size in bytes when the snapshot was taken. A shared memory may grow later. */
  memorySize: number;
}

/** Without a prototype, because a program may have added properties to `Object.prototype`. */
const NO_OPTIONS: CaptureOptions = Object.create(null);

const MAGIC = [0x41, 0x53, 0x48, 0x44]; // "ASHD"
const VERSION = 2;
/** The bits of the version that mark what else a dump has. */
const HOST_ROOTS = 0x8000_0000;
const AT_REST = 0x4000_0000;

/** When a snapshot is taken. After a trap, the stack is as it was in the function that trapped. */
export type CaptureMoment = "now" | "after a trap";

/**
 * Reads the boundaries, the global values and the memory of an instance.
 *
 * @param target as for `findExports`.
 * @throws {HeapAnalyzerError} `ERR_GLOBALS_NOT_EXPOSED`, `ERR_INSTANCE_AMBIGUOUS`, `ERR_MEMORY_MISSING` or
 *   `ERR_INVALID_ARG_TYPE`.
 */
export function takeSnapshot(
  target: object,
  options?: CaptureOptions | null,
  moment: CaptureMoment = "now",
): Snapshot {
  const { memory: givenMemory, allowMissingGlobals, hostRoots } = options ?? NO_OPTIONS;
  const exports = findExports(target, givenMemory);
  const boundaries =
    readExposedBoundaries(exports) ??
    (allowMissingGlobals === true ? readExportedBoundaries(exports) : undefined);
  if (boundaries === undefined) throw notExposed(target);
  const globals = readMutableI32Globals(exports);

  const records = hostRoots === undefined ? undefined : hostRootRecords(hostRoots);
  const words = [VERSION, ...boundaries, globals.length, ...globals];
  if (records !== undefined) words.push(records.length);
  const header = new Uint8Array(MAGIC.length + 4 * words.length + (records?.length ?? 0));
  header.set(MAGIC);
  const view = new DataView(header.buffer);
  words.forEach((word, nth) => {
    view.setUint32(MAGIC.length + 4 * nth, word, true);
  });
  if (records !== undefined) header.set(records, header.length - records.length);
  // The memory is read last: a getter above may make it grow, which detaches its buffer.
  const memory = findMemory(exports, givenMemory);
  const isQuiet = moment === "now" && !isShared(memory);
  const isResting = isQuiet && !hasEmptyStack(boundaries) && isAtRest();
  view.setUint32(MAGIC.length, versionOf(records !== undefined, isResting), true);
  return { exports, header, memory, memorySize: memory.byteLength };
}

/** Whether the boundaries say that the stack is empty: then it does not matter whether functions were running. */
export function hasEmptyStack(boundaries: readonly number[]): boolean {
  const [dataEnd = 0, heapBase = 0, stackPointer] = boundaries;
  // A linked module may have its stack pointer in the place of all three.
  return dataEnd < heapBase && stackPointer === heapBase;
}

function versionOf(hasHostRoots: boolean, isResting: boolean): number {
  return VERSION + (hasHostRoots ? HOST_ROOTS : 0) + (isResting ? AT_REST : 0);
}

/** Another thread may run functions in such a memory. */
function isShared(memory: ArrayBufferLike): boolean {
  return Object.prototype.toString.call(memory) === "[object SharedArrayBuffer]";
}

/** For each pointer: the address, the length of the name, the name, and zeros up to a multiple of 4. */
function hostRootRecords(given: NonNullable<CaptureOptions["hostRoots"]>): Uint8Array {
  if (typeof given !== "object") {
    throw invalidArgument("options.hostRoots", "an array or an object", given);
  }
  const names = new TextEncoder();
  const roots = Object.entries(given).map(([key, address]) => {
    if (!(Number.isInteger(address) && address >= 0 && address < 2 ** 32)) {
      throw invalidArgument(`options.hostRoots.${key}`, "an address", address);
    }
    return { address, name: names.encode(Array.isArray(given) ? "" : key) };
  });
  const sizeOf = ({ name }: { name: Uint8Array }) => 8 + Math.ceil(name.length / 4) * 4;
  const records = new Uint8Array(roots.reduce((sum, root) => sum + sizeOf(root), 0));
  const view = new DataView(records.buffer);
  let at = 0;
  for (const root of roots) {
    view.setUint32(at, root.address, true);
    view.setUint32(at + 4, root.name.length, true);
    records.set(root.name, at + 8);
    at += sizeOf(root);
  }
  return records;
}

/** Names of the boundaries in the order of the header. */
const BOUNDARIES = ["data_end", "heap_base", "stack_pointer"];

function readExposedBoundaries(exports: Exports): number[] | undefined {
  const values = BOUNDARIES.map((name) => i32Value(exports[RESERVED_PREFIX + name]));
  return values.every((value) => value !== undefined) ? values : undefined;
}

/** The boundaries that newer WARPO builds export. */
function readExportedBoundaries(exports: Exports): number[] {
  return BOUNDARIES.map((name) => {
    const value = i32Value(exports[`__${name}`]);
    if (value === undefined) {
      throw new HeapAnalyzerError(
        "ERR_GLOBALS_NOT_EXPOSED",
        `the instance exports no global __${name}, which a dump needs even with ` +
          "allowMissingGlobals: compile the bytes that exposeGlobals(wasm) returns",
      );
    }
    return value;
  });
}

/** The values of all mutable i32 globals in the order of their wasm indexes. */
function readMutableI32Globals(exports: Exports): number[] {
  const found: { index: number; value: number }[] = [];
  // `in`, because raw bindings have the exports as their prototype.
  for (const name in exports) {
    if (name.startsWith(GLOBAL_PREFIX)) {
      const value = i32Value(exports[name]);
      if (value === undefined) {
        // If it were left out, all later values would belong to the wrong globals.
        throw new HeapAnalyzerError(
          "ERR_GLOBALS_NOT_EXPOSED",
          `the export ${name} is not an i32 global`,
        );
      }
      found.push({ index: Number(name.slice(GLOBAL_PREFIX.length)), value });
    }
  }
  return found.sort((left, right) => left.index - right.index).map(({ value }) => value);
}

function findMemory(exports: Exports, given: CaptureOptions["memory"]): ArrayBufferLike {
  if (given !== undefined) {
    const buffer: unknown = given?.buffer;
    if (isBuffer(buffer)) return buffer;
    throw invalidArgument("options.memory", "a WebAssembly.Memory", given);
  }
  for (const candidate of [exports[MEMORY], exports.memory]) {
    const buffer = (candidate as { buffer?: unknown } | undefined)?.buffer;
    if (isBuffer(buffer)) {
      return buffer;
    }
  }
  throw new HeapAnalyzerError(
    "ERR_MEMORY_MISSING",
    "the instance exports no memory: pass the one that it imports as the option memory, " +
      "or compile the bytes that exposeGlobals(wasm) returns",
  );
}

/** Not `instanceof`, because test runners and plugins pass exports of another realm. */
function isBuffer(value: unknown): value is ArrayBufferLike {
  const tag = Object.prototype.toString.call(value);
  return tag === "[object ArrayBuffer]" || tag === "[object SharedArrayBuffer]";
}

/** The value of a WebAssembly.Global of type i32 as a u32; undefined for anything else. */
function i32Value(candidate: unknown): number | undefined {
  const value = (candidate as { value?: unknown } | null | undefined)?.value;
  return typeof value === "number" ? value >>> 0 : undefined;
}
