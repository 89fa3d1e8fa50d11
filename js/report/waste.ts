/** What could be saved, by kind, with what holds it. */
import type { Waste } from "./data.ts";
import { element } from "./dom.ts";
import * as format from "./format.ts";
import {
  breakable,
  classLink,
  linked,
  sectionTitle,
  shareCell,
  type WasteContext,
} from "./parts.ts";
import { bytesColumn, countColumn, table } from "./table.ts";

type Kind = Waste["kinds"][number];
type Group = Kind["groups"][number];

const KINDS: Record<Kind["kind"], { title: string; meaning: string }> = {
  "duplicate-strings": {
    title: "Duplicate strings",
    meaning: "Strings with the contents of another one, which stays.",
  },
  "duplicate-buffers": {
    title: "Duplicate buffers",
    meaning: "Buffers and static arrays with the contents of another one, which stays.",
  },
  "empty-containers": {
    title: "Empty containers",
    meaning:
      "Arrays, views, maps and sets without elements, with the blocks that only they refer to.",
  },
  views: {
    title: "Views",
    meaning: "Buffers that only views refer to, which use less than an eighth of them.",
  },
  "array-capacity": {
    title: "Array capacity",
    meaning: "What the buffers of arrays have room for beyond the length.",
  },
  entries: { title: "Entries", meaning: "Unused and deleted entries of maps and sets." },
  padding: { title: "Padding", meaning: "Bytes of blocks after the contents." },
};

export function wastePage({ report: { waste } }: WasteContext): HTMLElement {
  const found = waste.kinds.filter(({ savings }) => savings > 0);
  return element(
    "div",
    {},
    element(
      "p",
      { class: "lead" },
      `${format.bytes(waste.totalSavings)} could be saved, ${format.share(waste.totalSavings, waste.totalLiveSize)} of the live bytes. Each byte counts once, for the first kind that it belongs to.`,
    ),
    kindTable(waste),
    ...found.flatMap((kind) => kindSection(kind)),
    ...(waste.headers === undefined ? [] : headersSection(waste.headers)),
  );
}

function kindTable(waste: Waste): HTMLElement {
  return table<Kind>({
    caption: "Waste by kind",
    columns: [
      {
        key: "kind",
        title: "Kind",
        kind: "text",
        cell: ({ kind, savings }) =>
          savings > 0
            ? element("a", { href: `#waste?kind=${kind}` }, KINDS[kind].title)
            : KINDS[kind].title,
      },
      countColumn("count", "Objects", ({ count }) => count),
      bytesColumn("savings", "Savings", ({ savings }) => savings),
      {
        key: "share",
        title: "Of live",
        kind: "number",
        cell: ({ savings }) => shareCell(savings, waste.totalLiveSize),
      },
      {
        key: "meaning",
        title: "What it is",
        kind: "text",
        cell: ({ kind }) => element("span", { class: "muted" }, KINDS[kind].meaning),
      },
    ],
    rows: waste.kinds,
    footer: [
      [
        "All kinds",
        "",
        format.bytes(waste.totalSavings),
        format.share(waste.totalSavings, waste.totalLiveSize),
        "",
      ],
    ],
  }).element;
}

function kindSection(kind: Kind): HTMLElement[] {
  const { title } = KINDS[kind.kind];
  const listed = kind.groups.reduce((sum, { savings }) => sum + savings, 0);
  const counted = kind.groups.reduce((sum, { count }) => sum + count, 0);
  const rest = kind.total - kind.groups.length;
  const heading = sectionTitle(title, format.bytes(kind.savings));
  heading.id = `waste-${kind.kind}`;
  heading.tabIndex = -1;
  const isCopies = kind.kind.startsWith("duplicate");
  return [
    heading,
    table<Group>({
      caption: title,
      columns: [
        {
          key: "what",
          title: isCopies ? "Contents" : "Class",
          kind: "text",
          cell: ({ what }) =>
            isCopies ? element("bdi", { class: "preview" }, ...linked(what)) : classLink(what),
          order: ({ what }) => what,
        },
        {
          key: "count",
          title: isCopies ? "Copies" : "Objects",
          kind: "number",
          cell: ({ count }) => format.count(count),
          order: ({ count }) => count,
        },
        bytesColumn("savings", "Savings", ({ savings }) => savings),
        { key: "holders", title: "Held by", kind: "text", cell: holders },
      ],
      rows: kind.groups,
      footer: [
        ...(rest === 0
          ? []
          : [
              [
                format.counted(rest, "more group"),
                format.count(kind.count - counted),
                format.bytes(kind.savings - listed),
                "",
              ],
            ]),
        ["Together", format.count(kind.count), format.bytes(kind.savings), ""],
      ],
    }).element,
  ];
}

/** What holds the objects of a group: the first holder, and the others when asked for. */
function holders({ holders }: Group): HTMLElement {
  const lines = holders.map(({ holder, count, savings }) =>
    element(
      "span",
      { class: "holder" },
      element("bdi", { class: "class-name" }, ...breakable(format.className(holder))),
      element("span", { class: "size" }, `${format.count(count)}, ${format.bytes(savings)}`),
    ),
  );
  const [first, ...others] = lines;
  if (others.length === 0) return first ?? element("span");
  return element(
    "details",
    {},
    element(
      "summary",
      {},
      first,
      element("span", { class: "muted" }, ` and ${others.length} more`),
    ),
    ...others,
  );
}

type HeaderWaste = NonNullable<Waste["headers"]>;
type HeaderClass = HeaderWaste["classes"][number];

function headersSection(headers: HeaderWaste): HTMLElement[] {
  return [
    sectionTitle("Headers", format.bytes(headers.size)),
    element(
      "p",
      { class: "lead" },
      "What the headers of live objects take. An object needs its header: fewer, larger objects would need fewer headers.",
    ),
    headerTable(headers),
  ];
}

function headerTable({ classes }: HeaderWaste): HTMLElement {
  return table<HeaderClass>({
    caption: "Headers by class",
    columns: [
      {
        key: "class",
        title: "Class",
        kind: "text",
        cell: ({ className }) => classLink(className),
      },
      countColumn("count", "Objects", ({ count }) => count),
      bytesColumn("size", "Headers", ({ size }) => size),
    ],
    rows: classes,
  }).element;
}

/** Scrolls to a kind of waste that the address of the page names. */
export function showKind(parameters: URLSearchParams): void {
  const kind = parameters.get("kind");
  const heading = kind === null ? null : document.getElementById(`waste-${kind}`);
  heading?.scrollIntoView({ block: "start" });
  heading?.focus({ preventScroll: true });
}
