/**
 * A library whose classes have visitors of their own. The compiler calls `__visit` of a class instead of visiting its
 * fields if the file of the class is that of a library.
 */

/** What the others refer to. */
export class Key {
  constructor(public text: string) {}
}

/** A reference that counts only while `isOn` is set. */
export class Maybe {
  private key: usize = 0;
  private isOn: bool = false;
  set(key: Key, isOn: bool): void {
    this.key = changetype<usize>(key);
    this.isOn = isOn;
    if (isOn) __link(changetype<usize>(this), this.key, false);
  }
  @unsafe private __visit(cookie: u32): void {
    if (this.isOn) __visit(this.key, cookie);
  }
}

/** A union: `value` is a reference if `tag` is 5, and a number that may look like one if not. */
export class Tagged {
  private tag: i32 = 0;
  private value: u64 = 0;
  setKey(key: Key): void {
    this.tag = 5;
    this.value = changetype<usize>(key);
    __link(changetype<usize>(this), changetype<usize>(key), false);
  }
  setNumber(value: u64): void {
    this.tag = 2;
    this.value = value;
  }
  @unsafe private __visit(cookie: u32): void {
    if (this.tag == 5) __visit(<usize>this.value, cookie);
  }
}

/** Bits of a number that is a reference: such a constant of 64 bits is a global of unoptimised code. */
const BOXED: u64 = 0x7ff8_0000_0000_0000;

/** A number, or a reference in the bits of one that is none. */
export class Boxed {
  private bits: u64 = 0;
  setKey(key: Key): void {
    this.bits = BOXED | <u64>changetype<usize>(key);
    __link(changetype<usize>(this), changetype<usize>(key), false);
  }
  setNumber(value: u64): void {
    this.bits = value;
  }
  @unsafe private __visit(cookie: u32): void {
    if ((this.bits & BOXED) == BOXED) __visit(<usize>(this.bits & 0xffff_ffff), cookie);
  }
}

/** References in raw memory. */
export class Pool {
  private memory: usize = heap.alloc(256);
  length: i32 = 0;
  add(key: Key): void {
    store<usize>(this.memory + ((<usize>this.length) << 2), changetype<usize>(key));
    this.length++;
    __link(changetype<usize>(this), changetype<usize>(key), true);
  }
  @unsafe private __visit(cookie: u32): void {
    for (let nth = 0, end = this.length; nth < end; nth++)
      __visit(load<usize>(this.memory + ((<usize>nth) << 2)), cookie);
  }
}

/** References in a buffer, which is an object itself. */
export class Ring {
  private buffer: ArrayBuffer = new ArrayBuffer(64);
  added: i32 = 0;
  add(key: Key): void {
    store<usize>(changetype<usize>(this.buffer) + ((<usize>(this.added & 15)) << 2), changetype<usize>(key));
    this.added++;
    __link(changetype<usize>(this), changetype<usize>(key), true);
  }
  @unsafe private __visit(cookie: u32): void {
    __visit(changetype<usize>(this.buffer), cookie);
    for (let nth = 0, end = min(this.added, 16); nth < end; nth++)
      __visit(load<usize>(changetype<usize>(this.buffer) + ((<usize>nth) << 2)), cookie);
  }
}

/** A reference with a flag in its lowest bit, which the visitor removes. */
export class Flagged {
  private bits: usize = 0;
  set(key: Key, flag: bool): void {
    this.bits = changetype<usize>(key) | <usize>flag;
    __link(changetype<usize>(this), changetype<usize>(key), false);
  }
  @unsafe private __visit(cookie: u32): void {
    __visit(this.bits & ~1, cookie);
  }
}

/** A reference that depends on a variable of the library. */
export let isKept: bool = true;
export function keepGuests(keep: bool): void {
  isKept = keep;
}
export class Guest {
  private key: usize = 0;
  set(key: Key): void {
    this.key = changetype<usize>(key);
    __link(changetype<usize>(this), this.key, false);
  }
  @unsafe private __visit(cookie: u32): void {
    if (isKept) __visit(this.key, cookie);
  }
}

/** A visitor that calls a function by its index, which only the program's own engine can do. */
export class Indirect {
  private key: usize = 0;
  private choose: (value: usize) => usize = (value: usize): usize => value;
  set(key: Key): void {
    this.key = changetype<usize>(key);
    __link(changetype<usize>(this), this.key, false);
  }
  @unsafe private __visit(cookie: u32): void {
    __visit(changetype<usize>(this.choose), cookie);
    __visit(call_indirect<usize>(load<u32>(changetype<usize>(this.choose)), this.key), cookie);
  }
}

/** A visitor of a library that does what the compiler's would. */
export class Plain {
  private key: Key | null = null;
  private number: i32 = 7;
  set(key: Key): void {
    this.key = key;
  }
  @unsafe private __visit(cookie: u32): void {
    __visit(changetype<usize>(this.key), cookie);
  }
}
