// A program whose globals, boundaries and memory a host can ask it for, so that it can itself say
// what a dump of it must hold.

@external("MemoryDump", "dumpMemoryRegion")
declare function dumpMemoryRegion(filePathOffset: i32, filePathSize: i32): void;

@external("env", "hostCounter")
declare let hostCounter: i32;

class Node {
  value: i32 = 0;
  next: Node | null = null;
}

let head: Node | null = null;
let count: i32 = 0;
let notAnAddress: i64 = 1 << 40;
let ratio: f64 = 0.5;
let negative: i32 = 0;
let stackPointerInCall: usize = 0;

/** Changes globals of every type, so that the optimiser must keep them all. */
export function add(howMany: i32): void {
  for (let i = 0; i < howMany; i++) {
    const node = new Node();
    node.value = i;
    node.next = head;
    head = node;
    count++;
    negative--;
    notAnAddress *= 3;
    ratio += 0.25;
    hostCounter += 2;
  }
}

export function getHead(): usize {
  return changetype<usize>(head);
}
export function getCount(): i32 {
  return count;
}
export function getNegative(): i32 {
  return negative;
}
export function getHostCounter(): i32 {
  return hostCounter;
}
export function getRatio(): f64 {
  return ratio + <f64>notAnAddress;
}
export function dataEnd(): usize {
  return __data_end;
}
export function heapBase(): usize {
  return __heap_base;
}
export function stackPointer(): usize {
  return __stack_pointer;
}
export function stackPointerInLastCall(): usize {
  return stackPointerInCall;
}

/** Grows the memory to at least this size. The string is static data. */
export function grow(pages: i32): void {
  if (memory.size() < pages && memory.grow(pages - memory.size()) < 0) throw new Error("out of memory");
}

export function reserve(size: i32): usize {
  return heap.alloc(size);
}

/** Writes a dump to a path in memory, some frames deeper. */
export function dump(address: usize, size: i32, depth: i32): i32 {
  const node = new Node();
  node.value = depth;
  if (depth > 0) return dump(address, size, depth - 1) + node.value;
  stackPointerInCall = __stack_pointer;
  dumpMemoryRegion(<i32>address, size);
  return node.value;
}
