/** The public API (`../index.d.ts`) on top of the native addon. */
import { types } from "node:util";
import type * as api from "../index.js";
import { availableMemory } from "./memory.js";
import * as native from "./native.js";
import { comparisonView, constructorView } from "./views.js";

export const analyze: typeof api.analyze = (dump, wasm, options) =>
  constructorView(native.analyze(bytes("dump", dump), bytes("wasm", wasm), checked(options)));

export const analyzeAsync: typeof api.analyzeAsync = async (dump, wasm, options) =>
  constructorView(
    await controlled(options, (control) =>
      native.analyzeAsync(bytes("dump", dump), bytes("wasm", wasm), checked(options), control),
    ),
  );

export const analyzeFile: typeof api.analyzeFile = (dump, wasm, options) =>
  constructorView(native.analyzeFile(path("dump", dump), path("wasm", wasm), checked(options)));

export const analyzeFileAsync: typeof api.analyzeFileAsync = async (dump, wasm, options) =>
  constructorView(
    await controlled(options, (control) =>
      native.analyzeFileAsync(path("dump", dump), path("wasm", wasm), checked(options), control),
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
    await controlled(options, (control) =>
      native.diffAsync(
        bytes("before", before),
        bytes("after", after),
        bytes("wasm", wasm),
        checked(options),
        control,
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
    await controlled(options, (control) =>
      native.diffFileAsync(
        path("before", before),
        path("after", after),
        path("wasm", wasm),
        checked(options),
        control,
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
  const { sort, top, instances, force, partial } = options;
  const types = {
    sort: "string",
    top: "number",
    instances: "number",
    force: "boolean",
    partial: "boolean",
  };
  const passed = { sort, top, instances, force, partial };
  for (const [name, value] of Object.entries(passed)) {
    const expected = types[name as keyof typeof types];
    if (value !== undefined && typeof value !== expected) {
      throw invalidArgument(`options.${name}`, `a ${expected}`, value);
    }
  }
  return { ...passed, availableMemory: availableMemory() };
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

/** Milliseconds between two reports of progress. */
const REPORT_INTERVAL = 50;

/** Runs native work that stops when the signal says so, and tells how far it is. */
async function controlled<T>(
  { signal, onProgress }: api.AsyncOptions = {},
  start: (control: native.WorkControl) => Promise<T>,
): Promise<T> {
  if (onProgress !== undefined && typeof onProgress !== "function") {
    throw invalidArgument("options.onProgress", "a function", onProgress);
  }
  const abortError = () =>
    Object.assign(new Error("The operation was aborted", { cause: signal?.reason }), {
      name: "AbortError",
      code: "ABORT_ERR",
    });
  if (signal?.aborted) throw abortError();
  const control = new native.WorkControl();
  const cancel = () => control.cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  let failure: { error: unknown } | undefined;
  const report = (known?: Partial<api.Progress>) => {
    try {
      onProgress?.({ ...(control.progress() as api.Progress), ...known });
    } catch (error) {
      // The caller's own error is what the promise ends in.
      failure ??= { error };
      control.cancel();
    }
  };
  const timer = onProgress && setInterval(() => report(), REPORT_INTERVAL);
  try {
    const result = await start(control);
    report({ fraction: 1 });
    if (failure !== undefined) throw failure.error;
    return result;
  } catch (error) {
    if (failure !== undefined) throw failure.error;
    throw (error as { code?: unknown }).code === "ABORT_ERR" ? abortError() : error;
  } finally {
    clearInterval(timer);
    signal?.removeEventListener("abort", cancel);
  }
}
