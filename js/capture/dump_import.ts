// Finds out which instance calls the import `MemoryDump.dumpMemoryRegion`.
//
// The arguments of the function are an address and a size, but not the memory that they refer to.
// Therefore each instance gets a separate function, which stores the instance in the registry during
// the call. This also works if bindings wrap the import.

import { type HiddenExports, registry } from "./registry.js";

const MODULE = "MemoryDump";
const NAME = "dumpMemoryRegion";

type ImportObject = Record<string, Record<string, unknown> | undefined>;

export interface BoundImports {
  imports: unknown;
  /** Must be called with the instance as soon as it exists. */
  setInstance: (instance: HiddenExports | undefined) => void;
}

/** Whether a module imports the function. */
export function importsDump(imports: { module: string; name: string; kind: string }[]): boolean {
  return imports.some(
    ({ module, name, kind }) => module === MODULE && name === NAME && kind === "function",
  );
}

/** The imports of one instance, with a separate function for it. Invalid imports are returned unchanged. */
export function bindDumpImport(imports: unknown): BoundImports {
  const dump = (imports as ImportObject | null | undefined)?.[MODULE]?.[NAME];
  if (typeof dump !== "function") return { imports, setInstance: () => {} };
  let instance: HiddenExports | undefined;
  const bound = (...args: unknown[]) => {
    const outer = registry.calling;
    registry.calling = instance;
    try {
      return dump(...args);
    } finally {
      registry.calling = outer;
    }
  };
  return {
    imports: overriding(
      imports as ImportObject,
      MODULE,
      overriding((imports as ImportObject)[MODULE] as object, NAME, bound),
    ),
    setInstance: (created) => {
      instance = created;
    },
  };
}

/** An object that inherits from `object` and replaces one of its properties. */
function overriding(object: object, name: string, value: unknown): object {
  const descriptor = Object.assign(Object.create(null), { value });
  return Object.defineProperty(Object.create(object), name, descriptor);
}
