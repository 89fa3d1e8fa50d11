// Finds the exposed globals of an instance, given its exports, one of its functions or its memory.
//
// `interception.ts` enters each instance whose module was changed by `exposeGlobals`. The registry keeps
// no instance alive: an entry exists as long as the program keeps the instance, its exports, one of its
// functions, or a memory that the instance does not import.

/** What an instance exports, by name. */
export type Exports = Readonly<Record<string, unknown>>;

/** Exports of one instance by reserved name: globals and the memory. No prototype. */
export type HiddenExports = Readonly<Record<string, unknown>>;

/** Changes what a program sees of an instance. Called before the program sees it. */
export type PrepareExports = (shown: Record<string, unknown>, hidden: HiddenExports) => void;

/** Which objects of an instance are pinned at a moment. */
export interface PinsOfMoment {
  /** How many objects JavaScript has pinned since the start. */
  pinned: number;
  /** Of how many of these the stack was taken. */
  sampled: number;
  /** The objects that are pinned now: the address, and the index of the stack, or -1 if it was not taken. */
  pins: [address: number, stack: number][];
  /** Each with the innermost frame first, as V8 writes it. */
  stacks: string[][];
}

/** A change to a module's bytes. Throws if they cannot be changed. */
export type Expose = (source: unknown) => Uint8Array<ArrayBuffer>;

/** The state that all copies of this package in one realm share. */
export interface Registry {
  /** Whether the functions of `WebAssembly` are replaced. */
  isIntercepting: boolean;
  /** Changes modules before they are compiled. Undefined in browsers. */
  expose: Expose | undefined;
  /** Undefined if exports are shown as they are. */
  prepareExports?: PrepareExports | undefined;
  /** Who pinned what, if that is watched. */
  pinLogs?: WeakMap<object, { ofMoment(): PinsOfMoment }>;
  /** Keys: the instance, its exports, its exported functions, and its memory unless the module imports it. */
  readonly byOwner: WeakMap<object, HiddenExports>;
  /** The instances that use a memory. */
  readonly byMemory: WeakMap<object, Set<WeakRef<HiddenExports>>>;
  readonly all: Set<WeakRef<HiddenExports>>;
  /** Why a module could not be changed. Keys: the module, its instances, their exports and memory. */
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
 * @param owners the objects that keep the entry. None of them may live longer than the instance.
 * @param memory may be shared with other instances, and may live longer than the instance.
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

/** The instances that use a memory and still exist. */
export function instancesUsing(memory: object): HiddenExports[] {
  return alive(registry.byMemory.get(memory) ?? []);
}

function alive(references: Iterable<WeakRef<HiddenExports>>): HiddenExports[] {
  return [...references]
    .map((reference) => reference.deref())
    .filter((instance) => instance !== undefined);
}
