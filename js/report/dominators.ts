/** The dominator tree: an icicle, and everything about the cell that is selected. */
import { CATEGORIES, type Category, Cells } from "./cells.ts";
import type { Detail } from "./data.ts";
import { element, fill } from "./dom.ts";
import * as format from "./format.ts";
import { Icicle } from "./icicle.ts";
import {
  addressLabel,
  type Context,
  cellHref,
  classLabel,
  cutSentence,
  pathView,
  referrerList,
  shareBar,
} from "./parts.ts";
import { replaceRoute } from "./route.ts";
import { table } from "./table.ts";

export interface DominatorsPage {
  element: HTMLElement;
  /** Draws the canvas in the colours of another theme. */
  redraw: () => void;
}

export function dominatorsPage(context: Context, parameters: URLSearchParams): DominatorsPage {
  const { report } = context;
  const cells = new Cells(report.cells);
  const details = new Map(report.details.map((detail) => [detail.cell, detail]));
  let { selected, zoom } = start(context, cells, details, parameters);
  const crumbs = element("nav", { class: "crumbs", aria: { label: "From the heap to the cell" } });
  const about = element("div", { class: "about" });
  const parts = element("div", { class: "parts" });

  const select = (cell: number, zooms: boolean) => {
    selected = cell;
    const isBelowZoom = cells.lineage(cell).includes(zoom);
    if (zooms || !isBelowZoom) zoom = zoomFor(cells, cell);
    replaceRoute("dominators", {
      cell: String(cell),
      ...(zoom === zoomFor(cells, cell) ? {} : { zoom: String(zoom) }),
    });
    show();
  };
  const icicle = new Icicle(cells, { onSelect: select });
  const show = () => {
    icicle.show(selected, zoom);
    fill(crumbs, ...crumbList(cells, selected, (cell) => select(cell, true)));
    fill(about, ...aboutCell(context, cells, selected, details.get(selected)));
    fill(parts, partsTable(cells, selected));
  };
  show();

  return {
    element: element(
      "div",
      {},
      element(
        "p",
        { class: "lead" },
        "Each cell is a part of the live heap, as wide as what it retains. Below an object lies what only it keeps alive.",
      ),
      legend(),
      icicle.element,
      element(
        "p",
        { class: "hint", id: "icicle-keys" },
        "Click a cell to zoom in, a cell above it to zoom out. Arrow keys move, Enter zooms in, Escape shows the whole heap.",
      ),
      crumbs,
      element("div", { class: "columns" }, about, parts),
    ),
    redraw: () => icicle.redraw(),
  };
}

/** What the address of the page asks for: a cell, an object, or a path by its fingerprint. */
function start(
  context: Context,
  cells: Cells,
  details: Map<number, Detail>,
  parameters: URLSearchParams,
): { selected: number; zoom: number } {
  const number = (name: string) => {
    const text = parameters.get(name);
    const value = text === null ? Number.NaN : Number(text);
    return Number.isInteger(value) ? value : undefined;
  };
  const isCell = (cell: number | undefined) =>
    cell !== undefined && cell >= 0 && cell < cells.length;
  const address = number("address");
  const fingerprint = parameters.get("path");
  const withPath = [...details.values()].find(({ path }) => path?.fingerprint === fingerprint);
  const wanted = [
    number("cell"),
    address === undefined ? undefined : context.cellOf.get(address),
    fingerprint === null ? undefined : withPath?.cell,
  ];
  const selected = wanted.find(isCell) ?? 0;
  const zoom = number("zoom");
  const isAbove = zoom !== undefined && cells.lineage(selected).includes(zoom);
  return { selected, zoom: isAbove ? zoom : zoomFor(cells, selected) };
}

/** What to zoom in on to see a cell: itself, or what it is a part of if it has no parts. */
function zoomFor(cells: Cells, cell: number): number {
  return cells.parts[cell]?.length === 0 ? (cells.parent(cell) ?? 0) : cell;
}

function legend(): HTMLElement {
  const entries = Object.entries(CATEGORIES) as [Category, string][];
  return element(
    "ul",
    { class: "legend", aria: { label: "Colours" } },
    ...entries.map(([category, text]) =>
      element(
        "li",
        {},
        element("span", { class: `swatch cell-${category}`, aria: { hidden: "true" } }),
        text,
      ),
    ),
  );
}

function crumbList(cells: Cells, selected: number, select: (cell: number) => void): HTMLElement[] {
  const lineage = cells.lineage(selected);
  const list = lineage.map((cell) => {
    const isLast = cell === selected;
    const click = { click: () => select(cell) };
    const properties = { type: "button", class: "crumb", on: click };
    const current = isLast ? { aria: { current: "true" } } : {};
    return element("li", {}, element("button", { ...properties, ...current }, cells.title(cell)));
  });
  return [element("ol", {}, ...list)];
}

