/** The live samples of a profiler, in the memory of a module: `crates/instrument/src/allocations/live_samples.wat`. */
import { HeapAnalyzerError } from "../errors.js";
import { liveSamplesModule } from "../native.js";
import { instantiated, makeRoom, type TableExports } from "./table_module.js";

/** What an instrumented module imports from here. */
interface SampleImports {
  keep(address: number, size: number): void;
  keepAs(address: number, size: number, known: number): void;
  freed(address: number): number;
  mask(nth: number): bigint;
}

type SampleExports = SampleImports & TableExports<number>;

/** The index of the number that says what is recorded, and the offset of the table. */
const RECORDED = 1;
const TABLE = 1024;
/** The numbers of a slot, and the indexes of those that are used. */
const SLOT = 4;
const [ADDRESS, SIZE, KNOWN] = [0, 1, 2] as const;
/** The factor of the hash. */
const HASH_FACTOR = 0x9e3779b1;
/** The binary logarithm of the number of slots: at first, and at most (2 GiB). */
const [FIRST_BITS, MOST_BITS] = [11, 27] as const;

export class LiveSamples {
  readonly imports: SampleImports;
  readonly #exports: SampleExports;
  /** The first numbers in the memory. */
  #header: Uint32Array;
  #slots: Uint32Array;
  #bits: number = FIRST_BITS;

  constructor() {
    const host = { grow: () => this.#grow() };
    this.#exports = instantiated<SampleExports>(liveSamplesModule, host);
    const { keep, keepAs, freed, mask } = this.#exports;
    this.imports = { keep, keepAs, freed, mask };
    [this.#header, this.#slots] = this.#resized();
  }

  /**
   * Makes the sample that is being recorded one of these.
   *
   * @param known what is known of its stack, from 1 to 2^32 - 1
   */
  record(known: number): void {
    this.#header[RECORDED] = known;
  }

  /** Replaces what is known of the stack of a sample, if it is still alive. */
  replace(address: number, known: number, by: number): void {
    const slot = this.#find(address);
    if (this.#slots[slot + ADDRESS] === address && this.#slots[slot + KNOWN] === known) {
      this.#slots[slot + KNOWN] = by;
    }
  }

  /** All of them, with what is known of their stacks. */
  *[Symbol.iterator](): Generator<[address: number, size: number, known: number]> {
    const slots = this.#slots;
    for (let slot = 0; slot < slots.length; slot += SLOT) {
      const address = slots[slot + ADDRESS] as number;
      if (address !== 0) {
        yield [address, slots[slot + SIZE] as number, slots[slot + KNOWN] as number];
      }
    }
  }

  /** The slot of an address, or the free slot where it belongs. */
  #find(address: number): number {
    const slots = this.#slots;
    let slot = (Math.imul(address, HASH_FACTOR) >>> (32 - this.#bits)) * SLOT;
    for (;;) {
      const found = slots[slot + ADDRESS];
      if (found === 0 || found === address) return slot;
      slot += SLOT;
      if (slot === slots.length) slot = 0;
    }
  }

  #grow(): void {
    if (this.#bits === MOST_BITS) throw tooMany(2 ** (MOST_BITS - 1));
    const old = this.#slots.slice();
    try {
      makeRoom(this.#exports, TABLE + 2 * old.byteLength);
    } catch (cause) {
      throw tooMany(old.length / SLOT / 2, cause);
    }
    this.#bits++;
    [this.#header, this.#slots] = this.#resized();
    this.#slots.fill(0, 0, old.length);
    for (let from = 0; from < old.length; from += SLOT) {
      const address = old[from + ADDRESS] as number;
      if (address === 0) continue;
      const to = this.#find(address);
      this.#slots[to + ADDRESS] = address;
      this.#slots[to + SIZE] = old[from + SIZE] as number;
      this.#slots[to + KNOWN] = old[from + KNOWN] as number;
    }
  }

  /** The views of the memory, which lose it when it grows. */
  #resized(): [header: Uint32Array, slots: Uint32Array] {
    const { memory, shift, last } = this.#exports;
    shift.value = 32 - this.#bits;
    last.value = (2 ** this.#bits - 1) * SLOT * 4;
    return [
      new Uint32Array(memory.buffer, 0, TABLE / 4),
      new Uint32Array(memory.buffer, TABLE, 2 ** this.#bits * SLOT),
    ];
  }
}

function tooMany(samples: number, cause?: unknown): HeapAnalyzerError {
  const message =
    `the profiler has no memory for more than ${samples} samples of live blocks; ` +
    "pass a larger interval to createProfiler()";
  return new HeapAnalyzerError("ERR_OUT_OF_MEMORY", message, { cause });
}
