/**
 * The heap's size and its free blocks, from the allocator's own lists. Deliberately another way
 * than the analyzer's walk from block to block.
 */

export interface HeapTotals {
  /** From the first block to the end of the memory. */
  heap: number;
  free: { bytes: number; blocks: number; largest: number };
}

/** Layout of the allocator's root. */
const LISTS_OFFSET = 96;
const LIST_COUNT = 23 * 16;
const ROOT_SIZE = 1572;
/** In a free block. */
const NEXT_OFFSET = 8;

export function heapTotals(memory: ArrayBuffer, heapBase: number): HeapTotals {
  const words = new Uint32Array(memory);
  const word = (address: number) => words[address >>> 2] ?? 0;
  const root = (heapBase + 15) & ~15;
  const firstBlock = ((root + ROOT_SIZE + 4 + 15) & ~15) - 4;
  const free = { bytes: 0, blocks: 0, largest: 0 };
  for (let list = 0; list < LIST_COUNT; list++) {
    let block = word(root + LISTS_OFFSET + 4 * list);
    for (; block !== 0; block = word(block + NEXT_OFFSET)) {
      const bytes = 4 + ((word(block) & ~3) >>> 0);
      free.bytes += bytes;
      free.blocks += 1;
      free.largest = Math.max(free.largest, bytes);
    }
  }
  return { heap: memory.byteLength - firstBlock, free };
}
