/** The objects of a class in any order: columns of numbers, of which a page is made when it is asked for. */
import type { ComparisonView, ConstructorView, Heap } from "../../index.js";
import type { InstanceOrder, InstanceSet } from "./methods.js";

interface Columns {
  readonly addresses: ArrayLike<number>;
  readonly shallowSizes: ArrayLike<number>;
  readonly retainedSizes: ArrayLike<number>;
}

/** Orders that are kept. Each takes 4 bytes an object. */
const MOST_ORDERS = 4;

/** What is asked for: a class, all its objects or those that came or went, and their order. */
export interface WantedInstances {
  className: string;
  set: InstanceSet;
  sort: InstanceOrder;
  ascending: boolean;
}

/** The objects, in their order. */
export interface Instances {
  addresses: number[];
  shallowSizes: number[];
  retainedSizes: number[];
  total: number;
  /** Of all of them. */
  shallowSize: number;
}

/** The views of open heaps, and orders of their objects. */
export class InstanceLists {
  readonly #views = new Map<Heap, Promise<ConstructorView>>();
  readonly #changes = new Map<Heap, Map<Heap, Promise<ComparisonView>>>();
  readonly #orders = new Map<string, { columns: Columns; order: Uint32Array; sum: number }>();
  /** A number for each heap, for the names of orders. */
  readonly #numbers = new WeakMap<Heap, number>();
  #lastNumber = 0;

  /** A part of the list. */
  async page(
    heap: Heap,
    before: Heap | undefined,
    wanted: WantedInstances,
    offset: number,
    limit: number,
  ): Promise<Instances> {
    const { className, set, sort, ascending } = wanted;
    const used = set === "live" ? [heap] : [heap, before];
    const numbers = used.map((one) => (one === undefined ? 0 : this.#numberOf(one)));
    const key = JSON.stringify([...numbers, set, sort, className]);
    let kept = this.#orders.get(key);
    if (kept === undefined) {
      const columns = await this.#columns(heap, before, className, set);
      kept = { columns, order: ordered(columns, sort), sum: sumOf(columns.shallowSizes) };
    }
    this.#orders.delete(key);
    this.#orders.set(key, kept);
    for (const oldest of this.#orders.keys()) {
      if (this.#orders.size <= MOST_ORDERS) break;
      this.#orders.delete(oldest);
    }
    const { columns, order, sum } = kept;
    const total = order.length;
    const places = Array.from({ length: Math.max(0, Math.min(limit, total - offset)) }, (_, nth) =>
      ascending ? offset + nth : total - 1 - offset - nth,
    ).map((place) => order[place] as number);
    const numbersOf = (column: ArrayLike<number>) => places.map((at) => column[at] as number);
    return {
      addresses: numbersOf(columns.addresses),
      shallowSizes: numbersOf(columns.shallowSizes),
      retainedSizes: numbersOf(columns.retainedSizes),
      total,
      shallowSize: sum,
    };
  }

  /** The live objects of all classes. */
  async view(heap: Heap): Promise<ConstructorView> {
    let view = this.#views.get(heap);
    if (view === undefined) {
      view = heap.constructorsAsync({ sort: "retained-set" });
      this.#views.set(heap, view);
      view.catch(() => this.#views.delete(heap));
    }
    return await view;
  }

  /** Releases what belongs to a heap that is closed. */
  forget(heap: Heap): void {
    this.#orders.clear();
    const views = [this.#views.get(heap), ...(this.#changes.get(heap)?.values() ?? [])];
    for (const [later, byBefore] of this.#changes) {
      if (byBefore.has(heap)) views.push(byBefore.get(heap));
      byBefore.delete(heap);
      if (later === heap) this.#changes.delete(later);
    }
    this.#views.delete(heap);
    for (const view of views) {
      view?.then(
        (open) => open.close(),
        () => {},
      );
    }
  }

  async #columns(
    heap: Heap,
    before: Heap | undefined,
    className: string,
    set: InstanceSet,
  ): Promise<Columns> {
    if (set === "live" || before === undefined) {
      const view = await this.view(heap);
      const row = view.constructors.find((one) => one.className === className);
      return row?.instanceColumns ?? NOTHING;
    }
    const view = await this.#changed(heap, before);
    const row = view.constructors.find((one) => one.className === className);
    if (row === undefined) return NOTHING;
    const { addresses, shallowSizes, retainedSizes, newCount } = row.instanceColumns;
    const [from, to] = set === "new" ? [0, newCount] : [newCount, addresses.length];
    return {
      addresses: addresses.subarray(from, to),
      shallowSizes: shallowSizes.subarray(from, to),
      retainedSizes: retainedSizes.subarray(from, to),
    };
  }

  async #changed(heap: Heap, before: Heap): Promise<ComparisonView> {
    const byBefore = this.#changes.get(heap) ?? new Map<Heap, Promise<ComparisonView>>();
    this.#changes.set(heap, byBefore);
    let view = byBefore.get(before);
    if (view === undefined) {
      view = heap.compareWithAsync(before);
      byBefore.set(before, view);
      view.catch(() => byBefore.delete(before));
    }
    return await view;
  }

  #numberOf(heap: Heap): number {
    const number = this.#numbers.get(heap) ?? ++this.#lastNumber;
    this.#numbers.set(heap, number);
    return number;
  }
}

const NOTHING: Columns = { addresses: [], shallowSizes: [], retainedSizes: [] };

/** The places of objects by a column, the smallest first; of equal ones, the highest address first. */
function ordered(columns: Columns, sort: InstanceOrder): Uint32Array {
  const { addresses, shallowSizes, retainedSizes } = columns;
  const column = { address: addresses, shallow: shallowSizes, retained: retainedSizes }[sort];
  const count = column.length;
  const byNumber = new Uint32Array(count);
  for (let nth = 0; nth < count; nth++) byNumber[nth] = nth;
  if (sort === "address") return sortedBy(addresses, byNumber, 0);
  return sortedBy(column, sortedBy(addresses, byNumber, MOST_NUMBER), 0);
}

/** The largest number of 32 bits. */
const MOST_NUMBER = 2 ** 32 - 1;

/** The places sorted by their numbers; of equal ones, the order stays. With `from`, the largest first. */
function sortedBy(column: ArrayLike<number>, order: Uint32Array, from: number): Uint32Array {
  const byLow = sortedByWord(column, 1, order, from);
  // Only heaps of more than 4 GiB have such columns.
  return column instanceof Float64Array ? sortedByWord(column, 2 ** 32, byLow, from) : byLow;
}

/**
 * Sorts by 32 bits of each number: those from `unit` on. With `from`, by the differences from it. Bits and place are put
 * into one word, because the sort of words takes a tenth of the time of one with a comparison.
 */
function sortedByWord(
  column: ArrayLike<number>,
  unit: number,
  order: Uint32Array,
  from: number,
): Uint32Array {
  const count = order.length;
  const words = new BigUint64Array(count);
  const halves = new Uint32Array(words.buffer);
  for (let nth = 0; nth < count; nth++) {
    const number = Math.floor((column[order[nth] as number] as number) / unit) >>> 0;
    halves[2 * nth] = nth;
    halves[2 * nth + 1] = from === 0 ? number : from - number;
  }
  words.sort();
  const sorted = new Uint32Array(count);
  for (let nth = 0; nth < count; nth++) sorted[nth] = order[halves[2 * nth] as number] as number;
  return sorted;
}

function sumOf(column: ArrayLike<number>): number {
  let sum = 0;
  for (let nth = 0; nth < column.length; nth++) sum += column[nth] as number;
  return sum;
}
