// Pages that someone else took, so that the allocator's memory is in several pieces.
import { judge } from "./support/host";

class Item {
  next: Item | null = null;
  constructor(public tag: i32) {}
}

let kept: Item[] = [];
let big: ArrayBuffer[] = [];

/** Fills the free memory until the allocator grows the memory. It then doubles the number of pages. */
function fillUntilGrown(): void {
  const pages = memory.size();
  for (let i = 0; memory.size() == pages; i++) {
    big.push(new ArrayBuffer(30000));
    kept.push(new Item(i));
    kept[kept.length - 1].next = new Item(-i);
  }
}

/** Grows the memory as a host or another allocator would, and returns the address of the new pages. */
function foreignPages(count: i32): usize {
  return <usize>memory.grow(count) << 16;
}

/** A chain of words that look like block headers from the very place where a region would begin. */
function disguise(at: usize, bytes: usize): void {
  const end = at + bytes;
  for (let block = ((at + 4 + 15) & ~15) - 4; block + 64 < end; block += 64) {
    store<u32>(block, 60);
    store<usize>(block, block + 64, 4);
    store<usize>(block, block - 64, 8);
    store<u32>(block, idof<Item>(), 12);
    store<u32>(block, 8, 16);
    store<usize>(block, changetype<usize>(kept[0]), 20);
  }
}

export function main(): void {
  fillUntilGrown();
  judge(0);
  // Untouched.
  foreignPages(1);
  fillUntilGrown();
  judge(1);
  // Full of ones.
  const ones = foreignPages(2);
  memory.fill(ones, 0xff, 2 << 16);
  fillUntilGrown();
  judge(2);
  // Full of blocks that look like objects, twice in a row.
  disguise(foreignPages(1), 1 << 16);
  disguise(foreignPages(3), 3 << 16);
  fillUntilGrown();
  judge(3);
  // At the very end of the memory, behind the last region.
  disguise(foreignPages(1), 1 << 16);
  judge(4);
  kept.length = 5;
  big.length = 1;
  judge(5);
}
