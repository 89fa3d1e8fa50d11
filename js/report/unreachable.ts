/** What no root reaches: garbage by class, its cycles, raw blocks, and all of that as a graph. */
import type { CycleGroup, Unreachable } from "./data.ts";
import { element } from "./dom.ts";
import * as format from "./format.ts";
import { addressLabel, classLabel, type DumpContext, sectionTitle } from "./parts.ts";
import { bytesColumn, countColumn, table } from "./table.ts";
import { graphPart } from "./unreachable_graph.ts";
import { unreferencedPage } from "./unreferenced.ts";

export function unreachablePage(context: DumpContext, parameters: URLSearchParams): HTMLElement {
  const { unreachable, summary } = context.report;
  const { garbage, raw, unreferenced } = unreachable;
  if (unreferenced !== undefined) return unreferencedPage(unreferenced);
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
        countColumn("cycles", "Cycles", ({ cycles }) => cycles),
        countColumn("count", "Objects", ({ count }) => count),
        bytesColumn("size", "Size", ({ shallowSize }) => shallowSize),
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
  const listed = (number: (row: GarbageClass) => number) =>
    classes.reduce((sum, row) => sum + number(row), 0);
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
      countColumn("count", "Objects", ({ count }) => count),
      bytesColumn("size", "Size", ({ shallowSize }) => shallowSize),
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
          bytesColumn("size", "Size", ({ size }) => size),
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
