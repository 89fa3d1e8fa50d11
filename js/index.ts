/** The public API (`../index.d.ts`) on top of the native addon. */
import { types } from "node:util";
import type * as api from "../index.js";
import * as native from "./native.js";
import { comparisonView, constructorView } from "./views.js";

export const analyze: typeof api.analyze = (dump, wasm, options) =>
  constructorView(native.analyze(bytes("dump", dump), bytes("wasm", wasm), checked(options)));

export const analyzeAsync: typeof api.analyzeAsync = async (dump, wasm, options) =>
  constructorView(
    await abortable(options?.signal, (canceller) =>
      native.analyzeAsync(bytes("dump", dump), bytes("wasm", wasm), checked(options), canceller),
    ),
  );

export const analyzeFile: typeof api.analyzeFile = (dump, wasm, options) =>
  constructorView(native.analyzeFile(path("dump", dump), path("wasm", wasm), checked(options)));

export const analyzeFileAsync: typeof api.analyzeFileAsync = async (dump, wasm, options) =>
  constructorView(
    await abortable(options?.signal, (canceller) =>
      native.analyzeFileAsync(path("dump", dump), path("wasm", wasm), checked(options), canceller),
    ),
  );

export const diff: typeof api.diff = (before, after, wasm, options) =>
  comparisonView(
    native.diff(
      bytes("before", before),
      bytes("after", after),
      bytes("wasm", wasm),
      checked(options),
    ),
  );

export const diffAsync: typeof api.diffAsync = async (before, after, wasm, options) =>
  comparisonView(
    await abortable(options?.signal, (canceller) =>
      native.diffAsync(
        bytes("before", before),
        bytes("after", after),
        bytes("wasm", wasm),
        checked(options),
        canceller,
      ),
    ),
  );

export const diffFile: typeof api.diffFile = (before, after, wasm, options) =>
  comparisonView(
    native.diffFile(
      path("before", before),
      path("after", after),
      path("wasm", wasm),
      checked(options),
    ),
  );

export const diffFileAsync: typeof api.diffFileAsync = async (before, after, wasm, options) =>
  comparisonView(
    await abortable(options?.signal, (canceller) =>
      native.diffFileAsync(
        path("before", before),
        path("after", after),
        path("wasm", wasm),
        checked(options),
        canceller,
      ),
    ),
  );

/** Checks an argument by what it is, not by `instanceof`: test runners pass objects of other realms. */
function bytes(name: string, value: unknown): Uint8Array {
  if (!types.isUint8Array(value)) {
    throw invalidArgument(name, "a Uint8Array or Buffer", value);
  }
  // Another thread may write to shared memory while it is read: read a copy.
  return types.isSharedArrayBuffer(value.buffer) ? value.slice() : value;
}

function path(name: string, value: unknown): string {
  if (typeof value !== "string") {
    throw invalidArgument(name, "a path (string)", value);
  }
  return value;
}

/** What the addon needs of the options, each of the type that it takes. */
function checked(options: api.AnalyzeOptions | api.DiffOptions = {}) {
  const { sort, top, force, partial } = options;
  const types = { sort: "string", top: "number", force: "boolean", partial: "boolean" };
  for (const [name, value] of Object.entries({ sort, top, force, partial })) {
    const expected = types[name as keyof typeof types];
    if (value !== undefined && typeof value !== expected) {
      throw invalidArgument(`options.${name}`, `a ${expected}`, value);
    }
  }
  return { sort, top, force, partial };
}

function invalidArgument(name: string, expected: string, value: unknown): TypeError {
  const found = value === null ? "null" : typeof value;
  const hint =
    !name.startsWith("options.") && typeof value === "string"
      ? "; to read files, call the …File variant"
      : "";
  const error = new TypeError(`argument "${name}" must be ${expected}, found ${found}${hint}`);
  return Object.assign(error, { code: "ERR_INVALID_ARG_TYPE" });
}

/** Runs native work that stops when the signal says so. */
async function abortable<T>(
  signal: AbortSignal | undefined,
  start: (canceller: native.Canceller) => Promise<T>,
): Promise<T> {
  const abortError = () =>
    Object.assign(new Error("The operation was aborted", { cause: signal?.reason }), {
      name: "AbortError",
      code: "ABORT_ERR",
    });
  if (signal?.aborted) throw abortError();
  const canceller = new native.Canceller();
  const cancel = () => canceller.cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    return await start(canceller);
  } catch (error) {
    throw (error as { code?: unknown }).code === "ABORT_ERR" ? abortError() : error;
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}
