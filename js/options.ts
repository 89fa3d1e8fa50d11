/** The options of a call, checked. */
import type * as api from "../index.js";
import { HeapAnalyzerError, invalidArgument } from "./errors.js";
import { availableMemory } from "./memory.js";

/** The types of the options that the engine takes. */
const ENGINE_OPTIONS = {
  sort: "string",
  top: "number",
  instances: "number",
  force: "boolean",
  partial: "boolean",
} as const;

/** The options of asynchronous calls only. */
const WATCH_OPTIONS = ["signal", "onProgress"];

/** The options for the engine. `null` and `undefined` count as absent. */
export function engineOptions(options: api.AnalyzeOptions | api.DiffOptions | null | undefined) {
  return { ...checked(options, []), availableMemory: availableMemory() };
}

/** As {@link engineOptions}, for a call that can be watched and aborted. */
export function asyncEngineOptions(
  options: api.AnalyzeOptions | api.DiffOptions | null | undefined,
) {
  return { ...checked(options, WATCH_OPTIONS), availableMemory: availableMemory() };
}

function checked(options: unknown, more: string[]) {
  const passed = optionsObject(options);
  const names = [...Object.keys(ENGINE_OPTIONS), ...more];
  for (const name of Object.keys(passed)) {
    if (!names.includes(name)) throw unknownOption(name, names);
  }
  const entries = Object.entries(ENGINE_OPTIONS).map(([name, expected]) => {
    const value = passed[name] ?? undefined;
    if (value !== undefined && typeof value !== expected) {
      throw invalidArgument(`options.${name}`, `a ${expected}`, value);
    }
    return [name, value];
  });
  return Object.fromEntries(entries);
}

/** How an asynchronous call is watched and aborted. */
export function watchOptions(options: api.AsyncOptions | null | undefined) {
  const { signal, onProgress } = optionsObject(options);
  if (onProgress != null && typeof onProgress !== "function") {
    throw invalidArgument("options.onProgress", "a function", onProgress);
  }
  if (signal != null && !isSignal(signal)) {
    throw invalidArgument("options.signal", "an AbortSignal", signal);
  }
  return {
    signal: (signal ?? undefined) as AbortSignal | undefined,
    onProgress: (onProgress ?? undefined) as ((progress: api.Progress) => unknown) | undefined,
  };
}

function optionsObject(options: unknown): Record<string, unknown> {
  if (options === undefined || options === null) return {};
  if (typeof options !== "object") throw invalidArgument("options", "an object", options);
  return options as Record<string, unknown>;
}

/** By what it can do, not by `instanceof`: test runners pass objects of other realms. */
function isSignal(value: unknown): boolean {
  const { aborted, addEventListener, removeEventListener } = Object(value) as AbortSignal;
  return (
    typeof aborted === "boolean" &&
    typeof addEventListener === "function" &&
    typeof removeEventListener === "function"
  );
}

function unknownOption(name: string, names: string[]): HeapAnalyzerError {
  if (WATCH_OPTIONS.includes(name)) {
    return invalidOption(`option ${name} works only in the …Async functions`);
  }
  const shown = name.length > 100 ? `${name.slice(0, 100)}…` : name;
  const nearest = nearestName(name.slice(0, 100), names);
  const hint =
    nearest === undefined ? `; the options are ${names.join(", ")}` : `; did you mean ${nearest}?`;
  return invalidOption(`unknown option ${shown}${hint}`);
}

function invalidOption(message: string): HeapAnalyzerError {
  return new HeapAnalyzerError("ERR_INVALID_OPTION", message);
}

/** The name that differs in the fewest letters; `undefined` if more than a third differ. */
function nearestName(name: string, names: string[]): string | undefined {
  let nearest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of names) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < least && distance <= Math.ceil(candidate.length / 3)) {
      nearest = candidate;
      least = distance;
    }
  }
  return nearest;
}

/** The number of letters to add, remove or replace (Levenshtein). */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [i, letter] of [...one].entries()) {
    const next = [i + 1];
    for (let j = 0; j < other.length; j++) {
      const replaced = (row[j] as number) + (letter === other[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] as number) + 1, (next[j] as number) + 1));
    }
    row = next;
  }
  return row[other.length] as number;
}
