/** The live heap as a graph, by naive definitions. Answers about paths and cuts are compared with it. */

import type { DebugInfoDescription } from "../../dist/asc_transform/description.mjs";
import type { HeapTruth } from "../support/truth.ts";
import { ReferenceSlots, type Slot } from "./reference_slots.ts";
import type { MemoryParts } from "./referrers.ts";

export type RootKind = "global" | "stack" | "pinned";

/** A global or stack word that refers to an object, or a pinned object. */
export interface RootSlot {
  kind: RootKind;
  target: number;
  /** The name of a global, the address of a stack word. */
  place?: string | number;
}

const COLOUR_PINNED = 3;

export class NaiveGraph {
  readonly slots: ReferenceSlots;
  readonly roots: RootSlot[];
  /** Number of references from the nearest root of a kind; globals first, then the stack, then pins. */
  readonly distances = new Map<number, { kind: RootKind; distance: number }>();
  readonly #slotsOf = new Map<number, Slot[]>();

  constructor(parts: MemoryParts, truth: HeapTruth, description: DebugInfoDescription) {
    const { memory, heapBase, typeInfo, stackPointer, globals } = parts;
    const isObject = (address: number) => truth.has(address) || address < heapBase;
    this.slots = new ReferenceSlots(memory, typeInfo, description, isObject);
    this.roots = [];
    for (const { name, constantValue } of description.globals) {
      const target = globals.get(name) ?? constantValue ?? 0;
      if (target !== 0 && isObject(target))
        this.roots.push({ kind: "global", target, place: name });
    }
    for (let place = stackPointer; place + 4 <= heapBase; place += 4) {
      const target = this.slots.word(place);
      if (truth.has(target) || this.#isStaticObject(target, parts))
        this.roots.push({ kind: "stack", target, place });
    }
    for (const [target] of truth)
      if ((this.slots.word(target - 16) & 3) === COLOUR_PINNED)
        this.roots.push({ kind: "pinned", target });
    for (const kind of ["global", "stack", "pinned"] as const) this.#reach(kind);
  }

  /** A stack word may be any number: the header of a static object has the compiler's class id and size. */
  #isStaticObject(address: number, { dataEnd, typeInfo }: MemoryParts): boolean {
    if (address % 16 !== 0 || address < 32 || address >= dataEnd) return false;
    const [info, rtId, rtSize] = [20, 8, 4].map((before) => this.slots.word(address - before)) as [
      number,
      number,
      number,
    ];
    const classCount = this.slots.word(typeInfo);
    return rtId < classCount && rtSize <= info && info < 2 ** 20 && address + rtSize <= dataEnd;
  }

  #reach(kind: RootKind): void {
    let frontier = this.roots.filter((root) => root.kind === kind).map(({ target }) => target);
    for (let distance = 0; frontier.length > 0; distance++) {
      const next: number[] = [];
      for (const address of frontier) {
        if (this.distances.has(address)) continue;
        this.distances.set(address, { kind, distance });
        next.push(...this.slotsOf(address).map(({ target }) => target));
      }
      frontier = next;
    }
  }

  slotsOf(address: number): Slot[] {
    const known = this.#slotsOf.get(address) ?? this.slots.of(address);
    this.#slotsOf.set(address, known);
    return known;
  }

  isLive(address: number): boolean {
    return this.distances.has(address);
  }

  /** The references to an object from live ones. */
  slotsTo(target: number): Slot[] {
    return [...this.distances.keys()].flatMap((address) =>
      this.slotsOf(address).filter((slot) => slot.target === target),
    );
  }

  rootsOf(target: number): RootSlot[] {
    return this.roots.filter((root) => root.target === target);
  }

  /** The objects that stay reachable without an object. */
  reachedWithout(removed: number): Set<number> {
    const reached = new Set<number>([removed]);
    const waiting = this.roots.map(({ target }) => target);
    for (let address = waiting.pop(); address !== undefined; address = waiting.pop()) {
      if (reached.has(address)) continue;
      reached.add(address);
      waiting.push(...this.slotsOf(address).map(({ target }) => target));
    }
    reached.delete(removed);
    return reached;
  }

  /** Whether a path with exactly this number of references leads from one object to another. */
  isReachedBy(from: number, to: number, references: number): boolean {
    let frontier = new Set([from]);
    for (let left = references; left > 0; left--)
      frontier = new Set(
        [...frontier].flatMap((address) => this.slotsOf(address).map(({ target }) => target)),
      );
    return frontier.has(to);
  }
}
