/** Pieces that several pages show: names, paths, references, bars. */
import type { Cut, Edge, ObjectName, Report, Root, ShortPath, Step, Unreachable } from "./data.ts";
import { element } from "./dom.ts";
import * as format from "./format.ts";
import { routeHash } from "./route.ts";

/** What the pages share. */
export interface Context {
  report: Report;
  /** Object → the number of its cell. */
  cellOf: Map<number, number>;
}

/** The same for the report of a dump, which says what no root reaches. */
export interface DumpContext extends Context {
  report: Report & { unreachable: Unreachable };
}

/** A class name, its module less visible than its name. */
export function classLabel(name: string): HTMLElement {
  const text = format.className(name);
  const generic = text.search(/[<(]/);
  const slash = text.lastIndexOf("/", generic < 0 ? undefined : generic);
  return element(
    "bdi",
    { class: "class-name", title: format.printable(name) },
    slash >= 0 && element("span", { class: "module" }, text.slice(0, slash + 1)),
    text.slice(slash + 1),
  );
}

/** An object that leads to its cell, if it has one. */
export function objectLabel(
  context: Context,
  { address, addressText, className }: ObjectName,
): HTMLElement {
  return element(
    "span",
    { class: "object" },
    classLabel(className),
    " ",
    addressLabel(context, address, addressText),
  );
}

/** An address that leads to the cell of its object, if there is one. */
export function addressLabel({ cellOf }: Context, address: number, text: string): HTMLElement {
  const cell = cellOf.get(address);
  if (cell === undefined) return element("span", { class: "address" }, text);
  const href = cellHref(cell);
  return element("a", { class: "address", href, title: "Show in the dominator tree" }, text);
}

export function cellHref(cell: number): string {
  return routeHash("dominators", { cell: String(cell) });
}

export function rootLabel(root: Root): HTMLElement {
  return element(
    "bdi",
    { class: "root" },
    element("span", { class: "muted" }, `${root.kind} `),
    root.name === null ? "" : format.printable(root.name),
  );
}

/** What a reference is called. */
export function referenceLabel(label: string): HTMLElement {
  return element("bdi", { class: "reference" }, format.printable(label));
}

/** A path from its root on, a step a line. */
export function pathView(context: Context, path: ShortPath): HTMLElement {
  const lines = path.steps.map((step, nth) => {
    const leftOut = nth === path.leftOutAfter && path.leftOut > 0;
    const line = stepLine(context, step);
    return leftOut ? [leftOutLine(path.leftOut), line] : [line];
  });
  return element("ol", { class: "path" }, element("li", {}, rootLabel(path.root)), ...lines.flat());
}

function leftOutLine(count: number): HTMLElement {
  return element("li", { class: "muted" }, `… ${format.counted(count, "step")} not listed`);
}

function stepLine(context: Context, step: Step): HTMLElement {
  const repeated = step.repeat > 1 && ` × ${format.count(step.repeat)}`;
  return element(
    "li",
    {},
    step.label !== null && referenceLabel(step.label),
    repeated && element("span", { class: "muted" }, repeated),
    step.label !== null && " ",
    objectLabel(context, step),
    element("span", { class: "size" }, format.bytes(step.retainedSize)),
  );
}

/** A sentence about what to cut. */
export function cutSentence(cut: Cut): HTMLElement {
  const reference =
    cut.root !== null
      ? rootLabel(cut.root)
      : element(
          "span",
          {},
          classLabel(cut.className ?? ""),
          element("bdi", { class: "reference" }, format.printable(cut.labelText ?? "")),
        );
  return element("p", {}, "Cutting ", reference, ` frees ${format.bytes(cut.freed)}.`);
}

function isFromObject(edge: Edge): edge is Edge & ObjectName {
  return edge.address !== null;
}

/** What refers to an object. */
export function referrerList(context: Context, edges: Edge[], total: number): HTMLElement {
  const lines = edges.map((edge) =>
    element(
      "li",
      {},
      edge.root !== null && rootLabel(edge.root),
      isFromObject(edge) && objectLabel(context, edge),
      edge.label !== null && " ",
      edge.label !== null && referenceLabel(edge.label),
      !edge.independent && element("span", { class: "muted" }, " (through the object itself)"),
    ),
  );
  const more = total - edges.length;
  return element(
    "ul",
    { class: "plain" },
    ...lines,
    more > 0 && element("li", { class: "muted" }, `${format.count(more)} more`),
  );
}

/** A part of a whole as a thin bar. */
export function shareBar(part: number, whole: number): HTMLElement {
  const percent = whole === 0 ? 0 : Math.min(100, (part / whole) * 100);
  return element(
    "span",
    { class: "share-bar", aria: { hidden: "true" } },
    element("span", { variables: { width: `${percent}%` } }),
  );
}

/** A part of a whole as a bar and in percent. */
export function shareCell(part: number, whole: number): HTMLElement {
  const percent = element("span", { class: "percent" }, format.share(part, whole));
  return element("span", { class: "with-bar" }, shareBar(part, whole), percent);
}

/** A heading with a number beside it. */
export function sectionTitle(title: string, number = ""): HTMLElement {
  return element(
    "h2",
    {},
    title,
    number !== "" && element("span", { class: "heading-number" }, number),
  );
}
