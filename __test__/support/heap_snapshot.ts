/** The results of a tool that reads heap snapshots, and a comparison with the results of the analyzer. */
import type { Heap } from "../../index.js";

export interface SnapshotEdge {
  type: string;
  name: string;
  /** The id of the node. */
  to: number;
}

export interface SnapshotNode {
  id: number;
  type: string;
  name: string;
  className: string;
  selfSize: number;
  retainedSize: number;
  edges: SnapshotEdge[];
}

export interface SnapshotClass {
  count: number;
  selfSize: number;
  /** Of nested instances, the outer ones alone; where the tool adds it up like that. */
  retainedSetSize?: number;
}

export interface SnapshotReading {
  nodes: SnapshotNode[];
  /** By the name under which the tool shows them. */
  classes: Map<string, SnapshotClass>;
  /** Bytes of the whole heap. */
  total: number;
}

const STRING = "~lib/string/String";

/** The numbers of a snapshot, by class and by address. */
export interface HeapNumbers {
  total: number;
  classes: Record<string, SnapshotClass>;
  objects: Record<number, string>;
}

/** The results of the analyzer, with the names of classes as the tool shows them. */
export function heapNumbers(
  heap: Heap,
  { withSets, shownClasses }: { withSets: boolean; shownClasses?: Map<string, string> },
): HeapNumbers {
  const { totalLiveSize, constructors } = heap.constructors();
  const classes: HeapNumbers["classes"] = {};
  const objects: HeapNumbers["objects"] = {};
  for (const row of constructors) {
    const shown = shownClasses?.get(row.className) ?? row.className;
    const name = row.className === STRING ? "(string)" : shown;
    classes[name] = {
      count: row.count,
      selfSize: row.totalShallowSize,
      ...(withSets ? { retainedSetSize: row.retainedSetSize ?? 0 } : {}),
    };
    for (const { address, shallowSize, retainedSize } of row.instances) {
      objects[address] = `${name}: ${shallowSize}, ${retainedSize}`;
    }
  }
  return { total: totalLiveSize, classes, objects };
}

/** The results of a tool, in the same form. Synthetic nodes take no space. */
export function snapshotNumbers({ nodes, classes, total }: SnapshotReading): HeapNumbers {
  const objects: HeapNumbers["objects"] = {};
  for (const { id, type, className, selfSize, retainedSize } of nodes) {
    if (type === "synthetic") {
      if (selfSize !== 0) throw new Error(`the synthetic node ${id} has ${selfSize} bytes`);
      continue;
    }
    const address = id - 1;
    if (address in objects) throw new Error(`two nodes have the id ${id}`);
    objects[address] = `${className}: ${selfSize}, ${retainedSize}`;
  }
  const shown = [...classes].filter(([name]) => name !== "(synthetic)");
  return { total, classes: Object.fromEntries(shown), objects };
}

/** The references to an object, as a tool shows them: by the id and the label of each. */
export function retainersOf({ nodes }: SnapshotReading, address: number): string[] {
  const retainers = nodes.flatMap(({ id, edges }) =>
    edges
      .filter(({ to }) => to === address + 1)
      .map(({ type, name }) => `${id}: ${type === "element" ? `[${name}]` : name}`),
  );
  return retainers.sort();
}
