/** The search over everything: pages, addresses, classes, and the texts of strings. */
import { type Child, element, fill } from "./dom.ts";
import * as format from "./format.ts";
import { failure } from "./later.ts";
import { PAGES } from "./pages.ts";
import { classLabel, type PageContext, rootLabel } from "./parts.ts";
import { navigate, objectHash, routeHash, withObject } from "./route.ts";

/** Results of each kind. */
const MOST = 8;
/** Milliseconds of rest before a question is asked. */
const REST = 120;

interface Result {
  hash: string;
  children: Child[];
}

export class Search {
  readonly element: HTMLDialogElement;
  readonly #context: PageContext;
  readonly #pages: string[];
  readonly #input: HTMLInputElement;
  readonly #results: HTMLElement;
  #asked = 0;
  /** The question whose results are shown, and the one whose first result is wanted. */
  #shown = 0;
  #wanted = 0;
  #stop = new AbortController();

  constructor(context: PageContext, pages: string[]) {
    this.#context = context;
    this.#pages = pages;
    this.#input = element("input", {
      type: "search",
      id: "search",
      placeholder: context.questions.isComplete
        ? "A class, an address, a text"
        : "A class, an address",
      on: { input: () => this.#later(), keydown: (event) => this.#key(event as KeyboardEvent) },
    });
    this.#results = element("ul", { class: "found", aria: { label: "Found" } });
    this.element = element(
      "dialog",
      { class: "search-dialog", aria: { label: "Search" } },
      element("label", { for: "search" }, "Search"),
      this.#input,
      this.#results,
      element("p", { class: "hint" }, "Arrow keys move, Enter opens, Escape closes."),
    );
    this.#results.addEventListener("click", () => this.element.close());
    this.#results.addEventListener("keydown", (event) => this.#key(event));
    this.element.addEventListener("click", (event) => {
      if (event.target === this.element) this.element.close();
    });
    addEventListener("keydown", (event) => this.#shortcut(event));
  }

  button(): HTMLElement {
    const open = { click: () => this.#open() };
    return element(
      "button",
      { type: "button", class: "search-button", aria: { keyshortcuts: "Control+K /" }, on: open },
      "Search",
      element("kbd", { aria: { hidden: "true" } }, "/"),
    );
  }

  #open(): void {
    if (!this.element.open) this.element.showModal();
    this.#input.select();
    this.#later();
  }

  #shortcut(event: KeyboardEvent): void {
    const isControlled = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k";
    const target = event.target as Element;
    const isTyping = target.closest("input, textarea, select") !== null;
    if (!isControlled && (event.key !== "/" || isTyping)) return;
    event.preventDefault();
    this.#open();
  }

  #key(event: KeyboardEvent): void {
    const links = [...this.#results.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement as HTMLAnchorElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      const next = links[at + step];
      (next ?? this.#input).focus();
    } else if (event.key === "Escape") {
      // A browser would clear the text first.
      event.preventDefault();
      this.element.close();
    } else if (event.key === "Enter" && at < 0) {
      event.preventDefault();
      this.#wanted = this.#asked;
      this.#openWanted();
    }
  }

  /** Opens the first result, as soon as the results are those of the text. */
  #openWanted(): void {
    if (this.#wanted !== this.#asked || this.#shown !== this.#asked) return;
    const hash = this.#results.querySelector("a")?.getAttribute("href");
    if (hash === null || hash === undefined) return;
    this.element.close();
    const [, object] = /^#object=(.*)$/.exec(hash) ?? [];
    navigate(object === undefined ? hash : withObject(decodeURIComponent(object)));
  }

  #later(): void {
    const number = ++this.#asked;
    this.#stop.abort();
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    setTimeout(async () => {
      if (number !== this.#asked) return;
      const text = this.#input.value.trim();
      try {
        const found = await this.#find(text, signal);
        if (number !== this.#asked) return;
        this.#show(text, found);
        this.#shown = number;
        this.#openWanted();
      } catch (error) {
        if (number === this.#asked) fill(this.#results, element("li", {}, failure(error)));
      }
    }, REST);
  }

  #show(text: string, found: Result[]): void {
    const lines = found.map(({ hash, children }) =>
      element("li", {}, element("a", { href: hash }, ...children)),
    );
    const isNothing = text !== "" && found.length === 0;
    const nothing = element("li", { class: "muted" }, "Nothing was found.");
    fill(this.#results, ...lines, isNothing && nothing);
  }

  async #find(text: string, signal: AbortSignal): Promise<Result[]> {
    const wanted = text.toLowerCase();
    const pages = this.#pages
      .filter((name) => PAGES[name]?.title.toLowerCase().includes(wanted))
      .map((name) => result(routeHash(name), "Page", [PAGES[name]?.title ?? ""]));
    if (text === "") return pages;
    const addresses = /^(0x[0-9a-f]{1,8}|@\d{1,10})$/i.test(text)
      ? [result(objectHash(wanted), "Object", [element("span", { class: "address" }, wanted)])]
      : [];
    const [classes, strings] = await Promise.all([
      this.#classes(text),
      this.#strings(text, signal),
    ]);
    return [...addresses, ...pages, ...classes, ...this.#roots(wanted), ...strings];
  }

  /** Global variables as far as the pages know them. */
  #roots(wanted: string): Result[] {
    const { suspects, details } = this.#context.report;
    const paths = [...suspects.suspects, ...details].map(({ path }) => path);
    const found = new Map<string, Result>();
    for (const path of paths) {
      const [first] = path?.steps ?? [];
      if (path === null || first === undefined || path.root.name === null) continue;
      if (!path.root.name.toLowerCase().includes(wanted)) continue;
      const hash = objectHash(first.addressText);
      found.set(hash, result(hash, "Global", [rootLabel(path.root)]));
    }
    return [...found.values()].slice(0, MOST);
  }

  async #classes(text: string): Promise<Result[]> {
    const { questions, status, report } = this.#context;
    const request = { heap: status.heap ?? "", contains: text, limit: MOST };
    // Of two heaps that were joined, the sum would be the bytes of both.
    const isJoined = report.summary.joined !== undefined;
    const size = (bytes: number) => (isJoined ? "" : `, ${format.bytes(bytes)}`);
    const { rows } = await questions.ask("classes", request);
    return rows.map(({ className, count, retainedSize }) =>
      result(routeHash("class", { name: className }), "Class", [
        classLabel(className),
        element("span", { class: "size" }, `${format.count(count)}${size(retainedSize)}`),
      ]),
    );
  }

  async #strings(text: string, signal: AbortSignal): Promise<Result[]> {
    const { questions, status } = this.#context;
    if (!questions.isComplete) return [];
    const request = { heap: status.heap ?? "", contains: text, strings: true, limit: MOST };
    const { objects } = await questions.ask("find", request, signal);
    return objects.map(({ addressText, preview }) =>
      result(objectHash(addressText), "Text", [
        element("span", { class: "preview" }, format.printable(preview ?? "")),
        element("span", { class: "size" }, addressText),
      ]),
    );
  }
}

function result(hash: string, kind: string, children: Child[]): Result {
  return { hash, children: [element("span", { class: "kind" }, kind), ...children] };
}
