// Foreign pages that look exactly like a region of the allocator's, with the true regions around them.
import { judge } from "./support/host";

class Item {
  next: Item | null = null;
  constructor(public tag: i32) {}
}

let kept: Item[] = [];
let big: ArrayBuffer[] = [];

/** Fills the free memory until the allocator grows the memory. */
function fillUntilGrown(): void {
  const pages = memory.size();
  for (let i = 0; memory.size() == pages; i++) {
    big.push(new ArrayBuffer(30000));
    kept.push(new Item(i));
    kept[kept.length - 1].next = new Item(-i);
  }
}

/** Writes used blocks, as large as they may be, and the block of size 0 that ends a region. */
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

function foreignRegion(pages: i32): void {
  const start = <usize>memory.grow(pages) << 16;
  forgeRegion(start, start + (<usize>pages << 16));
}

export function main(): void {
  fillUntilGrown();
  foreignRegion(1);
  fillUntilGrown();
  judge(0);
  foreignRegion(2);
  foreignRegion(2);
  fillUntilGrown();
  judge(1);
  kept.length = 3;
  judge(2);
}
