/** Loads a heap snapshot with the code that runs in the worker of Chrome's DevTools. */

import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import "./with_resolvers.mts";
import type { SnapshotEdge, SnapshotNode, SnapshotReading } from "../support/heap_snapshot.ts";

const WORKER = "chrome-devtools-frontend/front_end/entrypoints/heap_snapshot_worker";

interface Aggregate {
  name: string;
  count: number;
  self: number;
  maxRet: number;
}

export interface ClassDifference {
  name: string;
  addedCount: number;
  removedCount: number;
  addedSize: number;
  removedSize: number;
}

/** As much of DevTools' class of this name as the tests need. */
interface DevToolsNode {
  nodeIndex: number;
  id(): number;
  type(): string;
  name(): string;
  className(): string;
  selfSize(): number;
  retainedSize(): number;
  distance(): number;
  edges(): {
    hasNext(): boolean;
    next(): void;
    item(): { name(): string; type(): string; node(): DevToolsNode };
  };
}

export interface DevToolsSnapshot {
  nodeCount: number;
  nodeFieldCount: number;
  totalSize: number;
  createNode(index?: number): DevToolsNode;
  aggregatesWithFilter(filter: object): Record<string, Aggregate>;
  aggregatesForDiff(interfaces: string): unknown;
  interfaceDefinitions(): string;
  calculateSnapshotDiff(base: string, classes: unknown): Record<string, ClassDifference>;
}

interface Loader {
  write(chunk: string): void;
  close(): void;
  buildSnapshot(port: MessagePort): Promise<DevToolsSnapshot>;
}

/** What the tests use of DevTools' modules. */
export interface DevToolsCode {
  HeapSnapshotLoader: new (dispatcher: object) => Loader;
  SecondaryInitManager: new (port: MessagePort) => unknown;
}

// The compiler must not look for types there: it would check all of DevTools.
async function worker(): Promise<DevToolsCode> {
  const parts = ["HeapSnapshotLoader", "HeapSnapshot"].map((name) => `${WORKER}/${name}.ts`);
  const [loader, snapshot] = await Promise.all(
    parts.map((part) => import(/* @vite-ignore */ part)),
  );
  return { ...loader, ...snapshot };
}

/** Loads a snapshot while it is read. */
export async function loadInDevTools(stream: Readable): Promise<DevToolsSnapshot> {
  const { HeapSnapshotLoader, SecondaryInitManager } = await worker();
  const loader = new HeapSnapshotLoader({ sendEvent() {} });
  const decoder = new StringDecoder();
  for await (const chunk of stream) loader.write(decoder.write(chunk));
  loader.close();
  const { port1, port2 } = new MessageChannel();
  try {
    new SecondaryInitManager(port2);
    return await loader.buildSnapshot(port1);
  } finally {
    port1.close();
    port2.close();
  }
}

function edgesOf(node: DevToolsNode): SnapshotEdge[] {
  const edges: SnapshotEdge[] = [];
  for (const edge = node.edges(); edge.hasNext(); edge.next()) {
    const item = edge.item();
    edges.push({ type: item.type(), name: String(item.name()), to: item.node().id() });
  }
  return edges;
}

/** What DevTools shows of a snapshot. */
export function readDevTools(snapshot: DevToolsSnapshot): SnapshotReading {
  const nodes: SnapshotNode[] = [];
  for (let nth = 0; nth < snapshot.nodeCount; nth++) {
    const node = snapshot.createNode(nth * snapshot.nodeFieldCount);
    nodes.push({
      id: node.id(),
      type: node.type(),
      name: node.name(),
      className: node.className(),
      selfSize: node.selfSize(),
      retainedSize: node.retainedSize(),
      edges: edgesOf(node),
    });
  }
  const classes = Object.values(snapshot.aggregatesWithFilter({}));
  return {
    nodes,
    total: snapshot.totalSize,
    classes: new Map(
      classes.map(({ name, count, self, maxRet }) => [
        name,
        { count, selfSize: self, retainedSetSize: maxRet },
      ]),
    ),
  };
}
