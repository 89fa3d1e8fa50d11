/** What the analyzer says of a dump of the random native program. */
import { openHeap } from "@warpo/heap-analyzer";

/** One block, as the analyzer knows it. */
export interface FoundBlock {
  size: number;
  retainedSize: number;
  /** The kinds of roots that refer to the block. */
  rootKinds: string[];
  /** The kind of the root with which its path begins. */
  pathFrom: string | undefined;
}

export interface Answers {
  blocks: Map<number, FoundBlock>;
  live: { count: number; bytes: number };
  /** The bytes of all segments. */
  heapSize: number;
}

const EVERYTHING = 100_000;

/** Asks for everything that is judged. */
export function ask(dump: Uint8Array, wasm: Uint8Array): Answers {
  const heap = openHeap(dump, wasm);
  const blocks = new Map<number, FoundBlock>();
  for (const { address } of heap.find({ limit: EVERYTHING }).objects) {
    const { shallowSize, retainedSize, roots, path } = heap.object(address);
    const rootKinds = roots.map(({ kind }) => kind);
    blocks.set(address, { size: shallowSize, retainedSize, rootKinds, pathFrom: path?.root.kind });
  }
  const { objects, totalLiveSize, totalHeapSize = 0 } = heap.summary();
  heap.close();
  const live = { count: objects.live, bytes: totalLiveSize };
  return { blocks, live, heapSize: totalHeapSize };
}
