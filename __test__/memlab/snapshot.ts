/** Loads a heap snapshot with memlab. */
import { createRequire } from "node:module";
import type { SnapshotClass, SnapshotNode, SnapshotReading } from "../support/heap_snapshot.ts";

interface MemlabNode {
  id: number;
  type: string;
  name: string;
  self_size: number;
  retainedSize: number;
  references: { type: string; name_or_index: string | number; toNode: { id: number } }[];
}

export interface MemlabSnapshot {
  nodes: { forEach(visit: (node: MemlabNode) => void): void };
}

/** As much of memlab as the tests need. */
interface Memlab {
  config: { muteConsole: boolean };
  utils: { getSnapshotFromFile(file: string, options: object): Promise<MemlabSnapshot> };
  analysis: { preparePathFinder(snapshot: MemlabSnapshot): unknown };
}

// Not at the import of this file: memlab may not be installed.
const require = createRequire(import.meta.url);

export function isMemlabInstalled(): boolean {
  try {
    require.resolve("@memlab/core");
    return true;
  } catch {
    return false;
  }
}

/** Loads a file, and computes what each node retains. */
export async function loadInMemlab(file: string): Promise<MemlabSnapshot> {
  const { analysis, config, utils } = require("@memlab/core") as Memlab;
  config.muteConsole = true;
  const snapshot = await utils.getSnapshotFromFile(file, {});
  analysis.preparePathFinder(snapshot);
  return snapshot;
}

/** What memlab knows of a snapshot. It has no table of classes, so nodes are added up by name. */
export function readMemlab(snapshot: MemlabSnapshot): SnapshotReading {
  const nodes: SnapshotNode[] = [];
  const classes = new Map<string, SnapshotClass>();
  let total = 0;
  snapshot.nodes.forEach((node) => {
    const { id, type, name, self_size: selfSize, retainedSize } = node;
    const className = type === "object" ? name : `(${type})`;
    const edges = node.references.map(({ type, name_or_index: name, toNode }) => ({
      type,
      name: String(name),
      to: toNode.id,
    }));
    nodes.push({ id, type, name, className, selfSize, retainedSize, edges });
    const sums = classes.get(className) ?? { count: 0, selfSize: 0 };
    classes.set(className, { count: sums.count + 1, selfSize: sums.selfSize + selfSize });
    total += selfSize;
  });
  return { nodes, classes, total };
}
