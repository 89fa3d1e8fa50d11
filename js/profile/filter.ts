/** Which addresses may be those of samples: `src/instrument/allocations/filter.rs`. */
import { profilerFilter } from "../native.js";

// The types of `WebAssembly` are not part of the library that this project compiles with.
declare const WebAssembly: {
  Module: new (wasm: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { exports: FilterExports };
};

interface FilterExports {
  memory: { buffer: ArrayBuffer };
  freed(address: number): number;
  mask(nth: number): bigint;
}

/** The number of bits of a hash, and its factor; `filter.rs` has the same. */
const HASH_BITS = 16;
const HASH_FACTOR = 0x9e3779b1;
/** A count that is not known any more. */
const MANY = 255;

/** How far an address is shifted for each mask; `bodies.rs` has the same. */
const MASK_SHIFTS = [4, 10] as const;
const MASK_BITS = 64;

let compiled: object | undefined;

export class Filter {
  /** What an instrumented module imports from here. */
  readonly imports: Pick<FilterExports, "freed" | "mask">;
  /** For each hash, how many addresses have it. */
  readonly #hashes: Uint8Array;
  /** The masks, 32 bits each. */
  readonly #masks: Uint32Array;
  /** For each bit of the masks, how many addresses have it. */
  readonly #counts = new Uint32Array(MASK_SHIFTS.length * MASK_BITS);

  /** `freed` is called for an address that may be here, and says whether it was. */
  constructor(freed: (address: number) => boolean) {
    compiled ??= new WebAssembly.Module(profilerFilter());
    const host = { freed: (address: number) => Number(freed(address >>> 0)) };
    const { exports } = new WebAssembly.Instance(compiled, { host });
    const { memory, freed: asked, mask } = exports;
    this.imports = { freed: asked, mask };
    this.#hashes = new Uint8Array(memory.buffer, 0, 2 ** HASH_BITS);
    this.#masks = new Uint32Array(memory.buffer, 2 ** HASH_BITS, this.#counts.length / 32);
  }

  /** Adds an address that is not here. */
  add(address: number): void {
    this.#count(address, 1);
  }

  /** Removes an address that is here. */
  remove(address: number): void {
    this.#count(address, -1);
  }

  #count(address: number, by: 1 | -1): void {
    const hash = Math.imul(address, HASH_FACTOR) >>> (32 - HASH_BITS);
    const known = this.#hashes[hash] as number;
    if (known !== MANY) this.#hashes[hash] = known + by;
    this.#mark((address >>> MASK_SHIFTS[0]) % MASK_BITS, by);
    this.#mark(((address >>> MASK_SHIFTS[1]) % MASK_BITS) + MASK_BITS, by);
  }

  #mark(bit: number, by: 1 | -1): void {
    const count = (this.#counts[bit] as number) + by;
    this.#counts[bit] = count;
    const word = this.#masks[bit >>> 5] as number;
    const place = 1 << (bit & 31);
    this.#masks[bit >>> 5] = count === 0 ? word & ~place : word | place;
  }
}
