/** Arguments and options of the public API, checked. */
import type * as api from "../index.js";
import { invalidArgument } from "./bytes.js";
import { availableMemory } from "./memory.js";

export function path(name: string, value: unknown): string {
  if (typeof value !== "string") {
    throw invalidArgument(name, "a path (string)", value);
  }
  return value;
}

/** What the addon needs of the options, each of the type that it takes. */
export function checked(options: api.AnalyzeOptions | api.DiffOptions | undefined) {
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

export function optionsObject<Options extends object>(
  options: Options | undefined,
): Partial<Options> {
  if (options === undefined) return {};
  if (typeof options !== "object" || options === null) {
    throw invalidArgument("options", "an object", options);
  }
  return options;
}

/** What the caller wants of work that goes on meanwhile. */
export function watched(options: api.AsyncOptions | undefined) {
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
