/** The error class of this package. It needs nothing of Node, so the entry for browsers can use it too. */
import type { ErrorCode } from "../index.js";
import { descriptor } from "./descriptor.js";

export class HeapAnalyzerError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

// On the prototype, as in the built-in error classes, so that it is not a property of each error.
Object.defineProperty(
  HeapAnalyzerError.prototype,
  "name",
  descriptor({ value: "HeapAnalyzerError", configurable: true, writable: true }),
);

/** The error for an argument of a wrong type. */
export function invalidArgument(name: string, expected: string, value: unknown): HeapAnalyzerError {
  const { found, advice } = describe(value);
  const hint =
    expected.includes("Uint8Array") && typeof value === "string"
      ? "; to read files, call the …File variant"
      : advice;
  return new HeapAnalyzerError(
    "ERR_INVALID_ARG_TYPE",
    `argument "${name}" must be ${expected}, found ${found}${hint}`,
  );
}

/** What to do with objects that are often passed instead of bytes. */
const ADVICE: Record<string, string> = {
  ArrayBuffer: "; pass new Uint8Array(buffer)",
  Blob: "; pass new Uint8Array(await blob.arrayBuffer())",
  Promise: "; await it first",
  Response: "; pass new Uint8Array(await response.arrayBuffer())",
  SharedArrayBuffer: "; pass new Uint8Array(buffer)",
  "WebAssembly.Module": "; pass the bytes that it was compiled from",
};

function describe(value: unknown): { found: string; advice: string } {
  if (value === null) return { found: "null", advice: "" };
  if (typeof value !== "object") return { found: typeof value, advice: "" };
  const tag = Object.prototype.toString.call(value).slice("[object ".length, -1);
  const article = /^[AEIO]/.test(tag) ? "an" : "a";
  return { found: tag === "Object" ? "object" : `${article} ${tag}`, advice: ADVICE[tag] ?? "" };
}
