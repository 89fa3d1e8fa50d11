/** The graph of what no root reaches, with its controls and the card of the selected node. */
import type { FieldValue, Unreachable } from "./data.ts";
import { element, fill } from "./dom.ts";
import * as format from "./format.ts";
import { Graph, type GraphNode } from "./graph.ts";
import { addressLabel, classLabel, type DumpContext, linked, referenceLabel } from "./parts.ts";
import { rememberRoute } from "./route.ts";
import { table } from "./table.ts";

interface Filter {
  title: string;
  /** Whether a node is shown; `isConnected` says whether a reference of the graph begins or ends at it. */
  isShown: (node: GraphNode, isConnected: boolean) => boolean;
}

const FILTERS: Record<string, Filter> = {
  connected: { title: "With references", isShown: (_, isConnected) => isConnected },
  all: { title: "All", isShown: () => true },
  unreachable: {
    title: "Unreachable",
    isShown: ({ state }) => state === "garbage" || state === "raw",
  },
  reachable: {
    title: "Reachable",
    isShown: ({ state }) => state === "live" || state === "static",
  },
  cycle: { title: "In a cycle", isShown: ({ cycle }) => cycle !== null },
};

/** Search results that are listed. */
const RESULTS = 12;

/** The graph with its controls, and the card of the selected node. */
export function graphPart(context: DumpContext, parameters: URLSearchParams) {
  const { unreachable } = context.report;
  const { nodes } = unreachable;
  if (nodes.length === 0) {
    const nothing = element("p", { class: "empty" }, "There is nothing to show.");
    return { element: nothing, showAddress: undefined };
  }
  const connected = new Set(unreachable.edges.flatMap(({ from, to }) => [from, to]));
  const isShown = (name: string, node: number) =>
    FILTERS[name]?.isShown(nodes[node] as GraphNode, connected.has(node)) ?? true;
  // Nodes without any reference would be most of the picture, and say nothing.
  const usual = connected.size > 0 ? "connected" : "all";
  const state = {
    filter: Object.hasOwn(FILTERS, parameters.get("show") ?? "")
      ? (parameters.get("show") as string)
      : usual,
    selected: nodes.findIndex(({ addressText }) => addressText === parameters.get("node")),
  };
  const card = element("div", { class: "card", aria: { live: "polite" } });
  const status = element("p", { class: "status", role: "status" });
  const radios = new Map<string, HTMLInputElement>();

  const remember = () => {
    const node = nodes[state.selected];
    rememberRoute("unreachable", {
      ...(state.filter === usual ? {} : { show: state.filter }),
      ...(node === undefined ? {} : { node: node.addressText }),
    });
  };
  const select = (node: number | undefined) => {
    state.selected = node ?? -1;
    graph.select(node);
    fill(card, node === undefined ? noNode() : nodeCard(context, node, selectAndShow));
    remember();
  };
  const selectAndShow = (node: number) => {
    if (!isShown(state.filter, node)) applyFilter("all");
    select(node);
    graph.show([node, ...neighbours(unreachable, node)]);
  };
  const graph = new Graph(unreachable, { onSelect: select }, "Graph of unreachable memory");
  const applyFilter = (name: string) => {
    state.filter = name;
    graph.filter((node) => isShown(name, node));
    const shown = [...nodes.keys()].filter((node) => isShown(name, node)).length;
    status.textContent = `${format.count(shown)} of ${format.counted(nodes.length, "node")}`;
    const radio = radios.get(name);
    if (radio !== undefined) radio.checked = true;
  };

  const choices = Object.entries(FILTERS).map(([name, { title }]) => {
    const input = element("input", { type: "radio", id: `show-${name}` });
    input.name = "show";
    radios.set(name, input);
    input.addEventListener("change", () => {
      applyFilter(name);
      graph.fit();
      remember();
    });
    return element("span", { class: "choice" }, input, element("label", { for: input.id }, title));
  });
  applyFilter(state.filter);
  const selected = state.selected >= 0 ? state.selected : undefined;
  graph.select(selected);
  fill(card, selected === undefined ? noNode() : nodeCard(context, selected, selectAndShow));
  if (selected !== undefined) {
    // The graph has no size before it is in the page.
    requestAnimationFrame(() => graph.show([selected, ...neighbours(unreachable, selected)]));
  }
  return {
    element: element(
      "div",
      {},
      element(
        "div",
        { class: "controls" },
        element(
          "fieldset",
          {},
          element("legend", { class: "visually-hidden" }, "Nodes to show"),
          ...choices,
        ),
        status,
      ),
      search(nodes, selectAndShow),
      legend(),
      element("div", { class: "columns graph-columns" }, graph.element, card),
      element(
        "p",
        { class: "hint" },
        "Drag to move the graph or a node; Ctrl or Shift with the wheel zooms. Keys: arrows move, + and − zoom, 0 shows everything, n and p select the next and the previous node.",
      ),
    ),
    showAddress: (address: number) => {
      const node = nodes.findIndex((node) => node.address === address);
      if (node < 0) return;
      const { cycle } = nodes[node] as GraphNode;
      const members = [...nodes.keys()].filter((nth) => nodes[nth]?.cycle === cycle);
      applyFilter("all");
      select(node);
      graph.element.scrollIntoView({ block: "center" });
      graph.show(members);
    },
  };
}

