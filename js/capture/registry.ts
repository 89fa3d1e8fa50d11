// Finds the exposed globals of an instance from whatever a program has of it.
//
// `interception.ts` enters each instance whose module went through `exposeGlobals`. The registry
// keeps no instance alive: it holds an entry as long as the program holds the instance, its
// exports, one of its functions or a memory of its own.

/** Exports of one instance by reserved name: globals and the memory. No prototype. */
export type HiddenExports = Readonly<Record<string, unknown>>;

/** A change to a module's bytes. Throws if they cannot be changed. */
export type Expose = (source: unknown) => Uint8Array<ArrayBuffer>;

/** What all copies of this package in one realm share. */
export interface Registry {
  /** Whether the functions of `WebAssembly` are replaced. */
  isIntercepting: boolean;
  /** How modules are changed before they are compiled. Absent in browsers. */
  expose: Expose | undefined;
  /** By instance, exports, exported function, and memory that the module does not import. */
  readonly byOwner: WeakMap<object, HiddenExports>;
  /** The instances that use a memory. */
  readonly byMemory: WeakMap<object, Set<WeakRef<HiddenExports>>>;
  readonly all: Set<WeakRef<HiddenExports>>;
  /** Why a module could not be changed: by module, instance, exports and memory. */
  readonly refusals: WeakMap<object, string>;
  /** The instance that is calling an import for dumps at this moment. */
  calling: HiddenExports | undefined;
}

const KEY = Symbol.for("@warpo/heap-analyzer:registry");

const realm = globalThis as { [KEY]?: Registry };

realm[KEY] ??= {
  isIntercepting: false,
  expose: undefined,
  byOwner: new WeakMap(),
  byMemory: new WeakMap(),
  all: new Set(),
  refusals: new WeakMap(),
  calling: undefined,
};

/** The registry, one per realm: several copies of the package may be loaded. */
export const registry: Registry = realm[KEY];

const collected = new FinalizationRegistry<[Set<WeakRef<HiddenExports>>, WeakRef<HiddenExports>]>(
  ([references, reference]) => references.delete(reference),
);

/**
 * Enters an instance.
 *
 * @param owners what keeps the entry: nothing here may live longer than the instance.
 * @param memory may be shared with other instances and live longer.
 */
export function enter(hidden: HiddenExports, owners: Iterable<object>, memory: object): void {
  for (const owner of owners) registry.byOwner.set(owner, hidden);
  let users = registry.byMemory.get(memory);
  if (users === undefined) {
    users = new Set();
    registry.byMemory.set(memory, users);
  }
  for (const references of [registry.all, users]) {
    const reference = new WeakRef(hidden);
    references.add(reference);
    collected.register(hidden, [references, reference]);
  }
}

/** All instances that still exist, in the order of their creation. */
export function liveInstances(): HiddenExports[] {
  return alive(registry.all);
}

/** The instances that use a memory, as far as they still exist. */
export function instancesUsing(memory: object): HiddenExports[] {
  return alive(registry.byMemory.get(memory) ?? []);
}

function alive(references: Iterable<WeakRef<HiddenExports>>): HiddenExports[] {
  return [...references]
    .map((reference) => reference.deref())
    .filter((instance) => instance !== undefined);
}
