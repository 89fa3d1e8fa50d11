/** The log of the random native program: what it allocates, what it writes, and where it keeps pointers. */

/** How a pointer is kept, as in `random.c`. */
export enum How {
  Plain,
  Unaligned,
  Complement,
  Local,
  Host,
}

/** A block that is not freed. */
export interface LoggedBlock {
  /** Which allocation it is: another block at the same address later is not the same. */
  id: number;
  address: number;
  /** As the program asked for. */
  size: number;
}

/** A pointer of the program. */
export interface Pointer {
  how: How;
  /** The address of its first byte; a number for those that are in no memory. */
  at: number;
  target: number;
  /** The block to which it was set. That may be freed by now. */
  id: number;
}

interface Range {
  start: number;
  end: number;
}

/** The program's log contradicts itself or the memory: a mistake of the program or of the judge. */
export class BadLog extends Error {}

/** Why a byte of a block is as it is: the program wrote it, or it was there before the block. */
const WRITTEN = 1;
const OLD = 2;

/** Not to be confused with an address. */
const NO_MEMORY = [How.Local, How.Host];

export class Log {
  readonly blocks = new Map<number, LoggedBlock>();
  /** The program's own memory outside of the heap, by its start. */
  readonly owned = new Map<number, Range>();
  readonly #pointers = new Map<number, Pointer>();
  /** What must be in the blocks, and why, by address of the byte. */
  #shadow: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  #origins: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  #allocations = 0;
  /** Is called when the program asks for a dump. */
  readonly #onDump: () => void;
  readonly #memory: () => ArrayBuffer;

  constructor(memory: () => ArrayBuffer, onDump: () => void) {
    this.#memory = memory;
    this.#onDump = onDump;
  }

  /** The functions that the program imports. */
  get imports(): Record<string, (...values: number[]) => void> {
    const unsigned =
      (run: (...values: number[]) => void) =>
      (...values: number[]) =>
        run(...values.map((value) => value >>> 0));
    return {
      allocated: unsigned((at = 0, size = 0, isCleared = 0) => {
        this.#add(at, size);
        if (!isCleared) return;
        this.#shadow.fill(0, at, at + size);
        this.#origins.fill(WRITTEN, at, at + size);
      }),
      freed: unsigned((at = 0) => this.#remove(at)),
      moved: unsigned((from = 0, to = 0, size = 0) => this.#move(from, to, size)),
      written: unsigned((at = 0, size = 0) => this.#write(at, size)),
      pointer: unsigned((at = 0, target = 0, how = 0) => this.#point(at, target, how)),
      owned: unsigned((at = 0, size = 0) => this.owned.set(at, { start: at, end: at + size })),
      left: unsigned((at = 0, size = 0) => {
        this.owned.delete(at);
        this.#forget(at, size);
      }),
      dump: () => this.#onDump(),
    };
  }

  get pointers(): Iterable<Pointer> {
    return this.#pointers.values();
  }

  /** The pointer that the program wrote to an address. */
  plainPointer(at: number): Pointer | undefined {
    return this.#pointers.get(key(How.Plain, at));
  }

  /** Whether the program wrote the four bytes at an address since it allocated the block. */
  isWritten(at: number): boolean {
    return [0, 1, 2, 3].every((nth) => this.#origins[at + nth] === WRITTEN);
  }

  /** The block around an address. Naive: looks at all. */
  around(address: number): LoggedBlock | undefined {
    for (const block of this.blocks.values()) {
      if (address >= block.address && address < block.address + Math.max(1, block.size))
        return block;
    }
  }

  /** What was written must be in the memory, and nothing else may have been. */
  checkMemory(): void {
    const memory = new Uint8Array(this.#memory());
    for (const { address, size } of this.blocks.values()) {
      for (let at = address; at < address + size; at++) {
        if (memory[at] !== this.#shadow[at])
          throw new BadLog(`the byte at ${hex(at)} is not what the log says`);
      }
    }
    const words = new DataView(memory.buffer);
    for (const { how, at, target } of this.pointers) {
      const isThere = how !== How.Plain || words.getUint32(at, true) === target;
      if (!isThere) throw new BadLog(`the pointer at ${hex(at)} is not ${hex(target)}`);
    }
  }

  #add(at: number, size: number): void {
    const end = at + Math.max(1, size);
    for (const other of this.blocks.values()) {
      if (at < other.address + other.size && other.address < end)
        throw new BadLog(`the blocks at ${hex(at)} and ${hex(other.address)} overlap`);
    }
    this.blocks.set(at, { id: ++this.#allocations, address: at, size });
    const memorySize = this.#memory().byteLength;
    if (this.#shadow.length < memorySize) {
      this.#shadow = grown(this.#shadow, memorySize);
      this.#origins = grown(this.#origins, memorySize);
    }
    this.#shadow.set(new Uint8Array(this.#memory(), at, size), at);
    this.#origins.fill(OLD, at, at + size);
  }

  #remove(at: number): LoggedBlock {
    const block = this.blocks.get(at);
    if (block === undefined) throw new BadLog(`there is no block at ${hex(at)} to free`);
    this.blocks.delete(at);
    this.#forget(at, block.size);
    return block;
  }

  #move(from: number, to: number, size: number): void {
    const before = this.blocks.get(from);
    if (before === undefined) throw new BadLog(`there is no block at ${hex(from)} to resize`);
    const kept = Math.min(before.size, size);
    const bytes = this.#shadow.slice(from, from + kept);
    const origins = this.#origins.slice(from, from + kept);
    const pointers = [...this.pointers].filter(
      ({ how, at }) => !NO_MEMORY.includes(how) && at >= from && at + 4 <= from + kept,
    );
    this.#remove(from);
    this.#add(to, size);
    // A block that was resized where it is remains the same.
    if (to === from) this.blocks.set(to, { ...before, size });
    this.#shadow.set(bytes, to);
    this.#origins.set(origins, to);
    for (const pointer of pointers) {
      const at = pointer.at - from + to;
      this.#pointers.set(key(pointer.how, at), { ...pointer, at });
    }
  }

  #write(at: number, size: number): void {
    this.#forget(at, size);
    this.#shadow.set(new Uint8Array(this.#memory(), at, size), at);
    this.#origins.fill(WRITTEN, at, at + size);
  }

  #point(at: number, target: number, how: How): void {
    if (how === How.Plain) {
      this.#forget(at, 4);
      if (this.#isInHeap(at)) this.#write(at, 4);
    }
    this.#pointers.delete(key(how, at));
    if (target === 0) return;
    const id = this.around(target)?.id;
    if (id === undefined) throw new BadLog(`the pointer ${hex(target)} is not into a block`);
    this.#pointers.set(key(how, at), { how, at, target, id });
  }

  #isInHeap(at: number): boolean {
    return [...this.owned.values()].every(({ start, end }) => at < start || at >= end);
  }

  /** Forgets what was in a range. */
  #forget(start: number, size: number): void {
    for (const [key, { how, at }] of this.#pointers) {
      if (!NO_MEMORY.includes(how) && at > start - 4 && at < start + size)
        this.#pointers.delete(key);
    }
  }
}

function key(how: How, at: number): number {
  return at * 8 + how;
}

function grown(bytes: Uint8Array<ArrayBuffer>, size: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(size);
  larger.set(bytes);
  return larger;
}

export function hex(address: number): string {
  return `0x${address.toString(16)}`;
}
