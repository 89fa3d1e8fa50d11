/**
 * Dump capture for browsers and bundlers: one file without Node parts.
 *
 * ```js
 * import { downloadDump } from "@warpo/heap-analyzer/browser"; // before the import that instantiates
 * import * as program from "./build/debug.js";
 * downloadDump(program, "after.dump");
 * ```
 *
 * A browser cannot change a module before it is compiled, so expose its globals at build time: with
 * `warpo-heap-analyzer expose`, or with the transform `@warpo/heap-analyzer/asc-transform/expose`.
 * Once this module is loaded, `captureDump` accepts any object that has the memory of an instance of an
 * exposed module in this thread: exports, the namespace of bindings, a loader's result. For instances
 * that were created earlier, it accepts only the exports. Workers are supported too.
 *
 * @module
 */

import { joinDump } from "./capture/dump_bytes.js";
import { interceptWebAssembly } from "./capture/interception.js";
import { type CaptureOptions, takeSnapshot } from "./capture/snapshot.js";
import { HeapAnalyzerError } from "./errors.js";

export type { CaptureOptions } from "./capture/snapshot.js";
export { HeapAnalyzerError } from "./errors.js";

interceptWebAssembly();

/**
 * Captures a complete dump (ASHD version 2) of an instance.
 *
 * @param exports the exports of an instance, the instance, the namespace of a module that
 *   `asc --bindings` wrote, a loader's result, or the instance's memory.
 * @returns the bytes of the dump. The memory is copied once.
 * @throws {HeapAnalyzerError} `ERR_GLOBALS_NOT_EXPOSED`, `ERR_INSTANCE_AMBIGUOUS`, `ERR_MEMORY_MISSING`,
 *   `ERR_INVALID_ARG_TYPE` or `ERR_DUMP_TOO_LARGE`.
 */
export function captureDump(exports: object, options?: CaptureOptions): Uint8Array<ArrayBuffer> {
  return joinDump(takeSnapshot(exports, options));
}

/** The parts of a page that a download needs. */
declare const document:
  | { createElement(tag: "a"): { href: string; download: string; click(): void } }
  | undefined;

/**
 * Captures a dump and offers it to the user as a download.
 *
 * @param fileName the file name that the browser suggests.
 * @throws {HeapAnalyzerError} as {@link captureDump} does, and `ERR_NO_DOCUMENT` in a worker, which has no
 *   downloads: post the bytes of {@link captureDump} to the page.
 */
export function downloadDump(
  exports: object,
  fileName = "heap.dump",
  options?: CaptureOptions,
): void {
  if (typeof document === "undefined") {
    throw new HeapAnalyzerError(
      "ERR_NO_DOCUMENT",
      "only a page can offer a download: in a worker, call captureDump and post the bytes to the page",
    );
  }
  const dump = new Blob([captureDump(exports, options)], { type: "application/octet-stream" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(dump);
  link.download = fileName;
  link.click();
  // By then, the download has started and no longer needs the URL.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
