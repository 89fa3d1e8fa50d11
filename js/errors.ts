/** The error class of this package. It uses no part of Node, because the entry for browsers uses it too. */
import type { ErrorCode } from "../index.js";
import { descriptor } from "./descriptor.js";

export class HeapAnalyzerError extends Error {
  readonly code: ErrorCode;
  // Without `declare`, an error without advice would have the property, too.
  declare readonly advice?: string;

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; advice?: string | undefined } = {},
  ) {
    const { advice, ...rest } = options;
    super(message, rest);
    this.code = code;
    if (advice !== undefined) this.advice = advice;
  }
}

// On the prototype, as in the built-in error classes, so that it is not a property of each error.
Object.defineProperty(
  HeapAnalyzerError.prototype,
  "name",
  descriptor({ value: "HeapAnalyzerError", configurable: true, writable: true }),
);

/**
 * The error for an argument of a wrong type.
 *
 * @param advice what to pass instead. Default: how to get bytes, where bytes are expected.
 */
export function invalidArgument(
  name: string,
  expected: string,
  value: unknown,
  advice = expected.includes("Uint8Array") ? BYTES_FROM[kindOf(value)] : undefined,
): HeapAnalyzerError {
  const message = `argument "${name}" must be ${expected}, found ${describe(value)}`;
  return new HeapAnalyzerError(
    "ERR_INVALID_ARG_TYPE",
    advice === undefined ? message : `${message}; ${advice}`,
  );
}

/** How to get bytes from values that are often passed by mistake. */
const BYTES_FROM: Record<string, string> = {
  Blob: "pass new Uint8Array(await blob.arrayBuffer())",
  Promise: "await it first",
  Response: "pass new Uint8Array(await response.arrayBuffer())",
  string: "to read files, call the …File variant",
  "WebAssembly.Module": "pass the bytes that it was compiled from",
};

/** The type of a value, and of an object its built-in class, in any realm: `Promise`, `WebAssembly.Module`. */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (typeof value !== "object") return typeof value;
  return Object.prototype.toString.call(value).slice("[object ".length, -1);
}

function describe(value: unknown): string {
  const kind = kindOf(value);
  if (value === null || typeof value !== "object") return kind;
  if (kind === "Object") return "object";
  return `${/^[AEIO]/.test(kind) ? "an" : "a"} ${kind}`;
}
