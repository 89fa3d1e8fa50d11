// Finds the exposed globals of an instance, given any object of the host that belongs to the instance.

import { HeapAnalyzerError, invalidArgument, kindOf } from "../errors.js";
import { type Exports, type HiddenExports, instancesUsing, registry } from "./registry.js";
import { STACK_POINTER } from "./reserved_names.js";

/** Values that are often passed by mistake, with the advice for the message. */
const MISTAKES: Record<string, string> = {
  ArrayBuffer: "pass the exports of a running instance, not its bytes",
  SharedArrayBuffer: "pass the exports of a running instance, not its bytes",
  Uint8Array: "pass the exports of a running instance, not its bytes",
  Promise: "await it first",
  Response: "pass the exports of a running instance",
  "WebAssembly.Module": "instantiate it and pass the exports of the instance",
};

/**
 * The object that has the exposed globals, if there is one; otherwise the exports.
 *
 * @param target exports, an instance, the result of `WebAssembly.instantiate` or of a loader, the
 *   namespace of a module that `asc --bindings` wrote, or a memory.
 * @param givenMemory the memory of the instance, if the target does not have it.
 * @throws {HeapAnalyzerError} `ERR_INVALID_ARG_TYPE` or `ERR_INSTANCE_AMBIGUOUS`.
 */
export function findExports(target: unknown, givenMemory: unknown): Exports {
  // Bindings may wrap exports in a function or a class.
  if (!isObject(target) || Object.hasOwn(MISTAKES, kindOf(target))) {
    throw invalidArgument(
      "exports",
      "the exports of an instance",
      target,
      MISTAKES[kindOf(target)],
    );
  }
  // The results of `WebAssembly.instantiate` and of loaders have an instance.
  const instance = [target, target.instance].find(isInstance);
  const levels = instance === undefined ? [target] : [instance.exports, instance, target];
  for (const level of levels) {
    const shown = shownBy(level);
    if (shown !== undefined) return shown;
  }
  for (const level of levels) {
    const shown = usingMemory(givenMemory ?? (isMemory(level) ? level : level.memory), level);
    if (shown !== undefined) return shown;
  }
  return levels[0] ?? target;
}

/** The error for an instance whose globals are not exposed, with advice. */
export function notExposed(target: object): HeapAnalyzerError {
  if (typeof target === "function" && Object.keys(target).length === 0) {
    return invalidArgument("exports", "the exports of an instance", target);
  }
  const { exports, memory } = target as Exports;
  const refusal = [target, exports, memory]
    .filter(isObject)
    .map((owner) => registry.refusals.get(owner))
    .find((reason) => reason !== undefined);
  const message = "the globals of the instance are not exposed: ";
  if (refusal !== undefined) {
    return new HeapAnalyzerError(
      "ERR_GLOBALS_NOT_EXPOSED",
      `${message}its module cannot be captured: ${refusal}`,
    );
  }
  if (isMemory(target)) {
    return new HeapAnalyzerError(
      "ERR_GLOBALS_NOT_EXPOSED",
      `the globals of an instance cannot be found from its memory alone: pass instance.exports`,
    );
  }
  return new HeapAnalyzerError("ERR_GLOBALS_NOT_EXPOSED", message + advice());
}

/** Advice for this host. */
function advice(): string {
  if (registry.expose !== undefined) {
    return (
      "it was instantiated before @warpo/heap-analyzer/register was loaded; start the program with " +
      "node --import @warpo/heap-analyzer/register"
    );
  }
  // Only the entry for browsers replaces the functions of WebAssembly without changing modules.
  if (registry.isIntercepting) {
    return (
      "expose them when you build the module, with `warpo-heap-analyzer expose` or the transform " +
      "@warpo/heap-analyzer/asc-transform/expose, and import @warpo/heap-analyzer/browser before the module"
    );
  }
  return (
    "start the program with node --import @warpo/heap-analyzer/register, or compile the bytes that " +
    "exposeGlobals(wasm) returns and pass the exports of that instance " +
    "(for a WARPO build that must stay as it is, see the option allowMissingGlobals)"
  );
}

/** The exposed globals of an object or of one of its prototypes. Raw bindings have the exports as their prototype. */
function shownBy(object: Exports): Exports | undefined {
  if (STACK_POINTER in object) return object;
  for (let owner: object | null = object; owner !== null; owner = Object.getPrototypeOf(owner)) {
    const hidden = registry.byOwner.get(owner);
    if (hidden !== undefined) return hidden;
  }
  return undefined;
}

/** The instance that uses a memory. If there are several: the one whose functions `level` contains. */
function usingMemory(memory: unknown, level: Exports): HiddenExports | undefined {
  const users = isObject(memory) ? instancesUsing(memory) : [];
  if (users.length === 1) return users[0];
  const found = new Set<HiddenExports>();
  for (const value of Object.values(level)) {
    const hidden = typeof value === "function" ? registry.byOwner.get(value) : undefined;
    if (hidden !== undefined) found.add(hidden);
  }
  if (found.size === 1) return [...found][0];
  if (users.length === 0) return undefined;
  throw new HeapAnalyzerError(
    "ERR_INSTANCE_AMBIGUOUS",
    `${users.length} instances use this memory: pass the exports of the one to dump`,
  );
}

function isInstance(value: unknown): value is Exports & { exports: Exports } {
  return kindOf(value) === "WebAssembly.Instance";
}

function isMemory(value: unknown): boolean {
  return kindOf(value) === "WebAssembly.Memory";
}

function isObject(value: unknown): value is Exports {
  return value !== null && (typeof value === "object" || typeof value === "function");
}