/** Everything about a cell. */
function aboutCell(
  context: Context,
  cells: Cells,
  cell: number,
  detail: Detail | undefined,
): (HTMLElement | false | undefined)[] {
  const { columns } = cells;
  const kind = columns.kind[cell];
  const name = columns.className[cell];
  const whole = cells.size(0);
  const size = cells.size(cell);
  const facts: [string, string][] = [
    ["Retained", `${format.bytes(size)} (${format.count(size)} bytes)`],
    ["Share of live", format.share(size, whole)],
  ];
  if (kind !== "heap") facts.push(["Shallow", format.bytes(columns.shallowSize[cell] as number)]);
  if (kind !== "object") facts.push(["Objects", format.count(columns.count[cell] as number)]);
  return [
    element(
      "h2",
      {},
      name === null || name === undefined ? cells.title(cell) : classLabel(name),
      name !== null && (columns.count[cell] as number) > 1
        ? ` × ${format.count(columns.count[cell] as number)}`
        : "",
    ),
    kindSentence(context, cells, cell),
    element(
      "dl",
      { class: "facts" },
      ...facts.map(([term, value]) =>
        element("div", {}, element("dt", {}, term), element("dd", {}, value)),
      ),
    ),
    shareBar(size, whole),
    detail !== undefined &&
      detail.preview !== null &&
      element("p", { class: "preview" }, element("bdi", {}, format.printable(detail.preview))),
    ...(detail === undefined ? [noDetail(kind)] : detailView(context, detail)),
  ];
}

function kindSentence(context: Context, { columns }: Cells, cell: number): HTMLElement | undefined {
  const address = columns.address[cell] ?? null;
  const at =
    address === null ? "" : addressLabel(context, address, columns.addressText[cell] ?? "");
  switch (columns.kind[cell]) {
    case "heap":
      return element("p", {}, "All objects that a root reaches.");
    case "object":
      return element("p", {}, "One object, at ", at, ".");
    case "chain":
      return element(
        "p",
        {},
        "A chain of objects of one class, each the largest part of the one before it. It begins at ",
        at,
        ".",
      );
    case "class":
      return element("p", {}, "Objects of one class, summed up. One of them is at ", at, ".");
    default:
      return element("p", {}, "Objects of several classes, each too small for a cell of its own.");
  }
}

function noDetail(kind: string | undefined): HTMLElement | undefined {
  if (kind === "heap" || kind === "rest") return undefined;
  return element(
    "p",
    { class: "muted" },
    "This report has the paths of the largest cells only. The command paths shows that of any object.",
  );
}

function detailView(context: Context, detail: Detail): HTMLElement[] {
  const { path, cut, referrers, referrerCount } = detail;
  const shown: HTMLElement[] = [];
  if (path !== null) {
    const fingerprint = `Fingerprint ${path.fingerprint}${path.stable ? "" : ", not stable: it contains names that a build chooses"}`;
    shown.push(
      element("h3", {}, "Why it is alive"),
      pathView(context, path),
      element("p", { class: "muted" }, fingerprint),
    );
  }
  if (cut !== null) shown.push(element("div", { class: "cut" }, cutSentence(cut)));
  shown.push(
    element("h3", {}, `Referrers (${format.count(referrerCount)})`),
    referrerList(context, referrers, referrerCount),
  );
  return shown;
}

interface Part {
  cell: number;
}

function partsTable(cells: Cells, of: number): HTMLElement {
  const parts = cells.parts[of] as number[];
  const own = cells.size(of) - parts.reduce((sum, part) => sum + cells.size(part), 0);
  const heading = element("h2", {}, of === 0 ? "Parts of the live heap" : "Parts");
  if (parts.length === 0) {
    return element(
      "section",
      {},
      heading,
      element("p", { class: "empty" }, "This cell is not divided any further."),
    );
  }
  const list = table<Part>({
    caption: `Parts of ${cells.title(of)}`,
    columns: [
      {
        key: "part",
        title: "Part",
        kind: "text",
        cell: ({ cell }) => element("a", { href: cellHref(cell) }, partTitle(cells, cell)),
      },
      {
        key: "count",
        title: "Objects",
        kind: "number",
        cell: ({ cell }) => format.count(cells.columns.count[cell] as number),
        order: ({ cell }) => cells.columns.count[cell] as number,
      },
      {
        key: "retained",
        title: "Retained",
        kind: "number",
        cell: ({ cell }) => format.bytes(cells.size(cell)),
        order: ({ cell }) => cells.size(cell),
      },
      {
        key: "share",
        title: "Of this",
        kind: "number",
        cell: ({ cell }) => format.share(cells.size(cell), cells.size(of)),
      },
    ],
    rows: parts.map((cell) => ({ cell })),
    footer:
      own === 0
        ? []
        : [
            [
              (cells.columns.count[of] as number) > 1
                ? "The objects themselves"
                : "The object itself",
              format.count(cells.columns.count[of] as number),
              format.bytes(own),
              format.share(own, cells.size(of)),
            ],
          ],
  });
  return element("section", {}, heading, list.element);
}

function partTitle(cells: Cells, cell: number): HTMLElement {
  const name = cells.columns.className[cell];
  if (name === null || name === undefined) return element("span", {}, cells.title(cell));
  const address = cells.columns.addressText[cell];
  const isOne = cells.columns.kind[cell] === "object";
  return element(
    "span",
    {},
    classLabel(name),
    isOne && address !== null && address !== undefined
      ? element("span", { class: "muted" }, ` ${address}`)
      : element(
          "span",
          { class: "muted" },
          ` × ${format.count(cells.columns.count[cell] as number)}`,
        ),
  );
}
