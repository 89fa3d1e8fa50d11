/** A small reader of heap snapshots, for tests that must not depend on the analyzer. */
import { readFileSync } from "node:fs";

export interface GraphEdge {
  type: string;
  name: string;
  to: GraphNode;
}

export class GraphNode {
  readonly id: number;
  readonly type: string;
  readonly name: string;
  readonly edges: GraphEdge[] = [];

  constructor(id: number, type: string, name: string) {
    this.id = id;
    this.type = type;
    this.name = name;
  }

  /** Where a property or a variable leads. */
  property(name: string): GraphNode | undefined {
    const isNamed = (edge: GraphEdge) => ["property", "context"].includes(edge.type);
    return this.edges.find((edge) => edge.name === name && isNamed(edge))?.to;
  }

  /** The value of a number, which is the name of a node of its own. */
  get number(): number | undefined {
    if (this.type !== "number") return undefined;
    const value = this.edges.find(({ name }) => name === "value")?.to.name;
    return value === undefined ? undefined : Number(value);
  }
}

/** All nodes of a snapshot. */
export function readGraph(path: string): GraphNode[] {
  const { snapshot, nodes, edges, strings } = JSON.parse(readFileSync(path, "utf8"));
  const { node_fields, node_types, edge_fields, edge_types } = snapshot.meta;
  const [nodeSize, edgeSize] = [node_fields.length, edge_fields.length];
  const field = (name: string) => node_fields.indexOf(name);
  const graph: GraphNode[] = [];
  for (let at = 0; at < nodes.length; at += nodeSize) {
    const type = node_types[0][nodes[at + field("type")]];
    graph.push(new GraphNode(nodes[at + field("id")], type, strings[nodes[at + field("name")]]));
  }
  let edge = 0;
  for (const [nth, node] of graph.entries()) {
    for (let left = nodes[nth * nodeSize + field("edge_count")]; left > 0; left--) {
      const type = edge_types[0][edges[edge]];
      const name = edges[edge + 1];
      const isIndex = type === "element" || type === "hidden";
      const to = graph[edges[edge + 2] / nodeSize] as GraphNode;
      node.edges.push({ type, name: isIndex ? `${name}` : strings[name], to });
      edge += edgeSize;
    }
  }
  return graph;
}

/** The node at a path such as `app.byUser`, whose first name is a property of the global object. */
export function nodeAt(graph: GraphNode[], path: string): GraphNode | undefined {
  const [first, ...rest] = path.split(".") as [string, ...string[]];
  const starts = graph
    .filter(({ name }) => /^(global|Window)/.test(name))
    .map((node) => node.property(first))
    .filter((node) => node !== undefined);
  return rest.reduce((node: GraphNode | undefined, name) => node?.property(name), starts[0]);
}
