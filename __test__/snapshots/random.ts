/** Random snapshots with everything that DevTools treats in a way of its own. */
import {
  EDGE_TYPES,
  NODE_FIELDS,
  NODE_TYPES,
  snapshotPart,
} from "../../benches/driver/snapshot_format.ts";
import { randomFrom } from "../random/stream.ts";

const OBJECT_NAMES = ["Object", "Object", "Object", "Node", "Session", "system / Context"];
const NATIVE_NAMES = ["<div>", '<div id="a">', "<p class>", "Text", "system / ExternalStringData"];
const PROPERTIES = ["a", "b", "next", "with, comma", '"quoted"', "{brace}", "__proto__", "é"];
const INTERNALS = ["map", "elements", "first", "second", "sloppy_function_map", "3 / list"];

/** The text of a snapshot. */
export function randomSnapshot(seed: number): string {
  const below = randomFrom(seed);
  const one = <T>(values: readonly T[]): T => values[below(values.length)] as T;
  const strings: string[] = ["<dummy>"];
  const numbers = new Map<string, number>();
  const string = (text: string): number => {
    const known = numbers.get(text);
    if (known !== undefined) return known;
    numbers.set(text, strings.length);
    return strings.push(text) - 1;
  };
  const count = 8 + below(80);
  const types = Array.from({ length: count }, () => one(NODE_TYPES));
  types[0] = "synthetic";
  // A snapshot of V8's internals has no roots of the page.
  const hasUserRoots = below(8) > 0;
  if (hasUserRoots) types[1] = "object";
  const name = (nth: number): string => {
    switch (types[nth]) {
      case "object":
        return one(OBJECT_NAMES);
      case "native":
        return one(NATIVE_NAMES);
      case "synthetic":
        return nth === 0 ? "" : one(["(GC roots)", "(Document DOM trees)", "(Strong roots)"]);
      case "array":
        return one(["", "(map descriptors)", "(object elements)"]);
      case "hidden":
        return one(["system / Map", "system / NativeContext"]);
      default:
        return one(["x", "text", "", "a longer text"]);
    }
  };
  const ids = Array.from({ length: count }, (_, nth) => (nth === 0 ? 1 : 3 + 2 * nth));
  // Nodes are not in the order of their ids.
  for (let nth = count - 1; nth > 1; nth--) {
    const other = 1 + below(nth);
    [ids[nth], ids[other]] = [ids[other] as number, ids[nth] as number];
  }
  const edges: number[][][] = Array.from({ length: count }, () => []);
  const add = (from: number, type: string, label: string | number, to: number) =>
    edges[from]?.push([
      EDGE_TYPES.indexOf(type),
      typeof label === "string" ? string(label) : label,
      to * NODE_FIELDS.length,
    ]);
  if (hasUserRoots) add(0, "shortcut", "1", 1);
  for (let nth = below(4); nth >= 0; nth--) {
    const to = below(count);
    if (hasUserRoots || types[to] === "synthetic")
      add(0, one(["element", "element", "weak"]), nth, to);
  }
  const density = 1 + below(3);
  for (let from = 1; from < count; from++) {
    for (let nth = below(2 * density + 1); nth > 0; nth--) {
      const type = one(EDGE_TYPES);
      const isIndex = type === "element" || type === "hidden";
      const label = isIndex ? below(9) : type === "internal" ? one(INTERNALS) : one(PROPERTIES);
      // The root is never a target of V8.
      add(from, type, label, 1 + below(count - 1));
    }
  }
  for (let nth = below(4); nth > 0; nth--) {
    const [key, table, value] = [1, 1, 1].map((first) => first + below(count - 1)) as [
      number,
      number,
      number,
    ];
    const pair = `part of key (K @${ids[key]}) -> value (V @${ids[value]}) pair in WeakMap (table @${ids[table]})`;
    add(key, "internal", `${nth} / ${pair}`, value);
    if (key !== table) add(table, "internal", `${nth + 3} / ${pair}`, value);
  }
  const nodes = types.flatMap((type, nth) => [
    NODE_TYPES.indexOf(type),
    string(name(nth)),
    ids[nth] as number,
    nth === 0 || type === "synthetic" || below(5) === 0 ? 0 : 8 + 8 * below(50),
    (edges[nth] as number[][]).length,
    0,
    type === "native" ? below(3) : 0,
  ]);
  const locations = types.flatMap((type, nth) =>
    type === "object" && below(3) === 0 ? [nth * NODE_FIELDS.length, 5, below(2), 3] : [],
  );
  const list = edges.flat();
  const snapshot = snapshotPart(count, list.length);
  const empty = { trace_function_infos: [], trace_tree: [], samples: [] };
  return JSON.stringify({ snapshot, nodes, edges: list.flat(), ...empty, locations, strings });
}
