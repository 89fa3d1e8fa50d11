// Garbage in cycles, and raw blocks that are referred to from places of every kind, or from none.
class Item {
  previous: Item | null = null;
  next: Item | null = null;
  constructor(public tag: i32) {}
}

class List {
  first: Item | null = null;
}

class Loop {
  self: Loop | null = null;
}

class Holder {
  block: usize = 0;
  wide: u64 = 0;
}

const holder = new Holder();
const data = memory.data(16);
let inGlobal: usize = 0;
let inside: usize = 0;
let inWideGlobal: u64 = 0;
let disguised: usize = 0;

/** The old contents of memory could look like addresses. */
function allocate(size: usize): usize {
  const block = heap.alloc(size);
  memory.fill(block, 0, size);
  return block;
}

/** A doubly linked list, and objects that refer to themselves. Nothing keeps them. */
export function dropCycles(items: i32, loops: i32): void {
  const list = new List();
  for (let tag = 0; tag < items; tag++) {
    const item = new Item(tag);
    const first = list.first;
    if (first) first.previous = item;
    item.next = first;
    list.first = item;
  }
  for (let nth = 0; nth < loops; nth++) {
    const loop = new Loop();
    loop.self = loop;
  }
}

export function heldByGlobal(): usize {
  return (inGlobal = allocate(60));
}

export function heldByStaticData(): usize {
  const block = allocate(60);
  store<usize>(data, block, 8);
  return block;
}

export function heldByObject(): usize {
  return (holder.block = allocate(60));
}

export function heldByNumberOfObject(): usize {
  const block = allocate(60);
  holder.wide = block;
  return block;
}

export function heldByBlock(): usize {
  const block = allocate(60);
  store<usize>(inGlobal, block, 16);
  return block;
}

export function heldByAddressInside(): usize {
  const block = allocate(60);
  inside = block + 40;
  return block;
}

export function heldByGarbage(): usize {
  const block = allocate(60);
  new Holder().block = block;
  return block;
}

/** Two blocks, of which the second refers to the first, and nothing to the second; returns the first. */
export function heldByLostBlock(): usize {
  const block = allocate(60);
  store<usize>(allocate(44), block);
  return block;
}

export function heldByNothing(): usize {
  return allocate(60);
}

export function heldByNumberOfGlobal(): usize {
  const block = allocate(60);
  inWideGlobal = block;
  return block;
}

export function heldInDisguise(): usize {
  const block = allocate(60);
  disguised = ~block;
  return block;
}

/** So that no compiler removes the variables. */
export function sum(): u64 {
  return inWideGlobal + disguised + inside + holder.wide;
}