function neighbours({ edges }: Unreachable, node: number): number[] {
  const near = edges.flatMap(({ from, to }) => (from === node ? [to] : to === node ? [from] : []));
  return [...new Set(near)];
}

function noNode(): HTMLElement {
  return element("p", { class: "empty" }, "Select a node to see its fields and its neighbours.");
}

/** Finds nodes by class or address. */
function search(nodes: GraphNode[], select: (node: number) => void): HTMLElement {
  const results = element("ul", { class: "results" });
  const input = element("input", {
    id: "node-search",
    type: "search",
    placeholder: "Node, 0x9540",
  });
  const matches = () => {
    const wanted = input.value.trim().toLowerCase();
    if (wanted === "") return [];
    return [...nodes.keys()].filter((nth) => {
      const { address, addressText, className } = nodes[nth] as GraphNode;
      const name = className ?? "raw block";
      return (
        name.toLowerCase().includes(wanted) ||
        addressText.startsWith(wanted) ||
        String(address) === wanted
      );
    });
  };
  input.addEventListener("input", () => {
    const found = matches();
    const listed = found.slice(0, RESULTS).map((nth) => {
      const node = nodes[nth] as GraphNode;
      return element(
        "li",
        {},
        nodeButton(node, () => select(nth)),
      );
    });
    const more = found.length - listed.length;
    const isNothing = input.value.trim() !== "" && found.length === 0;
    fill(
      results,
      ...listed,
      more > 0 && element("li", { class: "muted" }, `${format.count(more)} more`),
      isNothing && element("li", { class: "muted" }, "No node of the graph matches."),
    );
  });
  input.addEventListener("keydown", (event) => {
    const [first] = matches();
    if (event.key === "Enter" && first !== undefined) select(first);
  });
  return element(
    "div",
    { class: "search" },
    element("label", { for: "node-search" }, "Find by class or address"),
    input,
    results,
  );
}

function nodeButton(node: GraphNode, click: () => void): HTMLElement {
  return element(
    "button",
    { type: "button", class: "link", on: { click } },
    node.className === null ? "raw block" : classLabel(node.className),
    element("span", { class: "muted" }, ` ${node.addressText}`),
  );
}

/** What the shapes mean. */
function legend(): HTMLElement {
  const entries: [string, string][] = [
    ["garbage", "Garbage: a circle"],
    ["live", "Reachable or static: a diamond"],
    ["raw", "Raw block: a square"],
    ["in-cycle", "In a cycle: a ring around it"],
  ];
  return element(
    "ul",
    { class: "legend", aria: { label: "Shapes" } },
    ...entries.map(([name, text]) =>
      element(
        "li",
        {},
        element("span", { class: `shape-swatch ${name}`, aria: { hidden: "true" } }),
        text,
      ),
    ),
  );
}

/** Everything about a node. */
function nodeCard(context: DumpContext, nth: number, select: (node: number) => void): HTMLElement {
  const { nodes, edges, fields } = context.report.unreachable;
  const node = nodes[nth] as GraphNode;
  const own = fields[nth] ?? { total: 0, fields: [] };
  const facts: [string, string | HTMLElement][] = [
    ["Address", addressLabel(node.addressText)],
    ["State", node.state],
    ["Size", format.bytes(node.shallowSize)],
  ];
  if (node.cycle !== null) facts.push(["Cycle", `number ${node.cycle + 1}`]);
  const outgoing = edges.filter(({ from }) => from === nth);
  const incoming = edges.filter(({ to }) => to === nth);
  const line = (other: number, label: string) =>
    element(
      "li",
      {},
      referenceLabel(label),
      " ",
      nodeButton(nodes[other] as GraphNode, () => select(other)),
    );
  return element(
    "div",
    {},
    element("h3", {}, node.className === null ? "Raw block" : classLabel(node.className)),
    element(
      "dl",
      { class: "facts" },
      ...facts.map(([term, value]) =>
        element("div", {}, element("dt", {}, term), element("dd", {}, value)),
      ),
    ),
    own.fields.length > 0 && fieldTable(own),
    outgoing.length > 0 && element("h4", {}, `Refers to (${format.count(outgoing.length)})`),
    outgoing.length > 0 &&
      element("ul", { class: "plain" }, ...outgoing.map(({ to, label }) => line(to, label))),
    incoming.length > 0 && element("h4", {}, `Referred to by (${format.count(incoming.length)})`),
    incoming.length > 0 &&
      element("ul", { class: "plain" }, ...incoming.map(({ from, label }) => line(from, label))),
  );
}

function fieldTable({ total, fields }: Unreachable["fields"][number]): HTMLElement {
  const more = total - fields.length;
  return table<FieldValue>({
    caption: "Fields",
    columns: [
      {
        key: "name",
        title: "Field",
        kind: "text",
        cell: ({ name, type }) =>
          element("span", { title: format.printable(type) }, referenceLabel(name)),
      },
      {
        key: "value",
        title: "Value",
        kind: "text",
        cell: ({ value }) => element("bdi", { class: "preview" }, ...linked(String(value))),
      },
    ],
    rows: fields,
    footer: more > 0 ? [[format.counted(more, "more field"), ""]] : [],
  }).element;
}
