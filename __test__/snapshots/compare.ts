/** The numbers of a snapshot, as the analyzer and DevTools compute them, in one form. */
import { createReadStream } from "node:fs";
import type { ComparisonView, ConstructorView, Heap } from "../../index.js";
import { type DevToolsSnapshot, loadInDevTools } from "../devtools/snapshot.ts";

/** Loads a file with the code of DevTools. */
export const loadFile = (file: string): Promise<DevToolsSnapshot> =>
  loadInDevTools(createReadStream(file));

/** A class name without the place that tells classes of one name apart. */
const plainName = (name: string): string => name.replace(/ \(script \d+:\d+:\d+\)$/, "");
/** Without the scope, which is no part of the name of an object. */
const withoutScope = (name: string): string => name.replace(/ \/ scope @\d+$/, "");

export function analyzerClasses({ constructors }: ConstructorView): string[] {
  const lines = constructors.map(
    ({ className, count, totalShallowSize, retainedSetSize }) =>
      `${plainName(className)}: ${count}, ${totalShallowSize}, ${retainedSetSize}`,
  );
  return lines.sort();
}

export function devToolsClasses(snapshot: DevToolsSnapshot): string[] {
  const classes = Object.values(snapshot.aggregatesWithFilter({}));
  return classes
    .map(({ name, count, self, maxRet }) => `${name}: ${count}, ${self}, ${maxRet}`)
    .sort();
}

export function analyzerChanges({ constructors }: ComparisonView): string[] {
  const lines = constructors.map(
    ({ className, newCount, deletedCount, allocatedSize, freedSize }) =>
      `${plainName(className)}: ${[newCount, deletedCount, allocatedSize, freedSize].join(" ")}`,
  );
  return lines.sort();
}

export function devToolsChanges(before: DevToolsSnapshot, after: DevToolsSnapshot): string[] {
  const classes = before.aggregatesForDiff(after.interfaceDefinitions());
  const changes = Object.values(after.calculateSnapshotDiff("base", classes));
  const lines = changes.map(
    ({ name, addedCount, removedCount, addedSize, removedSize }) =>
      `${name}: ${[addedCount, removedCount, addedSize, removedSize].join(" ")}`,
  );
  return lines.sort();
}

const NO_DISTANCE = -5;

/** Every node, by id. The root is left out: it is not an object of the analyzer. */
export function devToolsNodes(snapshot: DevToolsSnapshot): Map<number, string> {
  const nodes = new Map<number, string>();
  for (let nth = 1; nth < snapshot.nodeCount; nth++) {
    const node = snapshot.createNode(nth * snapshot.nodeFieldCount);
    const distance = node.distance() === NO_DISTANCE ? undefined : node.distance();
    const sizes = `${node.selfSize()}, ${node.retainedSize()}`;
    // The analyzer names the parts of the root, which have no size and are in no class of DevTools.
    const isPart = node.type() === "synthetic" && node.selfSize() === 0 && node.name() !== "";
    const className = isPart ? node.name() : withoutScope(node.className());
    nodes.set(node.id(), `${className}: ${sizes}, ${distance}`);
  }
  return nodes;
}

export function analyzerNodes(heap: Heap): Map<number, string> {
  const { objects } = heap.find({ limit: 1e9 });
  return new Map(
    objects.map(({ address, className, shallowSize, retainedSize, distance }) => [
      address,
      `${className}: ${shallowSize}, ${retainedSize}, ${distance}`,
    ]),
  );
}

/** The filters of DevTools, by the category of the analyzer. */
const FILTERS = {
  "detached-nodes": "objectsRetainedByDetachedDomNodes",
  "event-handlers": "objectsRetainedByEventHandlers",
  contexts: "objectsRetainedByContexts",
  console: "objectsRetainedByConsole",
} as const;

/** The number of objects and the bytes of each category. */
export function devToolsCategories(snapshot: DevToolsSnapshot) {
  return Object.entries(FILTERS).map(([category, filterName]) => {
    const classes = Object.values(snapshot.aggregatesWithFilter({ filterName }));
    const sum = (part: "count" | "self") => classes.reduce((all, one) => all + one[part], 0);
    return { category, count: sum("count"), shallowSize: sum("self") };
  });
}
