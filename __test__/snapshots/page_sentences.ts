/** Checks what the page shows with a number and an address against a naive definition: it is built without a browser. */
import { expect } from "vitest";
import type { Suspect } from "../../index.js";
import { cutSentence, type PageContext, pathView } from "../../js/report/parts.ts";
import { suspectList } from "../../js/report/suspects.ts";
import { LayeredHeap } from "./layered.ts";
import {
  falseSentences,
  grown,
  hasMore,
  isShare,
  isSize,
  ofClass,
  opened,
  RULES,
  type Rule,
  sum,
  type Told,
} from "./sentences.ts";

/** As much of an element as the page needs to be built. */
class PlainElement {
  readonly #children: (PlainElement | string)[] = [];
  readonly attributes = new Map<string, string>();
  readonly dataset = {};
  readonly style = { setProperty() {} };
  setAttribute(name: string, value: string): void {
    this.attributes.set(name, value);
  }
  addEventListener(): void {}
  append(...children: (PlainElement | string)[]): void {
    this.#children.push(...children);
  }
  get textContent(): string {
    return this.#children
      .map((child) => (typeof child === "string" ? child : child.textContent))
      .join("");
  }
  /** All elements in it, also itself. */
  *all(): Iterable<PlainElement> {
    yield this;
    for (const child of this.#children) if (typeof child !== "string") yield* child.all();
  }
  /** The texts of the elements of a class. */
  texts(name: string | undefined): string[] {
    const found = [...this.all()].filter(({ attributes }) => attributes.get("class") === name);
    return found.map(({ textContent }) => textContent);
  }
}

/** Builds a part of the page. */
function built(build: () => unknown): PlainElement {
  const before = Object.getOwnPropertyDescriptor(globalThis, "document");
  Object.defineProperty(globalThis, "document", {
    value: { createElement: () => new PlainElement() },
    configurable: true,
  });
  try {
    return build() as PlainElement;
  } finally {
    if (before === undefined) Reflect.deleteProperty(globalThis, "document");
    else Object.defineProperty(globalThis, "document", before);
  }
}

/** The forms of sentences that only the page has. */
const PAGE_RULES: Rule[] = [
  [
    /^It accumulates at @(\d+): ([1-9]\d*) more (\S+) with (\S+ \S+?)(?:, and (\d+) other class(?:es)?)?$/,
    (told, id = "", count, className = "", size = "", others = "0") =>
      hasMore(told, id, Number(count), className, size) && isNumberOfOthers(told, others),
  ],
  [
    /^It accumulates at @(\d+): (\S+ \S+) more in (\S+?)(?:, and (\d+) other class(?:es)?)?$/,
    (told, id = "", size = "", className = "", others = "0") =>
      hasMore(told, id, 0, className, size) && isNumberOfOthers(told, others),
  ],
  [
    /^It accumulates at @(\d+): ([1-9]\d*) (\S+) with (\S+ \S+?)(?:, and (\d+) other class(?:es)?)?$/,
    (told, id, count, className = "", size = "", others = "0") => {
      const { heap, threshold } = told;
      const own = ofClass(heap, heap.children(heap.at(Number(id))), className);
      const small = own.filter((one) => heap.retained(one) < threshold);
      const isTrue = small.length === Number(count) && isSize(size, sum(heap, small));
      return isTrue && isNumberOfOthers(told, others);
    },
  ],
  [
    /^It accumulates in (\d+) (\S+) such as the one at @(\d+): (.*)$/,
    (told, count, className = "", id, what) => {
      // The command line says the same with the name of the field.
      const sentence = `It accumulates in ${count} ${className} such as ${className} at @${id}: ${what}`;
      return (
        falseSentences(told, `${sentence.replace(/, and \d+ other class(es)?$/, "")}.`).length === 0
      );
    },
  ],
  ...RULES,
];

function isNumberOfOthers({ suspect }: Told, others: string): boolean {
  return (suspect.accumulation?.children.length ?? 0) - 1 === Number(others);
}

function contextOf(summary: object): PageContext {
  return {
    report: { summary },
    questions: { editor: null },
    status: {},
    cellOf: new Map(),
  } as unknown as PageContext;
}

/** The sizes in a path, and at its cut. Returns how many there are. */
function checkPath(heap: LayeredHeap, view: PlainElement, path: Suspect["path"]): number {
  const sizes = view.texts("size");
  const addresses = view.texts("address");
  expect(sizes).toHaveLength(path?.steps.length ?? 0);
  for (const [nth, size] of sizes.entries()) {
    const retained = heap.retained(heap.at(Number(addresses[nth]?.slice(1))));
    expect(isSize(size, retained), `${addresses[nth]} ${size}`).toBe(true);
  }
  return sizes.length;
}

/** What cutting a reference from this class frees, of each that there is. */
function isFreed(heap: LayeredHeap, reference: string, size: string): boolean {
  const edges = heap.edges.filter(
    ({ from, label }) => `${heap.objects[from]?.className}${label}` === reference,
  );
  return edges.some((edge) => isSize(size, heap.size(heap.gone(new Set(), edge))));
}

/** The suspects of the page, of one heap or of two. Returns how many sentences and sizes there are. */
export function checkPageSuspects(seed: number, isGrown: boolean): number {
  const [before, heap] = isGrown ? grown(seed, 2) : [undefined, new LayeredHeap(seed, false)];
  const now = opened(heap as LayeredHeap);
  const asked = before === undefined ? undefined : { before: opened(before) };
  const { suspects, threshold } = now.suspects(asked);
  let count = 0;
  for (const suspect of suspects) {
    const told: Told = { heap: heap as LayeredHeap, before, threshold, suspect };
    const view = built(() => suspectList(contextOf(now.summary()), [suspect]));
    count += checkSuspect(told, view);
  }
  return count;
}

function checkSuspect(told: Told, view: PlainElement): number {
  const { heap, before, suspect } = told;
  expect(view.texts("prose")).toEqual([suspect.text]);
  const sentences = view.texts(undefined).filter((text) => text.startsWith("It accumulates"));
  const isSaid = (suspect.accumulation?.children.length ?? 0) > 0;
  // Each element around it has the same text, and more.
  expect(sentences).toHaveLength(isSaid ? 1 : 0);
  for (const sentence of sentences) {
    expect(falseSentences(told, sentence, PAGE_RULES), sentence).toEqual([]);
    // Another size would be noticed.
    const wrong = sentence.replace(/(with|:) \d[\d.,]* [KM]?i?B/, "$1 7.7 MiB");
    expect(falseSentences(told, wrong, PAGE_RULES), wrong).not.toEqual([]);
  }
  const cut = view.texts("cut-mark");
  for (const mark of cut) {
    const [, size = ""] = /^cut here: frees (.*)$/.exec(mark) ?? [];
    const { className, labelText } = suspect.cut ?? {};
    expect(isFreed(heap, `${className}${labelText}`, size), mark).toBe(true);
  }
  const [figure = ""] = [...view.texts("figure"), ...view.texts("figure more")];
  if (before === undefined) {
    const [share = ""] = view.texts("muted").filter((text) => text.endsWith("of live"));
    const [number = ""] = share.split(" ");
    expect(isShare(heap, number, sizeOfFigure(figure)), `${figure} ${share}`).toBe(true);
  }
  return sentences.length + cut.length + checkPath(heap, view, suspect.path);
}

function sizeOfFigure(text: string): number {
  const [number = "", unit = ""] = text.replaceAll(",", "").split(" ");
  return Number(number) * 1024 ** ["B", "KiB", "MiB"].indexOf(unit);
}

/** The path and the cut in the pane of every object. Returns how many sizes there are. */
export function checkPane(seed: number): number {
  const heap = new LayeredHeap(seed, false);
  const asked = opened(heap);
  let count = 0;
  for (const { id } of heap.objects.slice(1)) {
    const { path, cut } = asked.paths(id);
    if (path !== null)
      count += checkPath(
        heap,
        built(() => pathView({ leftOutAfter: -1, leftOut: 0, ...path }, cut)),
        path,
      );
    if (cut === null || cut.className === null) continue;
    const text = built(() => cutSentence(cut)).textContent;
    const [, reference = "", size = ""] = /^Cutting (\S+) frees (\S+ \S+)\.$/.exec(text) ?? [];
    expect(isFreed(heap, reference, size), text).toBe(true);
    count++;
  }
  return count;
}
