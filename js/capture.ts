/**
 * Dump capture for Node hosts.
 *
 * A host sees of an instance only what it exports, and AssemblyScript exports no globals. So the
 * module is changed before it is compiled: {@link exposeGlobals} returns the same program with
 * everything exported that a complete dump needs. `@warpo/heap-analyzer/register` does this for all
 * modules of a program, `warpo-heap-analyzer expose` at build time.
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
 * Works with WARPO builds and with stock `asc` builds, optimised or not. All functions are
 * synchronous, because a program asks for its dump in the middle of a call.
 *
 * @module
 */

import { bytes } from "./bytes.js";
import { joinDump } from "./capture/dump_bytes.js";
import { writeDumpFile } from "./capture/dump_file.js";
import { type CaptureOptions, takeSnapshot } from "./capture/snapshot.js";
import { invalidArgument } from "./errors.js";
import { exposeGlobals as exposeGlobalsNatively } from "./native.js";
import { callNative } from "./native_errors.js";
import { textPath } from "./paths.js";

export { type MemoryDump, type MemoryDumpOptions, memoryDump } from "./capture/memory_dump.js";
export type { CaptureOptions } from "./capture/snapshot.js";
export { HeapAnalyzerError } from "./errors.js";

/**
 * Returns the same module with every mutable i32 global, the boundaries of its memory and the
 * memory itself exported under reserved names that start with `__warpo_heap_analyzer:`.
 *
 * Names, debug information and global indexes stay as they are, so a dump of the result can be
 * analyzed with either module. Applying it twice changes nothing. Positions in a source map are off
 * by what the exports take, because they count from the start of the file.
 *
 * @throws {HeapAnalyzerError} `ERR_MODULE` (not a module), `ERR_MODULE_KIND` (a 64-bit memory, or
 *   none), `ERR_GLOBAL_MISSING` (no shadow stack: not compiled with the incremental runtime),
 *   `ERR_INVALID_ARG_TYPE`, `ERR_BUFFER_DETACHED`, `ERR_BUFFER_OUT_OF_BOUNDS` or `ERR_OUT_OF_MEMORY`.
 */
export function exposeGlobals(wasm: Uint8Array): Uint8Array<ArrayBuffer> {
  if (typeof wasm === "string") {
    throw invalidArgument("wasm", "a Uint8Array or Buffer", wasm, "read the file first");
  }
  const module = bytes("wasm", wasm);
  return callNative(() => exposeGlobalsNatively(module)) as Uint8Array<ArrayBuffer>;
}

/**
 * Captures a complete dump (ASHD version 2) of an instance: header, the values of all mutable i32
 * globals in module order, and the memory.
 *
 * The memory is copied once. A shared memory is copied while other threads may write to it: let
 * them wait if the dump is to be consistent.
 *
 * @param exports the exports of an instance of a module that went through {@link exposeGlobals},
 *   or the instance itself. After `@warpo/heap-analyzer/register` was loaded, also the namespace of a
 *   module that `asc --bindings` wrote, a loader's result, or the instance's memory.
 * @throws {HeapAnalyzerError} `ERR_GLOBALS_NOT_EXPOSED`, `ERR_INSTANCE_AMBIGUOUS`, `ERR_MEMORY_MISSING`,
 *   `ERR_INVALID_ARG_TYPE`, or `ERR_DUMP_TOO_LARGE` if there is no room for header and memory in
 *   one array.
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
 * Missing folders are created. Under `path` there is either what was there before or the whole new
 * dump: it is written under a temporary name in the same folder, brought to the disk and renamed;
 * if anything fails, the temporary file is removed. A new dump is readable for its owner alone, because
 * it holds the program's secrets; one that is replaced keeps its permissions.
 *
 * @param exports as for {@link captureDump}.
 * @param path trusted, as it is the host's; for paths that a program chooses there is
 *   `memoryDump`.
 * @throws {HeapAnalyzerError} as {@link captureDump} does, `ERR_INVALID_ARG_VALUE` if the path cannot be
 *   one, `ERR_DUMP_PATH` if it names something that is not a regular file, or `ERR_DUMP_WRITE` with the
 *   system's error (`ENOSPC`, `EACCES`, …) as `cause`.
 */
export function writeDump(
  exports: object,
  path: string | URL | Uint8Array,
  options?: CaptureOptions | null,
): void {
  const file = textPath("path", path);
  writeDumpFile(takeSnapshot(exports, options), file);
}
