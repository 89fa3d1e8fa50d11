/** The parts that every heap snapshot of V8 has, as Node 20 writes them. */

export const NODE_TYPES = [
  ...["hidden", "array", "string", "object", "code", "closure", "regexp", "number", "native"],
  ...["synthetic", "concatenated string", "sliced string", "symbol", "bigint", "object shape"],
];

export const EDGE_TYPES = [
  ...["context", "element", "property", "internal", "hidden", "shortcut", "weak"],
];

/** The numbers of a node. */
export const NODE_FIELDS = [
  ...["type", "name", "id", "self_size", "edge_count", "trace_node_id", "detachedness"],
];

/** The part `snapshot` of a file. */
export function snapshotPart(nodes: number, edges: number): object {
  const meta = {
    node_fields: NODE_FIELDS,
    node_types: [NODE_TYPES, "string", "number", "number", "number", "number", "number"],
    edge_fields: ["type", "name_or_index", "to_node"],
    edge_types: [EDGE_TYPES, "string_or_number", "node"],
    location_fields: ["object_index", "script_id", "line", "column"],
  };
  return { meta, node_count: nodes, edge_count: edges, trace_function_count: 0 };
}
