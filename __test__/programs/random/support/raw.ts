// Memory that does not belong to the collector: raw blocks and foreign pages, with contents that look like
// everything that they are not.
import { pick } from "./roots";
import { Node } from "./values";

const LONGEST_RING: i32 = 8;

/** Raw blocks that are in use. The table is itself a raw block. */
const MOST: i32 = 64;
const table: usize = heap.alloc(MOST * sizeof<usize>());
let count: i32 = 0;
let foreignPages: i32 = 0;
let forgedPages: i32 = 0;

/** For the judge: the bytes of all raw blocks, and of the pages that the allocator does not know. */
export function rawBytes(): usize {
  let bytes = blockBytes(table);
  for (let i = 0; i < count; i++) bytes += blockBytes(address(i));
  return bytes;
}
export function foreignBytes(): usize {
  return <usize>foreignPages << 16;
}

/** Those of the foreign pages that look exactly like the allocator's. */
export function forgedBytes(): usize {
  return <usize>forgedPages << 16;
}

function blockBytes(payload: usize): usize {
  return sizeof<usize>() + (load<usize>(payload - sizeof<usize>()) & ~3);
}

function address(index: i32): usize {
  return load<usize>(table + sizeof<usize>() * (<u32>index % count));
}

function isFull(): bool {
  return count + LONGEST_RING > MOST;
}

function remember(block: usize): void {
  store<usize>(table + sizeof<usize>() * count++, block);
}

function forget(index: i32): usize {
  const at = <u32>index % count;
  const block = address(at);
  store<usize>(table + sizeof<usize>() * at, load<usize>(table + sizeof<usize>() * --count));
  return block;
}

/** What precedes an object's payload in its block. */
const HEADER: usize = 16;

function writeHeader(block: usize, next: usize, prev: usize, id: u32, size: u32): void {
  store<usize>(block, next, 0);
  store<usize>(block, prev, 4);
  store<u32>(block, id, 8);
  store<u32>(block, size, 12);
}

export function makeRaw(size: i32, contents: i32, n: i32): void {
  if (isFull()) return;
  const bytes = <usize>(28 + (size & 511));
  const block = heap.alloc(bytes);
  remember(block);
  fill(block, bytes, contents, n);
}

function fill(block: usize, bytes: usize, contents: i32, n: i32): void {
  const model = changetype<usize>(pick(n));
  switch (<u32>contents % 9) {
    case 0:
      memory.fill(block, 0xff, bytes);
      break;
    case 1:
      memory.fill(block, 0, bytes);
      break;
    case 2:
      // A copy of an object, header and all.
      memory.copy(block, model - HEADER, 28);
      break;
    case 3:
      memory.copy(block, model - HEADER, 28);
      store<usize>(block, load<usize>(block) | 3);
      break;
    case 4:
      // Linked to itself.
      writeHeader(block, (block - 4) | (n & 3), block - 4, idof<Node>(), 16);
      break;
    case 5:
      writeHeader(block, <usize>0xfffffff0, <usize>0xfffffff0, <u32>-1, <u32>-1);
      break;
    case 6:
      // The address of an object that nothing else holds.
      writeHeader(block, 0, 0, idof<Node>(), 16);
      store<usize>(block, changetype<usize>(new Node(n)), HEADER);
      break;
    case 7:
      for (let at: usize = 0; at + 4 <= bytes; at += 4) store<usize>(block + at, model);
      break;
    default:
      // Beside an object in its list, which does not know of it.
      writeHeader(block, load<usize>(model - HEADER), load<usize>(model - HEADER, 4), idof<Node>(), 16);
  }
}

export function freeRaw(index: i32): void {
  if (count > 0) heap.free(forget(index));
}

export function resizeRaw(index: i32, size: i32): void {
  if (count > 0) remember(heap.realloc(forget(index), 16 + (size & 1023)));
}

/** Raw blocks that refer to each other as the objects of a list do. */
export function makeRawRing(length: i32, colour: i32): void {
  if (isFull()) return;
  const first = heap.alloc(40);
  remember(first);
  let last = first;
  for (let i = 0; i < <i32>(<u32>length % LONGEST_RING); i++) {
    const block = heap.alloc(40);
    remember(block);
    join(last, block, colour);
    last = block;
  }
  join(last, first, colour);
}

function join(from: usize, to: usize, colour: usize): void {
  store<usize>(from, (to - 4) | (colour & 3));
  store<usize>(to, from - 4, 4);
  store<u32>(from, idof<Node>(), 8);
  store<u32>(from, 16, 12);
  store<usize>(from, changetype<usize>(new Node(1)), HEADER);
  store<usize>(from, to + HEADER, HEADER + 4);
  store<usize>(from, 0, HEADER + 8);
}

/** The memory does not grow beyond this. */
const MOST_PAGES: i32 = 40;

export function growMemory(pages: i32, contents: i32): void {
  const wanted = 1 + (pages & 1);
  if (memory.size() + wanted > MOST_PAGES) return;
  const start = <usize>memory.grow(wanted) << 16;
  const end = start + (<usize>wanted << 16);
  foreignPages += wanted;
  switch (<u32>contents % 5) {
    case 0:
      break;
    case 1:
      memory.fill(start, 0xff, end - start);
      break;
    case 2:
      forgeObjects(start, end);
      break;
    case 3:
      forgeRegion(start, end);
      forgedPages += wanted;
      break;
    default:
      memory.fill(start, 0x10, end - start);
  }
}

function forgeObjects(start: usize, end: usize): void {
  for (let block = ((start + 4 + 15) & ~15) - 4; block + 64 < end; block += 64) {
    store<u32>(block, 60);
    writeHeader(block + 4, block + 64, block - 64, idof<Node>(), 16);
    store<usize>(block, changetype<usize>(pick(<i32>block)), 4 + HEADER);
  }
}

/** Used blocks, and the block of size 0 that ends a region. */
function forgeRegion(start: usize, end: usize): void {
  const last = end - 4;
  let block = ((start + 4 + 15) & ~15) - 4;
  while (block < last) {
    const size: usize = last - block > 1024 ? 1020 : last - block - 4;
    store<u32>(block, <u32>size);
    block += 4 + size;
  }
  store<u32>(last, 0);
}

export function hasRoom(pages: i32): bool {
  return memory.size() + pages <= MOST_PAGES;
}
