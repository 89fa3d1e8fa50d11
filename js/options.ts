/** Checks the options of a call. */
import type * as api from "../index.js";
import { bytes } from "./bytes.js";
import { type HeapAnalyzerError, invalidArgument } from "./errors.js";
import { OPENING } from "./generated/options.js";
import { availableMemory } from "./memory.js";
import type * as native from "./native.js";
import { type Check, checksOf, invalidOption, typed, wholeNumber } from "./option_facts.js";

/** Whether `signal` and `onProgress` are among the options. */
export type Mode = "sync" | "async";

/** The options of asynchronous calls only. */
const WATCH_OPTIONS = ["signal", "onProgress"];

/** The options of `analyze` for the engine. `null` and `undefined` count as absent. */
export function analyzeOptions(options: unknown, mode: Mode) {
  const checks = { ...VIEW_OPTIONS, ...ANALYSIS_OPTIONS, retainedSet: typed("boolean") };
  const { retainedSet, ...read } = readOptions(options, checks, mode);
  return { ...containerOptions(read), retained: retainedSet === true ? "both" : "sum" };
}

/** The options of `diff` for the engine. */
export function diffOptions(options: unknown, mode: Mode) {
  const read = readOptions(options, { ...VIEW_OPTIONS, ...ANALYSIS_OPTIONS }, mode);
  const request = containerOptions(read);
  if (request.raw !== undefined) {
    const hint = "open each with openHeap and its own globals, and call compareWith";
    throw invalidOption(`options.raw: two dumps have different values of globals; ${hint}`);
  }
  return { ...request, availableMemory: availableMemory() };
}

/** The options of a view of a loaded heap. */
export function viewOptions(options: unknown, mode: Mode) {
  return readOptions(options, VIEW_OPTIONS, mode);
}

/** The options with which a heap is opened. */
export function openOptions(options: unknown, mode: Mode, input: "bytes" | "file") {
  const checks: Record<string, Check> = {
    ...ANALYSIS_OPTIONS,
    ...checksOf(OPENING.open, { profile: profileBytes }),
    ...checksOf(OPENING.host),
    ...(input === "file" ? checksOf(OPENING.files) : {}),
  };
  if (mode === "async") checks.onClasses = typed("function");
  const read = readOptions(options, checks, mode);
  const { onClasses, descriptors: open, memoryLimit, host, numbers, handles, ...reading } = read;
  const needing = ["numbers", "handles", "slots"].find((name) => read[name] !== undefined);
  if (host === undefined && needing !== undefined) {
    throw invalidOption(`options.${needing}: needs options.host, the heap snapshot of the host`);
  }
  const limit = memoryLimit === undefined ? {} : { largest: memoryLimit };
  return {
    host: host === undefined ? undefined : { snapshot: host, numbers, handles },
    request: { ...containerOptions(reading), ...limit } as native.OpenData,
    descriptors: open as Descriptors | undefined,
    onClasses: onClasses as ((classes: api.ClassCount[]) => unknown) | undefined,
  };
}

/** The bytes of a profile. */
function profileBytes(name: string, value: unknown): Buffer {
  return Buffer.from(bytes(name, value));
}

type Descriptors = Record<"dump" | "wasm" | "host" | "numbers" | "handles", number | undefined>;

/** Options that were given, each checked. `null` and `undefined` count as absent, other names are refused. */
export function readOptions(
  options: unknown,
  checks: Record<string, Check>,
  mode: Mode,
): Record<string, unknown> {
  const passed = optionsObject(options);
  const names = [...Object.keys(checks), ...(mode === "async" ? WATCH_OPTIONS : [])];
  for (const name of Object.keys(passed)) {
    if (!names.includes(name)) throw unknownOption(name, names);
  }
  const read: Record<string, unknown> = {};
  for (const [name, check] of Object.entries(checks)) {
    const value = passed[name] ?? undefined;
    if (value !== undefined) read[name] = check(`options.${name}`, value);
  }
  return read;
}

const VIEW_OPTIONS = { sort: typed("string"), top: typed("number"), instances: typed("number") };
const ANALYSIS_OPTIONS = checksOf(OPENING.analysis, { globals, hostRoots });

/** Pointers of the host: a list, or by name. */
function hostRoots(name: string, value: unknown): native.GlobalValueData[] {
  if (typeof value !== "object") throw invalidArgument(name, "an array or an object", value);
  const check = wholeNumber(0, 2 ** 32 - 1);
  return Object.entries(value as object).map(([root, address]) => ({
    name: Array.isArray(value) ? "" : root,
    value: check(`${name}.${root}`, address) as number,
  }));
}

/** The values of globals by name or index. A negative i32 and its unsigned form are the same value. */
function globals(name: string, value: unknown): native.GlobalValueData[] {
  if (typeof value !== "object") throw invalidArgument(name, "an object", value);
  return Object.entries(value as object).map(([global, number]) => {
    const checked = wholeNumber(-(2 ** 31), 2 ** 32 - 1)(`${name}.${global}`, number);
    return { name: global, value: (checked as number) >>> 0 };
  });
}

/** The options as the addon takes them: raw memory with the values of its globals. */
function containerOptions({
  raw,
  globals: values,
  coredumpInstance: instance,
  ...rest
}: Record<string, unknown>): Record<string, unknown> & { raw?: native.GlobalValueData[] } {
  const others = instance === undefined ? rest : { ...rest, instance };
  if (raw === true) return { ...others, raw: (values ?? []) as native.GlobalValueData[] };
  if (values === undefined) return others;
  throw invalidOption(
    "options.globals: only raw memory needs values of globals; expected raw: true",
  );
}

/** The options `signal` and `onProgress` of an asynchronous call. */
export function watchOptions(options: api.AsyncOptions | null | undefined) {
  const { signal, onProgress } = optionsObject(options);
  if (onProgress != null && typeof onProgress !== "function") {
    throw invalidArgument("options.onProgress", "a function", onProgress);
  }
  return {
    signal: signal == null ? undefined : abortSignal("options.signal", signal),
    onProgress: (onProgress ?? undefined) as ((progress: api.Progress) => unknown) | undefined,
  };
}

function optionsObject(options: unknown): Record<string, unknown> {
  if (options === undefined || options === null) return {};
  if (typeof options !== "object") throw invalidArgument("options", "an object", options);
  return options as Record<string, unknown>;
}

/** A check for a signal. */
export function abortSignal(name: string, value: unknown): AbortSignal {
  if (!isSignal(value)) throw invalidArgument(name, "an AbortSignal", value);
  return value as AbortSignal;
}

/** Not `instanceof`, because test runners pass objects of other realms. */
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

/** The name with the fewest different letters; `undefined` if more than a third of the letters differ. */
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
