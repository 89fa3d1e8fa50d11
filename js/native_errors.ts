/** Errors of the native addon as errors of this package. */
import { getSystemErrorMap } from "node:util";
import type { ErrorCode } from "../index.js";
import { adviceFor } from "./advice.js";
import { HeapAnalyzerError } from "./errors.js";

/** Calls the addon. An error that it throws becomes a {@link HeapAnalyzerError}. */
export function callNative<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw translated(error);
  }
}

/** The same as {@link callNative}, for calls that return a promise. The error's stack includes the callers that await it. */
export async function awaitNative<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw translated(error);
  }
}

function translated(error: unknown): unknown {
  if (error instanceof HeapAnalyzerError) return error;
  const { code, message, cause } = error as Error & { code: ErrorCode };
  const advice = adviceFor("api", code);
  const options = cause === undefined ? { advice } : { advice, cause: systemError(cause as Error) };
  return new HeapAnalyzerError(code, message, options);
}

/** The data that `src/error.rs` reports about an error of the system. */
interface SystemErrorFacts {
  /** The system's own number. */
  number: number | null;
  /** The name of Rust's `ErrorKind`. */
  kind: string;
  message: string;
  syscall: string;
  path: string;
}

/** The names of errors by Rust's kind, for systems whose error numbers differ from libuv's. */
const CODES: Record<string, string> = {
  InvalidFilename: "ENAMETOOLONG",
  IsADirectory: "EISDIR",
  NotADirectory: "ENOTDIR",
  NotFound: "ENOENT",
  PermissionDenied: "EACCES",
};

/** An error with the properties of Node's errors: `errno`, `code`, `path` and `syscall`. */
function systemError(cause: Error): Error {
  const { number, kind, message, syscall, path } = JSON.parse(cause.message) as SystemErrorFacts;
  const known = [...getSystemErrorMap()];
  const entry =
    process.platform !== "win32" && number !== null
      ? known.find(([errno]) => errno === -number)
      : known.find(([, [code]]) => code === CODES[kind]);
  const [errno, [code, description]] = entry ?? [undefined, [undefined, message]];
  const prefix = code === undefined ? "" : `${code}: `;
  const error = new Error(`${prefix}${description}, ${syscall} '${path}'`);
  return Object.assign(error, errno === undefined ? {} : { errno, code }, { syscall, path });
}
