/** Pieces that several pages show: names, paths, references, bars. */
import type { Evidence } from "../../answers.js";
import type { AllocatingLine, Status } from "../explorer/methods.js";
import { copyButton } from "./copy.ts";
import type {
  Cut,
  Edge,
  ObjectName,
  Report,
  Root,
  ShortPath,
  Step,
  Summary,
  Unreachable,
  Waste,
} from "./data.ts";
import { type Child, element } from "./dom.ts";
import type { SourceWish } from "./editor.ts";
import * as format from "./format.ts";
import type { Questions } from "./questions.ts";
import { objectHash, routeHash } from "./route.ts";

/** What the pages share. */
export interface PageContext {
  report: Report;
  questions: Questions;
  status: Status;
  /** Object → the number of its cell. */
  cellOf: Map<number, number>;
}

/** The same for the report of a dump, which says what no root reaches. */
export interface DumpContext extends PageContext {
  report: Report & { unreachable: Unreachable };
}

/** The same for the report of a heap that says what objects contain. */
export interface WasteContext extends PageContext {
  report: Report & { waste: Waste };
}

/** The live bytes, of each heap if two were joined. */
export function liveSize({ totalLiveSize, joined }: Summary): string {
  const parts = joined && { javascript: joined.javascript.liveSize, wasm: joined.wasm.liveSize };
  return format.sizes(totalLiveSize, parts);
}

