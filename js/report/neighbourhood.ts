/** The neighbourhood of an object as a graph: what two steps of references in both directions reach. */
import type { ExplorerObject } from "../explorer/methods.js";
import { type Child, element, fill } from "./dom.ts";
import * as format from "./format.ts";
import { type DrawnGraph, Graph, type GraphNode } from "./graph.ts";
import { addressLabel, classLink, type PageContext } from "./parts.ts";

/** Neighbours in each direction, of the object and of its neighbours. */
const MOST_NEAR = [6, 2] as const;
/** Nodes of the graph. More would be hard to read. */
const MOST_NODES = 40;

interface Reference {
  from: number;
  to: number;
  label: string;
}

/** The graph, the object in its middle being selected. */
export async function neighbourhood(
  context: PageContext,
  middle: ExplorerObject,
): Promise<Child[]> {
  const { objects, references, leftOut } = await collect(context, middle);
  const places = new Map([...objects.keys()].map((address, nth) => [address, nth]));
  const edges = references.flatMap(({ from, to, label }) => {
    const ends = [places.get(from), places.get(to)] as const;
    return ends[0] === undefined || ends[1] === undefined
      ? []
      : [{ from: ends[0], to: ends[1], label }];
  });
  if (edges.length === 0) {
    return [element("p", { class: "muted" }, "No object refers to it, and it refers to none.")];
  }
  const nodes = [...objects.values()].map(nodeOf);
  const drawn: DrawnGraph = { nodes, edges };
  const about = element("p", { class: "neighbour", aria: { live: "polite" } });
  const select = (nth: number | undefined) => {
    graph.select(nth);
    const node = nth === undefined ? undefined : nodes[nth];
    if (node === undefined) return fill(about, "Select a node to open it.");
    fill(
      about,
      classLink(node.className ?? "raw block"),
      " ",
      addressLabel(node.addressText),
      `, ${format.bytes(node.shallowSize)}`,
    );
  };
  const graph = new Graph(drawn, { onSelect: select }, "Objects near this one", true);
  select(0);
  return [
    graph.element,
    about,
    leftOut > 0 &&
      element(
        "p",
        { class: "muted" },
        `${format.counted(leftOut, "more reference")}: the lists of the object have all.`,
      ),
  ];
}

function nodeOf(found: ExplorerObject): GraphNode {
  const { address, addressText, className, shallowSize } = found;
  const state = found.state === "free" ? "raw" : found.state;
  return { address, addressText, className, state, shallowSize, cycle: null };
}

/** Objects by address, the one in the middle first, and the references among them. */
async function collect({ questions, status }: PageContext, middle: ExplorerObject) {
  const objects = new Map([[middle.address, middle]]);
  const references = new Map<string, Reference>();
  let leftOut = 0;
  let last = [middle];
  for (const most of MOST_NEAR) {
    const wanted = new Set<number>();
    for (const one of last) {
      const { incoming, outgoing } = referencesOf(one);
      for (const [end, list] of [["from", incoming] as const, ["to", outgoing] as const]) {
        leftOut += Math.max(0, list.length - most);
        for (const reference of list.slice(0, most)) {
          references.set(JSON.stringify(reference), reference);
          if (!objects.has(reference[end])) wanted.add(reference[end]);
        }
      }
    }
    const near = [...wanted].slice(0, MOST_NODES - objects.size);
    last = await Promise.all(
      near.map((address) => {
        const request = { heap: status.heap ?? "", address, limit: 20, entries: 20 };
        return questions.ask("object", request);
      }),
    );
    for (const one of last) objects.set(one.address, one);
  }
  return { objects, references: [...references.values()], leftOut };
}

/** The references that an answer lists, each pair of objects once. */
function referencesOf(one: ExplorerObject): { incoming: Reference[]; outgoing: Reference[] } {
  const incoming = one.referrers.flatMap(({ address, labelText }) =>
    address === null ? [] : [{ from: address, to: one.address, label: labelText ?? "" }],
  );
  const held = (one.entries?.entries ?? []).flatMap(({ index, name, key, value }) => [
    { address: value.address, name: name ?? `[${index}]` },
    { address: key?.address ?? null, name: `[${index}] key` },
  ]);
  const outgoing = [...one.fields, ...held].flatMap(({ address, name }) =>
    address === null ? [] : [{ from: one.address, to: address, label: labelOf(name) }],
  );
  return { incoming: withoutDoubles(incoming), outgoing: withoutDoubles(outgoing) };
}

/** A field as it follows the name of a class. */
function labelOf(name: string): string {
  return /^[[{+.-]/.test(name) ? name : `.${name}`;
}

function withoutDoubles(references: Reference[]): Reference[] {
  const found = new Map(references.map((one) => [`${one.from} ${one.to}`, one]));
  return [...found.values()];
}
