/**
 * What the collector itself holds to be its objects, read from its three lists. Deliberately
 * another way to them than the analyzer's walk over the allocator's blocks.
 */

export interface TrueObject {
  rtId: number;
  rtSize: number;
  /** The whole block, header included. */
  blockBytes: number;
}

/** Managed heap objects by address. */
export type HeapTruth = Map<number, TrueObject>;

export const STATE_IDLE = 0;
export const STATE_MARK = 1;
export const STATE_SWEEP = 2;

/** Bytes from a block to the payload of the object in it. */
const OBJECT_OFFSET = 20;

export function readTruth(
  memory: ArrayBuffer,
  heapBase: number,
  globals: Map<string, number>,
): HeapTruth {
  const view = new DataView(memory);
  const word = (address: number) => view.getUint32(address, true);
  const nextOf = (object: number) => word(object + 4) & ~3;
  const truth: HeapTruth = new Map();
  const addList = (head: number, first: number) => {
    for (let object = first >>> 0; object !== head; object = nextOf(object) >>> 0) {
      if (truth.size > memory.byteLength / 32) throw new Error(`the list at ${head} does not end`);
      if (object < heapBase) continue;
      truth.set(object + OBJECT_OFFSET, {
        rtId: word(object + 12),
        rtSize: word(object + 16),
        blockBytes: 4 + ((word(object) & ~3) >>> 0),
      });
    }
  };
  const global = (name: string) =>
    globals.get(`~lib/rt/itcms/${name}`) ?? globals.get(`~lib/rt/tcms/${name}`) ?? 0;
  for (const list of ["fromSpace", "pinSpace", "toSpace"]) {
    const head = global(list);
    if (head === 0) continue; // The runtime makes its lists when it first needs them.
    // While it sweeps, the collector leaves swept objects linked to the list's head: the rest begins at `iter`.
    const sweeping = list === "toSpace" && global("state") === STATE_SWEEP;
    addList(head, sweeping ? global("iter") : nextOf(head));
  }
  return truth;
}

export function totalBytes(truth: HeapTruth): number {
  let sum = 0;
  for (const { blockBytes } of truth.values()) sum += blockBytes;
  return sum;
}
