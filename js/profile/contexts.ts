/** The contexts of calls whose stacks are known, in the memory of a module: `crates/instrument/src/allocations/contexts.wat`. */
import { contextsModule } from "../native.js";
import { instantiated, makeRoom, type TableExports } from "./table_module.js";

/** What an instrumented module imports from here. */
interface ContextImports {
  known(context: bigint, size: number): number;
}

type ContextExports = ContextImports & TableExports<bigint>;

/** The offset of the table, and the 64-bit numbers of a slot with the indexes of those that are used. */
const TABLE = 32;
const SLOT = 4;
const [CONTEXT, COUNT, BYTES, KNOWN] = [0, 1, 2, 3] as const;
/** The binary logarithm of the number of slots: at first, and at most (64 MiB). */
const [FIRST_BITS, MOST_BITS] = [10, 21] as const;

export class Contexts {
  readonly imports: ContextImports;
  readonly #exports: ContextExports;
  #missing: BigUint64Array;
  #slots: BigUint64Array;
  #bits: number = FIRST_BITS;
  #count = 0;

  constructor() {
    this.#exports = instantiated<ContextExports>(contextsModule, {});
    this.imports = { known: this.#exports.known };
    [this.#missing, this.#slots] = this.#resized();
  }

  /** The context that the program asked for last, and that is not known. */
  get missing(): bigint {
    return this.#missing[0] as bigint;
  }

  /**
   * Makes a context known. What is more than can be kept stays unknown.
   *
   * @param known what is known of its stack, from 1 to 2^32 - 1
   */
  add(context: bigint, known: number): void {
    if (2 * this.#count >= 2 ** this.#bits && !this.#grow()) return;
    const slot = this.#find(context);
    if (this.#slots[slot + CONTEXT] === context) return;
    this.#slots.set([context, 0n, 0n, BigInt(known)], slot);
    this.#count++;
  }

  /** What was allocated in each context since this was asked for last. */
  *taken(): Generator<[known: number, count: number, bytes: number]> {
    const slots = this.#slots;
    for (let slot = 0; slot < slots.length; slot += SLOT) {
      const count = slots[slot + COUNT] as bigint;
      if (count === 0n) continue;
      yield [Number(slots[slot + KNOWN]), Number(count), Number(slots[slot + BYTES])];
      slots[slot + COUNT] = 0n;
      slots[slot + BYTES] = 0n;
    }
  }

  /** The slot of a context, or the free slot where it belongs. */
  #find(context: bigint): number {
    const slots = this.#slots;
    let slot = Number(context >> BigInt(64 - this.#bits)) * SLOT;
    for (;;) {
      const found = slots[slot + CONTEXT];
      if (found === 0n || found === context) return slot;
      slot += SLOT;
      if (slot === slots.length) slot = 0;
    }
  }

  /** Doubles the table. Whether there is room for it. */
  #grow(): boolean {
    if (this.#bits === MOST_BITS) return false;
    const old = this.#slots.slice();
    try {
      makeRoom(this.#exports, TABLE + 2 * old.byteLength);
    } catch {
      return false;
    }
    this.#bits++;
    [this.#missing, this.#slots] = this.#resized();
    this.#slots.fill(0n, 0, old.length);
    for (let from = 0; from < old.length; from += SLOT) {
      const context = old[from + CONTEXT] as bigint;
      if (context !== 0n) this.#slots.set(old.subarray(from, from + SLOT), this.#find(context));
    }
    return true;
  }

  /** The views of the memory, which lose it when it grows. */
  #resized(): [missing: BigUint64Array, slots: BigUint64Array] {
    const { memory, shift, last } = this.#exports;
    shift.value = BigInt(64 - this.#bits);
    last.value = (2 ** this.#bits - 1) * SLOT * 8;
    return [
      new BigUint64Array(memory.buffer, 0, 1),
      new BigUint64Array(memory.buffer, TABLE, 2 ** this.#bits * SLOT),
    ];
  }
}
