/**
 * Dump capture for Node hosts.
 *
 * A host can read only the exports of an instance, and AssemblyScript exports no globals. So the module
 * is changed before it is compiled: {@link exposeGlobals} returns the same program with all exports that
 * a complete dump needs. `@warpo/heap-analyzer/register` does this for all modules of a program,
 * `warpo-heap-analyzer expose` does it at build time.
 *
 * ```js
 * import { exposeGlobals, captureDump } from "@warpo/heap-analyzer/capture";
 * import { analyze } from "@warpo/heap-analyzer";
 *
 * const wasm = readFileSync("program.wasm");
 * const { instance } = await WebAssembly.instantiate(exposeGlobals(wasm), imports);
 * instance.exports.work();
 * console.log(analyze(captureDump(instance.exports), wasm));
 * ```
 *
 * WARPO builds and stock `asc` builds are supported, optimised or not. All functions are synchronous,
 * because a program writes its dump in the middle of a call.
 *
 * @module
 */

import type { Bytes } from "../index.js";
import { bytes } from "./bytes.js";
import { joinDump } from "./capture/dump_bytes.js";
import { writeDumpFile } from "./capture/dump_file.js";
import { isFromProgram } from "./capture/moments.js";
import { type CapturedPair, type PairOptions, writePair } from "./capture/pair.js";
import { type CaptureOptions, takeSnapshot } from "./capture/snapshot.js";
import { HeapAnalyzerError, invalidArgument } from "./errors.js";
import { exposeGlobals as exposeGlobalsNatively } from "./native.js";
import { callNative } from "./native_errors.js";
import { textPath } from "./paths.js";

export { type MemoryDump, type MemoryDumpOptions, memoryDump } from "./capture/memory_dump.js";
export type { CapturedPair, PairOptions } from "./capture/pair.js";
export type { CaptureOptions } from "./capture/snapshot.js";
export { HeapAnalyzerError } from "./errors.js";
export type { NumbersRead } from "./numbers/types.js";

/**
 * Returns the same module with every mutable i32 global, the boundaries of its memory and the
 * memory itself exported under reserved names that start with `__warpo_heap_analyzer:`.
 *
 * Names, debug information and global indexes do not change, so a dump of the result can be analyzed
 * with either module. Applying it twice changes nothing more. A source map no longer fits, because its
 * positions count from the start of the file, before the new exports.
 *
 * @throws {HeapAnalyzerError} `ERR_MODULE` (not a module), `ERR_MODULE_KIND` (a 64-bit memory, or
 *   none), `ERR_GLOBAL_MISSING` (not compiled with a runtime that has a collector),
 *   `ERR_ALLOCATOR_UNKNOWN` (a program of Go or TinyGo), `ERR_INVALID_ARG_TYPE`,
 *   `ERR_BUFFER_DETACHED`, `ERR_BUFFER_OUT_OF_BOUNDS` or `ERR_OUT_OF_MEMORY`.
 */
export function exposeGlobals(wasm: Bytes): Uint8Array<ArrayBuffer> {
  if (typeof wasm === "string") {
    throw invalidArgument(
      "wasm",
      "a Uint8Array, Buffer or ArrayBuffer",
      wasm,
      "read the file first",
    );
  }
  const module = bytes("wasm", wasm);
  return callNative(() => exposeGlobalsNatively(module)) as Uint8Array<ArrayBuffer>;
}

/**
 * Captures a complete dump (ASHD version 2) of an instance: header, the values of all mutable i32
 * globals in module order, and the memory.
 *
 * The memory is copied once. Other threads can write to a shared memory during the copy: stop them first
 * if the dump must be consistent.
 *
 * @param exports the exports of an instance whose module was changed by {@link exposeGlobals}, or the
 *   instance itself. After `@warpo/heap-analyzer/register` was loaded, also the namespace of a module
 *   that `asc --bindings` wrote, a loader's result, or the instance's memory.
 * @throws {HeapAnalyzerError} `ERR_GLOBALS_NOT_EXPOSED`, `ERR_INSTANCE_AMBIGUOUS`, `ERR_MEMORY_MISSING`,
 *   `ERR_INVALID_ARG_TYPE`, or `ERR_DUMP_TOO_LARGE` if header and memory do not fit one array.
 */
export function captureDump(
  exports: object,
  options?: CaptureOptions | null,
): Uint8Array<ArrayBuffer> {
  return joinDump(
    takeSnapshot(exports, options),
    "write it to a file with writeDump(exports, path)",
  );
}

