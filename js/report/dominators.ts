/** The dominator tree: an icicle, and everything about the cell that is selected. */
import { CATEGORIES, type CellCategory, Cells } from "./cells.ts";
import type { Detail } from "./data.ts";
import { element, fill } from "./dom.ts";
import * as format from "./format.ts";
import { Icicle } from "./icicle.ts";
import {
  addressLabel,
  cellHref,
  classLabel,
  classLink,
  cutSentence,
  linked,
  type PageContext,
  pathView,
  referrerList,
  shareBar,
} from "./parts.ts";
import { objectHash, rememberRoute } from "./route.ts";
import { table } from "./table.ts";
import { Treemap } from "./treemap.ts";

export interface DominatorsPage {
  element: HTMLElement;
  /** Draws the canvas in the colours of another theme. */
  redraw: () => void;
}

/** Parts of an object that are asked for at a time. */
const MOST_PARTS = 200;

export function dominatorsPage(context: PageContext, parameters: URLSearchParams): DominatorsPage {
  const { report } = context;
  const cells = new Cells(structuredClone(report.cells));
  const details = new Map(report.details.map((detail) => [detail.cell, detail]));
  const found = start(context, cells, details, parameters);
  let { selected, zoom } = found;
  let view: ViewName = parameters.get("view") === "treemap" ? "treemap" : "icicle";
  const crumbs = element("nav", { class: "crumbs", aria: { label: "From the heap to the cell" } });
  const about = element("div", { class: "about" });
  const parts = element("div", { class: "parts" });
  const keys = element(
    "p",
    { class: "hint", id: "icicle-keys" },
    "Click a cell to zoom in, a cell above it to zoom out. Arrow keys move, Enter zooms in, Escape shows the whole heap.",
  );
  const divided = new Set<number>();

  const select = (cell: number, zooms: boolean) => {
    selected = cell;
    const zoomBefore = zoom;
    const isBelowZoom = cells.lineage(cell).includes(zoom);
    if (zooms || !isBelowZoom) zoom = zoomFor(cells, cell);
    // Cells that were asked for have no number that a link could name.
    const known = cells.lineage(cell).findLast((one) => one < report.cells.parent.length) ?? 0;
    const isKnownZoom = zoom < report.cells.parent.length && zoom !== zoomFor(cells, known);
    const shown: Record<string, string> = view === "icicle" ? {} : { view };
    rememberRoute(
      "dominators",
      { cell: String(known), ...(isKnownZoom ? { zoom: String(zoom) } : {}), ...shown },
      zoom !== zoomBefore,
    );
    show();
  };
  const treemap = new Treemap(cells, { onSelect: (cell) => select(cell, true) });
  const change = (next: ViewName) => {
    view = next;
    select(selected, false);
    icicle.redraw();
  };
  const icicle = new Icicle(cells, { onSelect: select });
  const show = () => {
    icicle.element.hidden = view !== "icicle";
    keys.hidden = view !== "icicle";
    treemap.element.hidden = view !== "treemap";
    icicle.show(selected, zoom);
    treemap.show(selected, zoom);
    fill(crumbs, ...crumbList(cells, selected, (cell) => select(cell, true)));
    fill(about, ...aboutCell(context, cells, selected, details.get(selected)));
    fill(parts, partsTable(cells, selected, select));
    void divide(selected);
  };
  /** Asks for the parts of an object that the data of the page does not divide. */
  const divide = async (cell: number) => {
    const address = cells.columns.addressText[cell];
    const isObject = cells.columns.kind[cell] === "object" && address !== null;
    const isWhole = (cells.parts[cell]?.length ?? 0) > 0 || divided.has(cell);
    if (!context.questions.isComplete || !isObject || isWhole || address === undefined) return;
    divided.add(cell);
    const request = { heap: context.status.heap ?? "", address, limit: MOST_PARTS };
    const answer = await context.questions.ask("dominators", request).catch(() => undefined);
    if (answer === undefined || answer.children.length === 0) return;
    cells.add(cell, answer.children, answer.page.total);
    if (selected === cell) show();
  };
  show();

  return {
    element: element(
      "div",
      {},
      found.missing !== undefined &&
        element("p", { class: "empty", role: "status" }, found.missing),
      element(
        "p",
        { class: "lead" },
        "Each cell is a part of the live heap, as large as what it retains. Below an object, or within it, lies what only it keeps alive.",
      ),
      viewChoice(view, change),
      legend(),
      icicle.element,
      treemap.element,
      keys,
      crumbs,
      element("div", { class: "columns" }, about, parts),
    ),
    redraw: () => icicle.redraw(),
  };
}

