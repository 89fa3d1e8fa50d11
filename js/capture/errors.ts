// What goes wrong when a dump is captured, as errors that say what to do and carry a stable code.

import { escapeUnprintable } from "../text.js";
import { describeValue } from "./describe_value.js";

/**
 * A dump could not be captured or written.
 *
 * `code` is stable:
 * - `ERR_GLOBALS_NOT_EXPOSED`: the instance does not show its globals; compile the bytes that
 *   `exposeGlobals` returns, or load `@warpo/heap-analyzer/register` first.
 * - `ERR_INSTANCE_AMBIGUOUS`: several instances use the memory that was given.
 * - `ERR_MEMORY_MISSING`: the instance exports no memory, and none was given.
 * - `ERR_DUMP_TOO_LARGE`: there is no room for the dump in one `Uint8Array`.
 * - `ERR_NO_DOCUMENT`: a worker asked for a download.
 * - `ERR_DUMP_NOT_ATTACHED`: the program asked for a dump before its exports were known.
 * - `ERR_DUMP_PATH`: the path is not one that a dump may be written to.
 * - `ERR_DUMP_SIGNAL`: `HEAP_DUMP_SIGNAL` names a signal that this system cannot handle.
 * - `ERR_WEBASSEMBLY_FROZEN`: `register` cannot replace the functions of `WebAssembly`.
 * - `ERR_INVALID_ARG_TYPE`: an argument is of another type.
 * - a system code such as `ENOSPC` or `EACCES`: the file could not be written. The system's error
 *   is the `cause`.
 */
export class CaptureError extends Error {
  override readonly name = "CaptureError";
  readonly code: string;

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** An argument of another type than the one asked for. `hint` says what to pass instead. */
export function invalidArgument(
  name: string,
  expected: string,
  value: unknown,
  hint?: string,
): CaptureError {
  const message = `argument "${name}" must be ${expected}, found ${describeValue(value)}`;
  return new CaptureError(
    "ERR_INVALID_ARG_TYPE",
    hint === undefined ? message : `${message}; ${hint}`,
  );
}

/** Longer texts are cut in messages: a guest may have chosen them. */
const MAX_SHOWN_LENGTH = 200;

/**
 * A text from outside (a guest's path, a file name), fit for a message: in quotes, cut if it is very
 * long, and with all unprintable characters escaped.
 */
export function quote(text: string): string {
  const shown = text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text;
  return escapeUnprintable(JSON.stringify(shown));
}
