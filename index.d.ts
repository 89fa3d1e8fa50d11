/**
 * What keeps memory alive in WebAssembly programs, and in the JavaScript around them.
 *
 * The functions take dumps (ASHD, version 2) and the module that the dumps were taken from. They return
 * the constructor view of one dump, the comparison view of two, or a {@link Heap} that answers questions.
 * To capture a dump, see `@warpo/heap-analyzer/capture`.
 *
 * ```js
 * import { analyze } from "@warpo/heap-analyzer";
 * import { captureDump } from "@warpo/heap-analyzer/capture";
 *
 * const view = analyze(captureDump(instance.exports), wasm);
 * for (const row of view.constructors) console.log(row.className, row.count, row.totalRetainedSize);
 * ```
 *
 * Every function throws (or rejects with) a {@link HeapAnalyzerError}. All sizes are in bytes. An address
 * is an offset in linear memory, which is also the value of a reference.
 */

import type { ComparisonView, ConstructorView } from "./answers.js";
import type { ErrorCode, WarningCode } from "./codes.js";
import type { AnalyzeOptions, DiffOptions } from "./options.js";

export * from "./answers.js";
export * from "./codes.js";
export * from "./heap.js";
export * from "./options.js";

/** An error of this package. `code` says what happened. */
export class HeapAnalyzerError extends Error {
  constructor(
    code: ErrorCode,
    message: string,
    options?: { cause?: unknown; advice?: string | undefined },
  );
  /** A stable name for programs. The words of `message` may change. */
  readonly code: ErrorCode;
  /** What to do, in words of this API, if `message` does not say all of it. Absent if it does. */
  readonly advice?: string;
  /**
   * For `ERR_IO`, an error with `errno`, `code`, `path` and `syscall` from the system, like the errors of
   * Node. For `ABORT_ERR`, the signal's `reason`. For `ERR_NO_BINARY`, the reason why the addon does not load.
   */
  readonly cause?: unknown;
}

/** A finding that may make a number wrong. It did not stop the analysis. */
export interface Warning {
  /** A stable name for programs. */
  code: WarningCode;
  /** A sentence: what was found, and which numbers may be wrong. */
  message: string;
}

/** The methods of both views. */
export interface View {
  /**
   * Releases the native memory from which instances are created. Rows and instances that were read before
   * remain; reading others throws `ERR_VIEW_CLOSED`. When all instances have been read, the view closes
   * itself. If `close` is not called, the garbage collector releases the memory, but not during a
   * synchronous loop.
   */
  close(): void;
  /** The same as {@link close}, for `using`. */
  [Symbol.dispose](): void;
}

declare global {
  // Older versions of the standard library do not declare it.
  interface SymbolConstructor {
    readonly dispose: unique symbol;
  }
}

/**
 * Options of asynchronous calls.
 *
 * The work runs on threads of the addon: one per core, at most 4. It does not use libuv's threads, so it
 * does not delay file access, name lookups or cryptography. Calls start in the order in which they are
 * made, for all worker threads together. A waiting call holds only the copies of its bytes. Inputs that
 * are neither files nor folders, such as pipes, are read first, by other threads, at most 16 at a time.
 */
export interface AsyncOptions {
  /**
   * Stops the work. The promise rejects with an `AbortError` (`code: "ABORT_ERR"`): at once if the work
   * has not started or waits for a pipe, otherwise when the work has stopped and closed its files, within
   * 100 ms.
   */
  signal?: AbortSignal | null | undefined;
  /**
   * Called about twenty times per second during the work, and once when it is done. If it throws, or
   * returns a promise that is rejected before the work is done, the work stops and the call rejects with
   * the same error. A later rejection becomes a warning of the process.
   */
  onProgress?: ((progress: Progress) => unknown) | null | undefined;
}

/** The progress of an analysis. */
export interface Progress {
  /** The phase that began last. In a comparison, each dump goes through all phases. */
  phase:
    | "module"
    | "blocks"
    | "objects"
    | "references"
    | "search"
    | "dominators"
    | "sizes"
    | "view";
  /** The part of the whole work that is done: from 0 to 1, never decreasing. */
  fraction: number;
  /** The size of all dumps that are being analyzed. */
  bytes: number;
}

/**
 * Bytes of a dump, a module or a snapshot: any Uint8Array, including subclasses such as Buffer, and parts of larger
 * buffers; or a whole ArrayBuffer or SharedArrayBuffer.
 */
export type Bytes = Uint8Array | ArrayBuffer | SharedArrayBuffer;

/**
 * The constructor view of a dump, or of a heap snapshot of V8 (`.heapsnapshot`). A dump needs its module, `wasm`. A
 * snapshot needs none, but a module gives its objects of WasmGC names. The bytes are read in place and not kept.
 *
 * Shared memory is copied first. Other typed arrays are refused (`ERR_INVALID_ARG_TYPE`). So are arrays with a
 * detached buffer (`ERR_BUFFER_DETACHED`), which otherwise look like empty ones.
 */
export function analyze(
  dump: Bytes,
  wasm?: Bytes | null,
  options?: AnalyzeOptions | null,
): ConstructorView;
/**
 * The same as {@link analyze}, asynchronously. Dump and module are copied first, so the caller may change
 * them meanwhile. The copies are kept until the work is done or aborted.
 */
export function analyzeAsync(
  dump: Bytes,
  wasm?: Bytes | null,
  options?: (AnalyzeOptions & AsyncOptions) | null,
): Promise<ConstructorView>;
/**
 * The path of a file: text, a `file:` URL, or the bytes of the path (a Buffer), which need not be UTF-8.
 */
export type FilePath = string | URL | Uint8Array;

/** The same as {@link analyze}, from files. A file that changes while it is read is `ERR_DUMP_CHANGED`. */
export function analyzeFile(
  dump: FilePath,
  wasm?: FilePath | null,
  options?: AnalyzeOptions | null,
): ConstructorView;
/** The same as {@link analyzeFile}, asynchronously. */
export function analyzeFileAsync(
  dump: FilePath,
  wasm?: FilePath | null,
  options?: (AnalyzeOptions & AsyncOptions) | null,
): Promise<ConstructorView>;

/** The comparison view of two dumps of one module. */
export function diff(
  before: Bytes,
  after: Bytes,
  wasm?: Bytes | null,
  options?: DiffOptions | null,
): ComparisonView;
/** The same as {@link diff}, asynchronously. Dumps and module are copied first. */
export function diffAsync(
  before: Bytes,
  after: Bytes,
  wasm?: Bytes | null,
  options?: (DiffOptions & AsyncOptions) | null,
): Promise<ComparisonView>;
/** The same as {@link diff}, from files. A file that changes while it is read is `ERR_DUMP_CHANGED`. */
export function diffFile(
  before: FilePath,
  after: FilePath,
  wasm?: FilePath | null,
  options?: DiffOptions | null,
): ComparisonView;
/** The same as {@link diffFile}, asynchronously. */
export function diffFileAsync(
  before: FilePath,
  after: FilePath,
  wasm?: FilePath | null,
  options?: (DiffOptions & AsyncOptions) | null,
): Promise<ComparisonView>;
