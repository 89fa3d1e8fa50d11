/** Which holders the analyzer finds, against what a program knows. */
import { type Heap, openHeapFile } from "@warpo/heap-analyzer";
import { type BridgeTruth, readBridgeTruth, TrueHolders } from "./bridge.ts";

/** In a joined heap, the address of an object of JavaScript is this and its id. */
const FIRST_ID = 2 ** 31;

/** What was found of the pinned objects that something in JavaScript holds. */
export interface Verdict {
  held: number;
  withHolder: number;
  withHolderOrStack: number;
  /** Holders that the analyzer says, and those of them that are none. */
  edges: number;
  wrong: string[];
  /** How many objects of which group have no holder. */
  missed: Record<string, number>;
}

/** The objects of JavaScript that hold an object, as the analyzer has them. */
export function holders(heap: Heap, address: number): { id: number; label: string }[] {
  const { referrers } = heap.referrers(address, { limit: 1000 });
  return referrers
    .filter(({ evidence }) => evidence !== undefined)
    .map((edge) => ({ id: (edge.address as number) - FIRST_ID, label: edge.label as string }));
}

/** Opens a pair as one heap. */
export function openPair(prefix: string, wasm: string): Heap {
  return openHeapFile(`${prefix}.dump`, wasm, { host: `${prefix}.heapsnapshot` });
}

/** Judges a pair. */
export function judged(
  prefix: string,
  wasm: string,
  truth: BridgeTruth = readBridgeTruth(prefix),
): Verdict {
  const heap = openPair(prefix, wasm);
  const known = new TrueHolders(prefix, truth);
  const counts = { held: 0, withHolder: 0, withHolderOrStack: 0, edges: 0 };
  const wrong: string[] = [];
  const missed: Record<string, number> = {};
  const find = (address: number) => {
    const found = holders(heap, address);
    counts.edges += found.length;
    const isTrue = found.map(({ id, label }) => known.has(id, label, address));
    for (const [nth, { id, label }] of found.entries()) {
      if (!isTrue[nth]) wrong.push(`@${id} ${label} ${address}`);
    }
    return isTrue.includes(true);
  };
  for (const { name, addresses } of truth.groups) {
    for (const address of addresses) {
      const isFound = find(address);
      const hasStack = (heap.object(address).pinnedBy ?? []).length > 0;
      counts.held++;
      if (isFound) counts.withHolder++;
      else missed[name] = (missed[name] ?? 0) + 1;
      if (isFound || hasStack) counts.withHolderOrStack++;
    }
  }
  for (const address of truth.lost) find(address);
  heap.close();
  return { ...counts, wrong, missed };
}