/**
 * Writes a complete dump of an instance to a file, of up to 4 GiB and without a copy of the memory.
 *
 * Missing folders are created. The file is replaced only by a complete dump: the dump is written under a
 * temporary name in the same folder, flushed to the disk and renamed. If anything fails, the temporary
 * file is removed. Only the owner can read a new dump, because it contains the program's secrets. A dump
 * that replaces an older file keeps that file's permissions.
 *
 * @param exports as for {@link captureDump}.
 * @param path is trusted, because the host chooses it. For paths that a program chooses, use
 *   `memoryDump`.
 * @throws {HeapAnalyzerError} the errors of {@link captureDump}; `ERR_INVALID_ARG_VALUE` if the path is
 *   invalid; `ERR_DUMP_PATH` if it names a folder, a device or a pipe; `ERR_DUMP_WRITE` with the system's
 *   error (`ENOSPC`, `EACCES`, …) as `cause`.
 */
export function writeDump(
  exports: object,
  path: string | URL | Uint8Array,
  options?: CaptureOptions | null,
): void {
  const file = textPath("path", path);
  writeDumpFile(takeSnapshot(exports, options), file);
}

/**
 * Calls `work`. If a trap or an exception ends a call of the program in it, writes a dump first and then throws the
 * same error. The stack of the program is as it was at the trap, so what it refers to counts as alive.
 *
 * A failed `memory.grow` is a trap: the allocator of AssemblyScript executes `unreachable` then.
 *
 * @param exports as for {@link captureDump}.
 * @param path as for {@link writeDump}.
 * @param work a call of the program. If it returns a promise, use `writeDump` in a `catch` in its place.
 * @throws what `work` throws. If the dump cannot be written, the {@link HeapAnalyzerError} of {@link writeDump}, with
 *   the error of `work` as its `cause`.
 */
export function writeDumpOnTrap<T>(
  exports: object,
  path: string | URL | Uint8Array,
  work: () => T,
  options?: CaptureOptions | null,
): T {
  try {
    return work();
  } catch (error) {
    if (!isFromProgram(error)) throw error;
    try {
      const file = textPath("path", path);
      writeDumpFile(takeSnapshot(exports, options, "after a trap"), file);
    } catch (failure) {
      const { code, message } = failure as HeapAnalyzerError;
      throw new HeapAnalyzerError(code, message, { cause: error });
    }
    throw error;
  }
}

/**
 * Writes a dump if the memory of the program is larger than a number of bytes.
 *
 * @param exports as for {@link captureDump}.
 * @param path as for {@link writeDump}.
 * @param bytes the largest size of the memory, in bytes, for which no dump is written.
 * @returns whether a dump was written.
 * @throws {HeapAnalyzerError} the errors of {@link writeDump}.
 */
export function writeDumpAbove(
  exports: object,
  path: string | URL | Uint8Array,
  bytes: number,
  options?: CaptureOptions | null,
): boolean {
  const file = textPath("path", path);
  if (!(typeof bytes === "number" && bytes >= 0))
    throw invalidArgument("bytes", "a number ≥ 0", bytes);
  const snapshot = takeSnapshot(exports, options);
  if (snapshot.memorySize <= bytes) return false;
  writeDumpFile(snapshot, file);
  return true;
}

/**
 * Writes a dump of an instance, a heap snapshot of this thread and the numbers that the snapshot does not show, all of
 * one moment. With them, the analyzer finds which JavaScript objects hold which objects of the program by their
 * addresses.
 *
 * The files are `<prefix>.dump`, `<prefix>.heapsnapshot` and `<prefix>.numbers.json`. Missing folders are created. None
 * of the files appears if one fails. Their owner alone can read them, because they contain the program's secrets.
 *
 * A heap snapshot shows numbers in named properties and in variables of functions and modules. The numbers file has those
 * in arrays, maps, sets, `Number` objects and typed arrays, and with the option `closures` those in variables of blocks.
 * Nothing shows the variables of generators and of asynchronous functions.
 *
 * The thread stands still meanwhile, for about 0.5 s and longer for a large JavaScript heap. It uses the inspector of
 * this thread. No method of an object of the program is called.
 *
 * @param exports as for {@link captureDump}.
 * @param prefix the path of the files without their endings. It is trusted, as the path of {@link writeDump}.
 * @throws {HeapAnalyzerError} the errors of {@link writeDump}, and `ERR_INSPECTOR` if this process may not use its
 *   inspector.
 */
export function capturePair(
  exports: object,
  prefix: string | URL | Uint8Array,
  options?: PairOptions | null,
): CapturedPair {
  return writePair(exports, textPath("prefix", prefix), options);
}
