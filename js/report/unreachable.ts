/** What no root reaches: garbage by class, its cycles, raw blocks, and all of that as a graph. */
import type { CycleGroup, FieldValue, Unreachable } from "./data.ts";
import { element, fill } from "./dom.ts";
import * as format from "./format.ts";
import { Graph } from "./graph.ts";
import {
  addressLabel,
  classLabel,
  type DumpContext,
  linked,
  referenceLabel,
  sectionTitle,
} from "./parts.ts";
import { rememberRoute } from "./route.ts";
import { table } from "./table.ts";

type GraphNode = Unreachable["nodes"][number];

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

export function unreachablePage(context: DumpContext, parameters: URLSearchParams): HTMLElement {
  const { unreachable, summary } = context.report;
  const { garbage, raw } = unreachable;
  const part = graphPart(context, parameters);
  return element(
    "div",
    {},
    element(
      "p",
      { class: "lead" },
      `${format.counted(garbage.count, "object")} with ${format.bytes(garbage.shallowSize)} (${format.share(
        garbage.shallowSize,
        summary.totalHeapSize ?? 0,
      )} of the heap) are garbage: no root reaches them, and the collector has not freed them yet. They are no leak.`,
    ),
    sectionTitle("Graph", format.counted(unreachable.nodes.length, "node")),
    part.element,
    sectionTitle("Cycles", format.count(garbage.cycles.total)),
    cycles(garbage.cycles, part.showAddress),
    sectionTitle("Garbage by class", format.bytes(garbage.shallowSize)),
    garbageTable(garbage),
    sectionTitle("Raw blocks", format.bytes(raw.size)),
    rawBlocks(raw),
  );
}

/** The graph with its controls, and the card of the selected node. */
function graphPart(context: DumpContext, parameters: URLSearchParams) {
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
  const graph = new Graph(unreachable, { onSelect: select });
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

function cycles(
  { total, count, shallowSize, groups }: Unreachable["garbage"]["cycles"],
  show: ((address: number) => void) | undefined,
): HTMLElement {
  if (total === 0) {
    return element(
      "p",
      { class: "empty" },
      "No unreachable objects refer to each other in a circle.",
    );
  }
  const nodes = ({ addresses, addressTexts }: CycleGroup) =>
    element(
      "span",
      { class: "addresses" },
      ...addresses
        .slice(0, 5)
        .map((address, nth) =>
          element(
            "button",
            { type: "button", class: "link address", on: { click: () => show?.(address) } },
            addressTexts[nth] ?? "",
          ),
        ),
    );
  return element(
    "div",
    {},
    element(
      "p",
      { class: "lead" },
      `${format.counted(total, "cycle")} of ${format.counted(count, "object")} with ${format.bytes(shallowSize)}. The collector frees cycles like all other garbage. An address shows its cycle in the graph, if the graph has room for it.`,
    ),
    table<CycleGroup>({
      caption: "Cycles by the classes of their objects",
      columns: [
        {
          key: "classes",
          title: "Classes",
          kind: "text",
          cell: ({ classes }) =>
            element(
              "ul",
              { class: "plain" },
              ...classes.map(({ className, count }) =>
                element(
                  "li",
                  {},
                  classLabel(className),
                  element("span", { class: "muted" }, ` × ${format.count(count)}`),
                ),
              ),
            ),
        },
        {
          key: "cycles",
          title: "Cycles",
          kind: "number",
          cell: ({ cycles }) => format.count(cycles),
          order: ({ cycles }) => cycles,
        },
        {
          key: "count",
          title: "Objects",
          kind: "number",
          cell: ({ count }) => format.count(count),
          order: ({ count }) => count,
        },
        {
          key: "size",
          title: "Size",
          kind: "number",
          cell: ({ shallowSize }) => format.bytes(shallowSize),
          order: ({ shallowSize }) => shallowSize,
        },
        {
          key: "addresses",
          title: "The largest",
          kind: "text",
          cell: nodes,
        },
      ],
      rows: groups,
    }).element,
  );
}

type GarbageClass = Unreachable["garbage"]["classes"][number];

function garbageTable({ classes, count, shallowSize }: Unreachable["garbage"]): HTMLElement {
  if (count === 0) return element("p", { class: "empty" }, "There is no garbage.");
  const listed = (of: (row: GarbageClass) => number) =>
    classes.reduce((sum, row) => sum + of(row), 0);
  const rest = count - listed(({ count }) => count);
  return table<GarbageClass>({
    caption: "Garbage by class",
    columns: [
      {
        key: "class",
        title: "Class",
        kind: "text",
        cell: ({ className }) => classLabel(className),
        order: ({ className }) => format.className(className).toLowerCase(),
      },
      {
        key: "count",
        title: "Objects",
        kind: "number",
        cell: ({ count }) => format.count(count),
        order: ({ count }) => count,
      },
      {
        key: "size",
        title: "Size",
        kind: "number",
        cell: ({ shallowSize }) => format.bytes(shallowSize),
        order: ({ shallowSize }) => shallowSize,
      },
    ],
    rows: classes,
    footer: [
      ...(rest === 0
        ? []
        : [
            [
              "Other classes",
              format.count(rest),
              format.bytes(shallowSize - listed(({ shallowSize }) => shallowSize)),
            ],
          ]),
      ["All garbage", format.count(count), format.bytes(shallowSize)],
    ],
  }).element;
}

type RawBlock = NonNullable<Unreachable["raw"]["unreferenced"]>["blocks"][number];

function rawBlocks(raw: Unreachable["raw"]): HTMLElement {
  const { unreferenced } = raw;
  const all = `${format.counted(raw.count, "block")} of heap.alloc, ${format.bytes(raw.size)}.`;
  if (unreferenced === null) {
    const missing =
      "The dump has no global values, so this report cannot say which are unreferenced.";
    return element("p", { class: "lead" }, `${all} ${missing}`);
  }
  const lost = `Nothing seems to refer to ${format.counted(unreferenced.count, "block")} with ${format.bytes(unreferenced.size)}: an estimate, because a number can look like an address, and the host can hold one.`;
  const rest = unreferenced.count - unreferenced.blocks.length;
  const listed = unreferenced.blocks.reduce((sum, { size }) => sum + size, 0);
  return element(
    "div",
    {},
    element("p", { class: "lead" }, `${all} ${lost}`),
    unreferenced.count > 0 &&
      table<RawBlock>({
        caption: "Raw blocks to which nothing refers",
        columns: [
          {
            key: "address",
            title: "Block",
            kind: "text",
            cell: ({ addressText }) => addressLabel(addressText),
            order: ({ address }) => address,
          },
          {
            key: "size",
            title: "Size",
            kind: "number",
            cell: ({ size }) => format.bytes(size),
            order: ({ size }) => size,
          },
        ],
        rows: unreferenced.blocks,
        footer: [
          ...(rest === 0
            ? []
            : [[format.counted(rest, "smaller block"), format.bytes(unreferenced.size - listed)]]),
          ["Together", format.bytes(unreferenced.size)],
        ],
      }).element,
  );
}
