// Memory from `heap.alloc`, with contents that look like objects.
import { judge } from "./support/host";

class Item {
  next: Item | null = null;
  constructor(public tag: i32) {}
}

let kept: Item[] = [];
let blocks: usize[] = [];

// An object's header as seen from a block's payload: next, prev, id, size.
function writeHeader(payload: usize, next: usize, prev: usize, id: u32, size: u32): void {
  store<usize>(payload, next, 0);
  store<usize>(payload, prev, 4);
  store<u32>(payload, id, 8);
  store<u32>(payload, size, 12);
}

function raw(size: usize): usize {
  const payload = heap.alloc(size);
  blocks.push(payload);
  return payload;
}

function build(): void {
  for (let i = 0; i < 10; i++) kept.push(new Item(i));
  memory.fill(raw(60), 0xff, 60);
  memory.fill(raw(300), 0xfe, 300);
  memory.fill(raw(28), 0x00, 28);
  // A copy of an object, header and all: its neighbours do not know it.
  memory.copy(raw(28), changetype<usize>(kept[3]) - 16, 28);
  // The same with the colour of a pin.
  const pinned = raw(28);
  memory.copy(pinned, changetype<usize>(kept[4]) - 16, 28);
  store<usize>(pinned, load<usize>(pinned) | 3);
  // One that points at itself.
  const lonely = raw(28);
  writeHeader(lonely, lonely - 4, lonely - 4, idof<Item>(), 8);
  // Bytes that lead out of memory.
  writeHeader(raw(28), <usize>0xfffffff0, <usize>0xfffffff0, <u32>-1, <u32>-1);
  // A reference to an object that nothing else holds.
  const holder = raw(28);
  writeHeader(holder, 0, 0, idof<Item>(), 8);
  store<usize>(holder, changetype<usize>(new Item(77)), 16);
  // Big, and full of addresses.
  const big = raw(4000);
  for (let i = 0; i < 1000; i++) store<usize>(big + 4 * i, changetype<usize>(kept[i % 10]));
}

export function main(): void {
  build();
  judge(0);
  kept.length = 3;
  judge(1);
  for (let i = 0; i < blocks.length; i += 2) heap.free(blocks[i]);
  for (let i = 0; i < 5; i++) kept.push(new Item(i));
  judge(2);
}
