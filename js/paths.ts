/** Checks the paths that a caller passes: text, `file:` URLs, or bytes. */
import { fileURLToPath } from "node:url";
import { types } from "node:util";
import { HeapAnalyzerError, invalidArgument } from "./errors.js";
import type * as native from "./native.js";

/** A path: text, or bytes if they are not UTF-8. */
export function path(name: string, value: unknown): string | Buffer {
  const found = readPath(name, value);
  if (found.length === 0) throw invalidValue(name, "is an empty path");
  if (found.includes("\0")) {
    const hint = types.isUint8Array(value)
      ? "; a Uint8Array is read as the bytes of a path: to analyze bytes, call the variant without File"
      : "";
    throw invalidValue(name, `is a path with a null byte${hint}`);
  }
  return found;
}

/** A file for the addon. With a descriptor, the open file is read instead of what is at the path now. */
function file(name: string, value: unknown, descriptor?: number): native.FileData {
  const found = path(name, value);
  return descriptor === undefined ? { path: found } : { path: found, descriptor };
}

/** The file of a dump, which is raw memory if the options for the addon say so. */
export function dumpFile(
  name: string,
  value: unknown,
  request: { raw?: unknown },
  descriptor?: number,
): native.FileData {
  const found = file(name, value, descriptor);
  return request.raw === undefined ? found : { ...found, raw: true };
}

/** The file of a module; absent for a heap snapshot of V8, which has none. */
export function moduleFile(value: unknown, descriptor?: number): native.FileData | undefined {
  return value === undefined || value === null ? undefined : file("wasm", value, descriptor);
}

/** A path for functions that accept only text. */
export function textPath(name: string, value: unknown): string {
  const found = path(name, value);
  if (typeof found === "string") return found;
  throw invalidValue(name, "is a path that is not UTF-8");
}

function readPath(name: string, value: unknown): string | Buffer {
  if (typeof value === "string") return value;
  if (types.isUint8Array(value)) {
    const bytes = Buffer.from(value);
    const text = bytes.toString();
    return Buffer.from(text).equals(bytes) ? text : bytes;
  }
  // Not `instanceof`: test runners pass objects of other realms.
  const href = (value as URL | null | undefined)?.href;
  if (typeof value !== "object" || typeof href !== "string") {
    throw invalidArgument(name, "a path (string, URL or Buffer)", value);
  }
  try {
    return fileURLToPath(href);
  } catch (cause) {
    throw invalidValue(name, `is the URL ${href.slice(0, 200)}, which names no file`, cause);
  }
}

function invalidValue(name: string, what: string, cause?: unknown): HeapAnalyzerError {
  return new HeapAnalyzerError(
    "ERR_INVALID_ARG_VALUE",
    `argument "${name}" ${what}; expected the path of a file`,
    cause === undefined ? {} : { cause },
  );
}