/** What the address of the page asks for: a cell, an object, or a path by its fingerprint; or that it is not there. */
function start(
  context: PageContext,
  cells: Cells,
  details: Map<number, Detail>,
  parameters: URLSearchParams,
): { selected: number; zoom: number; missing?: string } {
  const number = (name: string) => {
    const text = parameters.get(name);
    const value = text === null || text === "" ? Number.NaN : Number(text);
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
  const asked = ["cell", "address", "path"].find((name) => parameters.has(name));
  const selected = wanted.find(isCell);
  if (selected === undefined) {
    if (asked === undefined) return { selected: 0, zoom: 0 };
    const value = format.printable(parameters.get(asked) ?? "");
    const missing = `There is no ${asked} ${value} among these cells. This is the whole heap.`;
    return { selected: 0, zoom: 0, missing };
  }
  const zoom = number("zoom");
  const isAbove = zoom !== undefined && cells.lineage(selected).includes(zoom);
  return { selected, zoom: isAbove ? zoom : zoomFor(cells, selected) };
}

/** What to zoom in on to see a cell: itself, or what it is a part of if it has no parts. */
function zoomFor(cells: Cells, cell: number): number {
  return cells.parts[cell]?.length === 0 ? (cells.parent(cell) ?? 0) : cell;
}

/** The two pictures of the same data. */
const VIEWS = { icicle: "Icicle", treemap: "Treemap" };
type ViewName = keyof typeof VIEWS;

function viewChoice(chosen: ViewName, change: (view: ViewName) => void): HTMLElement {
  const choices = (Object.entries(VIEWS) as [ViewName, string][]).map(([view, title]) => {
    const input = element("input", { type: "radio", id: `view-${view}` });
    input.name = "view";
    input.checked = view === chosen;
    input.addEventListener("change", () => change(view));
    return element("span", { class: "choice" }, input, element("label", { for: input.id }, title));
  });
  const legend = element("legend", { class: "visually-hidden" }, "Picture");
  return element("div", { class: "controls" }, element("fieldset", {}, legend, ...choices));
}

function legend(): HTMLElement {
  const entries = Object.entries(CATEGORIES) as [CellCategory, string][];
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
  context: PageContext,
  cells: Cells,
  cell: number,
  detail: Detail | undefined,
): (HTMLElement | false | undefined)[] {
  const { columns } = cells;
  const kind = columns.kind[cell];
  const name = columns.className[cell];
  const whole = cells.size(0);
  const size = cells.size(cell);
  const exact = `${format.bytes(size)} (${format.count(size)} bytes)`;
  const facts: [string, string][] = [
    ["Retained", cells.columns.wasmSize === undefined ? exact : cells.sizeText(cell)],
    ["Share of live", format.share(size, whole)],
  ];
  if (kind !== "heap") facts.push(["Shallow", format.bytes(columns.shallowSize[cell] as number)]);
  if (kind !== "object") facts.push(["Objects", format.count(columns.count[cell] as number)]);
  return [
    element(
      "h2",
      {},
      name === null || name === undefined ? cells.title(cell) : classLink(name),
      name !== null && (columns.count[cell] as number) > 1
        ? ` × ${format.count(columns.count[cell] as number)}`
        : "",
    ),
    kindSentence(cells, cell),
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
      element("p", { class: "preview" }, element("bdi", {}, ...linked(detail.preview))),
    ...(detail === undefined ? [noDetail(context, cells, cell)] : detailView(detail)),
  ];
}

function kindSentence({ columns }: Cells, cell: number): HTMLElement | undefined {
  const address = columns.address[cell] ?? null;
  const at = address === null ? "" : addressLabel(columns.addressText[cell] ?? "");
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

function noDetail(context: PageContext, cells: Cells, cell: number): HTMLElement | undefined {
  const kind = cells.columns.kind[cell];
  const address = cells.columns.addressText[cell];
  if (kind === "heap" || kind === "rest") return undefined;
  if (context.questions.isComplete && kind === "object" && typeof address === "string") {
    const link = element("a", { href: objectHash(address) }, "Open the object");
    return element("p", {}, link, " for its path, its fields and what refers to it.");
  }
  return element(
    "p",
    { class: "muted" },
    "This page has the paths of the largest cells only. The address opens an object of the others.",
  );
}

function detailView(detail: Detail): HTMLElement[] {
  const { path, cut, referrers, referrerCount } = detail;
  const shown: HTMLElement[] = [];
  if (path !== null) {
    const fingerprint = `Fingerprint ${path.fingerprint}${path.stable ? "" : ", not stable: it contains names that a build chooses"}`;
    shown.push(
      element("h3", {}, "Why it is alive"),
      pathView(path, cut),
      element("p", { class: "muted" }, fingerprint),
    );
  }
  if (cut !== null) shown.push(element("div", { class: "cut" }, cutSentence(cut)));
  shown.push(
    element("h3", {}, `Referrers (${format.count(referrerCount)})`),
    referrerList(referrers, referrerCount),
  );
  return shown;
}

interface DominatorPart {
  cell: number;
}

function partsTable(
  cells: Cells,
  whole: number,
  select: (cell: number, zooms: boolean) => void,
): HTMLElement {
  const parts = cells.parts[whole] as number[];
  const own = cells.size(whole) - parts.reduce((sum, part) => sum + cells.size(part), 0);
  const heading = element("h2", {}, whole === 0 ? "Parts of the live heap" : "Parts");
  if (parts.length === 0) {
    return element(
      "section",
      {},
      heading,
      element("p", { class: "empty" }, "This cell is not divided any further."),
    );
  }
  const list = table<DominatorPart>({
    caption: `Parts of ${cells.title(whole)}`,
    columns: [
      {
        key: "part",
        title: "Part",
        kind: "text",
        cell: ({ cell }) => partLink(cells, cell, select),
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
        cell: ({ cell }) => cells.sizeText(cell),
        order: ({ cell }) => cells.size(cell),
      },
      {
        key: "share",
        title: "Of this",
        kind: "number",
        cell: ({ cell }) => format.share(cells.size(cell), cells.size(whole)),
      },
    ],
    rows: parts.map((cell) => ({ cell })),
    footer:
      own === 0
        ? []
        : [
            [
              (cells.columns.count[whole] as number) > 1
                ? "The objects themselves"
                : "The object itself",
              format.count(cells.columns.count[whole] as number),
              format.bytes(own),
              format.share(own, cells.size(whole)),
            ],
          ],
  });
  return element("section", {}, heading, list.element);
}

/** A cell of the page has an address; one that was asked for only has a button. */
function partLink(
  cells: Cells,
  cell: number,
  select: (cell: number, zooms: boolean) => void,
): HTMLElement {
  const click = (event: Event) => {
    event.preventDefault();
    select(cell, true);
  };
  return element("a", { href: cellHref(cell), on: { click } }, partTitle(cells, cell));
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