/** A class name, its module less visible than its name. */
export function classLabel(name: string): HTMLElement {
  const text = format.className(name);
  const generic = text.search(/[<(]/);
  const slash = text.lastIndexOf("/", generic < 0 ? undefined : generic);
  return element(
    "bdi",
    { class: "class-name", title: format.printable(name) },
    slash >= 0 && element("span", { class: "module" }, ...breakable(text.slice(0, slash + 1))),
    ...breakable(text.slice(slash + 1)),
  );
}

/** A class name that leads to the objects of the class. */
export function classLink(name: string, set: "live" | "new" | "deleted" = "live"): HTMLElement {
  const parameters: Record<string, string> = set === "live" ? { name } : { name, set };
  return element("a", { href: routeHash("class", parameters) }, classLabel(name));
}

/** A button that opens the source in the editor that shows the page; none without one. */
export function sourceButton(
  { questions }: PageContext,
  wish: SourceWish,
  label = "Source",
): Child {
  const { editor } = questions;
  if (editor === null) return null;
  const click = () => editor.openSource(wish);
  return element("button", { type: "button", class: "copy source", on: { click } }, label);
}

/** A line that allocates, with the buttons that copy and open it. */
export function linePlace(
  context: PageContext,
  { file, line, function: name }: AllocatingLine,
): HTMLElement {
  const at = file === "" ? name : `${file}:${line}`;
  return element(
    "span",
    {},
    element("bdi", { class: "class-name" }, ...breakable(format.printable(at))),
    file !== "" && element("span", { class: "muted" }, " ", ...breakable(format.printable(name))),
    " ",
    copyButton(at),
    file !== "" && line > 0 && sourceButton(context, { file, line }),
  );
}

/** A text that may be broken after separators rather than within names. */
export function breakable(text: string): Child[] {
  return text
    .split(/(?<=[/,<|])/)
    .flatMap((part, nth) => (nth === 0 ? [part] : [element("wbr"), part]));
}

/** An object that leads to its pane. */
export function objectLabel({ addressText, className }: ObjectName): HTMLElement {
  return element(
    "span",
    { class: "object" },
    classLabel(className),
    " ",
    addressLabel(addressText),
  );
}

/** An address that opens the pane of its object. */
export function addressLabel(text: string): HTMLElement {
  return element("a", { class: "address", href: objectHash(text) }, text);
}

/** Literals, in which nothing is an address, and addresses. */
const PARTS = /"(?:[^"\\]|\\.)*(?:"|$)|\b0x[0-9a-f]{2,8}\b|@\d{1,10}\b/gs;

/** A text in which addresses open their objects. */
export function linked(text: string): Child[] {
  const shown = format.className(text);
  const children: Child[] = [];
  let end = 0;
  for (const found of shown.matchAll(PARTS)) {
    const [part] = found;
    if (part.startsWith('"')) continue;
    children.push(...breakable(shown.slice(end, found.index)), addressLabel(part));
    end = found.index + part.length;
  }
  return [...children, ...breakable(shown.slice(end))];
}

export function cellHref(cell: number): string {
  return routeHash("dominators", { cell: String(cell) });
}

export function rootLabel(root: Root): HTMLElement {
  return element(
    "bdi",
    { class: "root" },
    element("span", { class: "muted" }, `${root.kind} `),
    ...(root.name === null ? [] : breakable(format.printable(root.name))),
  );
}

/** What a reference is called. */
export function referenceLabel(label: string): HTMLElement {
  return element("bdi", { class: "reference" }, format.printable(label));
}

/** What speaks for a reference between two heaps that were joined, after its label. */
function evidenceNote({ evidence }: { evidence?: Evidence }): Child {
  if (evidence === undefined) return null;
  return element(
    "span",
    { class: `evidence ${evidence.kind}` },
    ` (${format.evidenceText(evidence)})`,
  );
}

/** A path from its root on, a step a line, with the reference to cut. */
export function pathView(path: ShortPath, cut: Cut | null = null): HTMLElement {
  const place = cut === null ? -1 : placeOf(cut, path);
  const mark = (nth: number) => cut !== null && nth === place && cutMark(cut);
  const lines = path.steps.map((step, nth) => {
    const leftOut = nth === path.leftOutAfter && path.leftOut > 0;
    const line = stepLine(step, mark(nth));
    return leftOut ? [leftOutLine(path.leftOut), line] : [line];
  });
  return element("ol", { class: "path" }, element("li", {}, rootLabel(path.root)), ...lines.flat());
}

/** The step whose reference is cut: the first is that of the root. */
function placeOf(cut: Cut, { steps }: ShortPath): number {
  if (cut.root !== null) return 0;
  return steps.findIndex(
    (step, nth) =>
      nth > 0 && step.labelText === cut.labelText && steps[nth - 1]?.className === cut.className,
  );
}

function cutMark({ freed, freedParts }: Cut): HTMLElement {
  const size = format.sizes(freed, freedParts);
  return element("span", { class: "cut-mark" }, `cut here: frees ${size}`);
}

function leftOutLine(count: number): HTMLElement {
  return element("li", { class: "muted" }, `… ${format.counted(count, "step")} not listed`);
}

function stepLine(step: Step, mark: Child): HTMLElement {
  const repeated = step.repeat > 1 && ` × ${format.count(step.repeat)}`;
  return element(
    "li",
    {},
    step.label !== null && referenceLabel(step.label),
    evidenceNote(step),
    repeated && element("span", { class: "muted" }, repeated),
    step.label !== null && " ",
    objectLabel(step),
    element("span", { class: "size" }, format.sizes(step.retainedSize, step.retainedParts)),
    mark !== false && " ",
    mark,
  );
}

/** A sentence about what to cut. */
export function cutSentence(cut: Cut): HTMLElement {
  // A slot of the engine stays as long as its object, so that goes.
  const isEngineSlot = cut.labelText?.startsWith("[[") === true;
  const reference =
    cut.root !== null
      ? rootLabel(cut.root)
      : isEngineSlot
        ? element("span", {}, "what refers to the ", classLabel(cut.className ?? ""))
        : element(
            "span",
            {},
            classLabel(cut.className ?? ""),
            element("bdi", { class: "reference" }, format.printable(cut.labelText ?? "")),
          );
  return element(
    "p",
    {},
    "Cutting ",
    reference,
    ` frees ${format.sizes(cut.freed, cut.freedParts)}.`,
  );
}

function isFromObject(edge: Edge): edge is Edge & ObjectName {
  return edge.address !== null;
}

/** What refers to an object. */
export function referrerList(edges: Edge[], total: number): HTMLElement {
  const lines = edges.map((edge) =>
    element(
      "li",
      {},
      edge.root !== null && rootLabel(edge.root),
      isFromObject(edge) && objectLabel(edge),
      edge.label !== null && " ",
      edge.label !== null && referenceLabel(edge.label),
      evidenceNote(edge),
      !edge.independent && element("span", { class: "muted" }, " (through the object itself)"),
      edge.weak === true && element("span", { class: "muted" }, " (weak)"),
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
