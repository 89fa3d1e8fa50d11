/** The public API (`../index.d.ts`) on top of the native addon. */
import { types } from "node:util";
import type * as api from "../index.js";
import { bytes, invalidArgument } from "./bytes.js";
import { availableMemory } from "./memory.js";
import * as native from "./native.js";
import { comparisonView, constructorView } from "./views.js";

/*
 * Options are read before anything else, since to read them may run code of the caller: bytes that were
 * checked before could be gone.
 */

export const analyze: typeof api.analyze = (dump, wasm, options) => {
  const request = checked(options);
  return constructorView(native.analyze(bytes("dump", dump), bytes("wasm", wasm), request));
};

export const analyzeAsync: typeof api.analyzeAsync = async (dump, wasm, options) => {
  const request = checked(options);
  return constructorView(
    await controlled(options, (control) =>
      native.analyzeAsync(bytes("dump", dump), bytes("wasm", wasm), request, control),
    ),
  );
};

export const analyzeFile: typeof api.analyzeFile = (dump, wasm, options) => {
  const request = checked(options);
  return constructorView(native.analyzeFile(path("dump", dump), path("wasm", wasm), request));
};

export const analyzeFileAsync: typeof api.analyzeFileAsync = async (dump, wasm, options) => {
  const request = checked(options);
  return constructorView(
    await controlled(options, (control) =>
      native.analyzeFileAsync(path("dump", dump), path("wasm", wasm), request, control),
    ),
  );
};

export const diff: typeof api.diff = (before, after, wasm, options) => {
  const request = checked(options);
  return comparisonView(
    native.diff(bytes("before", before), bytes("after", after), bytes("wasm", wasm), request),
  );
};

export const diffAsync: typeof api.diffAsync = async (before, after, wasm, options) => {
  const request = checked(options);
  return comparisonView(
    await controlled(options, (control) =>
      native.diffAsync(
        bytes("before", before),
        bytes("after", after),
        bytes("wasm", wasm),
        request,
        control,
      ),
    ),
  );
};

export const diffFile: typeof api.diffFile = (before, after, wasm, options) => {
  const request = checked(options);
  return comparisonView(
    native.diffFile(path("before", before), path("after", after), path("wasm", wasm), request),
  );
};

export const diffFileAsync: typeof api.diffFileAsync = async (before, after, wasm, options) => {
  const request = checked(options);
  return comparisonView(
    await controlled(options, (control) =>
      native.diffFileAsync(
        path("before", before),
        path("after", after),
        path("wasm", wasm),
        request,
        control,
      ),
    ),
  );
};

function path(name: string, value: unknown): string {
  if (typeof value !== "string") {
    throw invalidArgument(name, "a path (string)", value);
  }
  return value;
}

/** What the addon needs of the options, each of the type that it takes. */
function checked(options: api.AnalyzeOptions | api.DiffOptions | undefined) {
  const { sort, top, instances, force, partial } = optionsObject(options);
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

function optionsObject<Options extends object>(options: Options | undefined): Partial<Options> {
  if (options === undefined) return {};
  if (typeof options !== "object" || options === null) {
    throw invalidArgument("options", "an object", options);
  }
  return options;
}

/** What the caller wants of work that goes on meanwhile. */
function watched(options: api.AsyncOptions | undefined) {
  const { signal, onProgress } = optionsObject(options);
  if (onProgress !== undefined && typeof onProgress !== "function") {
    throw invalidArgument("options.onProgress", "a function", onProgress);
  }
  if (signal !== undefined && !isSignal(signal)) {
    throw invalidArgument("options.signal", "an AbortSignal", signal);
  }
  return { signal, onProgress };
}

/** By what it can do, not by `instanceof`: test runners pass objects of other realms. */
function isSignal(value: object | null): boolean {
  const { aborted, addEventListener, removeEventListener } = Object(value) as AbortSignal;
  return (
    typeof aborted === "boolean" &&
    typeof addEventListener === "function" &&
    typeof removeEventListener === "function"
  );
}

/** Milliseconds between two reports of progress. */
const REPORT_INTERVAL = 50;

/** Runs native work that stops when the signal says so, and tells how far it is. */
async function controlled<T>(
  options: api.AsyncOptions | undefined,
  start: (control: native.WorkControl) => Promise<T>,
): Promise<T> {
  const { signal, onProgress } = watched(options);
  const abortError = () =>
    Object.assign(new Error("The operation was aborted", { cause: signal?.reason }), {
      name: "AbortError",
      code: "ABORT_ERR",
    });
  const control = new native.WorkControl();
  const cancel = () => control.cancel();
  let failure: { error: unknown } | undefined;
  let isOver = false;
  const fail = (error: unknown) => {
    // Nobody waits any more: let it be unhandled.
    if (isOver) throw error;
    // The caller's own error is what the promise ends in.
    failure ??= { error };
    control.cancel();
  };
  const report = (known?: Partial<api.Progress>) => {
    try {
      const progress = { ...(control.progress() as api.Progress), ...known };
      const returned: unknown = onProgress?.(progress);
      if (types.isPromise(returned)) returned.then(undefined, fail);
    } catch (error) {
      fail(error);
    }
  };
  signal?.addEventListener("abort", cancel, { once: true });
  let timer: NodeJS.Timeout | undefined;
  try {
    if (signal?.aborted) throw abortError();
    const work = start(control);
    timer = onProgress && setInterval(() => report(), REPORT_INTERVAL);
    const result = await work;
    report({ fraction: 1 });
    // While the result was on its way, or in this last report.
    if (signal?.aborted) throw abortError();
    if (failure !== undefined) throw failure.error;
    return result;
  } catch (error) {
    if (failure !== undefined) throw failure.error;
    throw (error as { code?: unknown }).code === "ABORT_ERR" ? abortError() : error;
  } finally {
    isOver = true;
    clearInterval(timer);
    signal?.removeEventListener("abort", cancel);
  }
}
