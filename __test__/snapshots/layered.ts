/** Random heaps whose objects have classes by their depth, so that no structure is recursive, and what is true of them. */
import { type Random, randomFrom } from "../random/stream.ts";

export interface LayeredObject {
  id: number;
  className: string;
  size: number;
}

/** A reference by property (`.p1`) or by index (`[3]`). */
export interface LayeredEdge {
  from: number;
  to: number;
  label: string;
}

const NODE_TYPES = ["synthetic", "object"];
const EDGE_TYPES = ["property", "element"];
const DEPTH = 4;

/** A heap. The object at 0 is the global one, from which all others are reached. */
export class LayeredHeap {
  readonly objects: LayeredObject[] = [{ id: 3, className: "global", size: 8 }];
  readonly edges: LayeredEdge[] = [];
  #layers: number[][] = [[0]];

  constructor(seed: number, isTree: boolean) {
    const below = randomFrom(seed);
    for (let depth = 1; depth <= DEPTH; depth++) {
      this.#layers.push([]);
      const count = depth === 1 ? 3 + below(3) : 4 + below(16);
      for (let nth = 0; nth < count; nth++) this.add(below, depth, isTree);
    }
  }

  /** Adds an object below a random one of the layer above it. */
  add(below: Random, depth: number, isTree: boolean, size = 16 + 8 * below(500)): void {
    const parents = this.#layers[depth - 1] as number[];
    const parent = parents[below(parents.length)] as number;
    const nth = this.objects.length;
    // Of each parent, all children have one class, and each class has one kind of reference.
    const kind = parent % 2;
    this.objects.push({ id: 5 + 2 * nth, className: `L${depth}${"ab"[kind]}`, size });
    this.#refer(parent, nth, depth > 1 && kind === 0);
    this.#layers[depth]?.push(nth);
    if (isTree || depth < 2 || below(5) > 0) return;
    const others = this.#layers[1 + below(depth - 1)] as number[];
    const other = others[below(others.length)] as number;
    if (other !== parent) this.#refer(other, nth, true);
  }

  #refer(from: number, to: number, isElement: boolean): void {
    const taken = this.edges.filter((edge) => edge.from === from).length;
    this.edges.push({ from, to, label: isElement ? `[${taken}]` : `.p${taken}` });
  }

  /** The text of the heap snapshot. */
  text(): string {
    const strings = [""];
    const string = (text: string) => {
      if (!strings.includes(text)) strings.push(text);
      return strings.indexOf(text);
    };
    const nodes = [0, 0, 1, 0, 1];
    const edges = [1, 1, 5];
    for (const [nth, { id, className, size }] of this.objects.entries()) {
      const own = this.edges.filter(({ from }) => from === nth);
      nodes.push(1, string(className), id, size, own.length);
      for (const { label, to } of own) {
        const isElement = label.startsWith("[");
        const name = isElement ? Number(label.slice(1, -1)) : string(label.slice(1));
        edges.push(isElement ? 1 : 0, name, 5 + 5 * to);
      }
    }
    const meta = {
      node_fields: ["type", "name", "id", "self_size", "edge_count"],
      node_types: [NODE_TYPES, "string", "number", "number", "number"],
      edge_fields: ["type", "name_or_index", "to_node"],
      edge_types: [EDGE_TYPES, "string_or_number", "node"],
    };
    const snapshot = { meta, node_count: nodes.length / 5, edge_count: edges.length / 3 };
    return JSON.stringify({ snapshot, nodes, edges, strings });
  }

  /** What is reached from the global object without some objects and a reference. */
  reached(without: ReadonlySet<number> = new Set(), cut?: LayeredEdge): Set<number> {
    const found = new Set<number>(without.has(0) ? [] : [0]);
    for (const from of found) {
      for (const edge of this.edges) {
        if (edge.from === from && edge !== cut && !without.has(edge.to)) found.add(edge.to);
      }
    }
    return found;
  }

  /** What goes with some objects, or with a reference. */
  gone(without: ReadonlySet<number>, cut?: LayeredEdge): number[] {
    const left = this.reached(without, cut);
    return this.objects.map((_, nth) => nth).filter((nth) => !left.has(nth));
  }

  /** The sum of their shallow sizes. */
  size(objects: Iterable<number>): number {
    return [...objects].reduce((sum, nth) => sum + (this.objects[nth]?.size ?? 0), 0);
  }

  retained(nth: number): number {
    return this.size(this.gone(new Set([nth])));
  }

  /** The object with an id. */
  at(id: number): number {
    return this.objects.findIndex((object) => object.id === id);
  }

  /** What an object dominates immediately. */
  children(nth: number): number[] {
    const dominated = this.gone(new Set([nth])).filter((one) => one !== nth);
    return dominated.filter((one) => {
      const others = dominated.filter((other) => other !== one);
      return !others.some((other) => this.gone(new Set([other])).includes(one));
    });
  }

  /** Of a tree: the objects by their path, as answers write it. */
  places(): Map<string, number[]> {
    const starts = ["global global"];
    const places = new Map<string, number[]>();
    for (const { from, to, label } of this.edges) {
      const step = `${this.objects[from]?.className}${withoutIndex(label)}`;
      starts[to] = `${starts[from]} > ${step}`;
      const place = `${starts[to]} > ${this.objects[to]?.className}`;
      places.set(place, [...(places.get(place) ?? []), to]);
    }
    return places;
  }
}

/** A label as paths have it. */
export function withoutIndex(label: string): string {
  return label.startsWith("[") ? "[*]" : label;
}
