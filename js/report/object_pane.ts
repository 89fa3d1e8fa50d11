/** The pane of an object: what it is, why it is alive, its fields, what refers to it and what it keeps alive. */
import type { ExplorerObject } from "../explorer/methods.js";
import { copyButton } from "./copy.ts";
import type { ShortPath } from "./data.ts";
import { type Child, element, fill } from "./dom.ts";
import { ENTRIES, entriesTitle, entryList } from "./entry_list.ts";
import { fieldTree } from "./field_tree.ts";
import * as format from "./format.ts";
import { joinedParts } from "./joined.ts";
import { failure, later, openable } from "./later.ts";
import { neighbourhood } from "./neighbourhood.ts";
import {
  addressLabel,
  cellHref,
  classLink,
  cutSentence,
  linePlace,
  linked,
  type PageContext,
  pathView,
  referrerList,
  shareBar,
  sourceButton,
} from "./parts.ts";
import { navigate, withObject } from "./route.ts";

/** Referrers, and dominated objects, of a page. */
const PAGE = 20;

export class ObjectPane {
  readonly element: HTMLElement;
  readonly #context: PageContext;
  #shown: string | undefined;
  /** Stops the question about an object that is not wanted any more. */
  #stop = new AbortController();

  constructor(context: PageContext) {
    this.#context = context;
    this.element = element("aside", {
      class: "pane",
      id: "object",
      tabindex: "-1",
      hidden: true,
      aria: { label: "Object" },
    });
    this.element.addEventListener("keydown", (event) => {
      if (event.key === "Escape") navigate(withObject(undefined));
    });
  }

  /** Shows the object at an address, or nothing. */
  show(address: string | undefined): void {
    if (address === this.#shown) return;
    this.#shown = address;
    this.#stop.abort();
    this.#stop = new AbortController();
    this.element.hidden = address === undefined;
    document.documentElement.classList.toggle("has-pane", address !== undefined);
    if (address === undefined) return;
    const body = element("div", { class: "pane-body" });
    fill(
      this.element,
      element(
        "div",
        { class: "pane-top" },
        element("span", { class: "address" }, format.printable(address)),
        copyButton(address, "Copy address"),
        element(
          "button",
          {
            type: "button",
            class: "close",
            on: { click: () => navigate(withObject(undefined)) },
          },
          "Close",
        ),
      ),
      body,
    );
    this.element.scrollTop = 0;
    fill(
      body,
      later(() => this.#load(address)),
    );
  }

  focus(): void {
    this.element.focus({ preventScroll: true });
  }

  async #load(address: string): Promise<Child[]> {
    const { questions, status } = this.#context;
    const heap = status.heap ?? "";
    const request = { heap, address, limit: PAGE, entries: ENTRIES };
    const found = await questions.ask("object", request, this.#stop.signal);
    return objectView(this.#context, found);
  }
}

function objectView(context: PageContext, found: ExplorerObject): Child[] {
  const { report, cellOf } = context;
  const { addressText, className, state, preview, fields, entries, page } = found;
  const live = report.summary.totalLiveSize;
  const cell = cellOf.get(found.address);
  const isLive = state === "live";
  return [
    element(
      "h2",
      {},
      className === null ? `A ${state} block` : classLink(className),
      className !== null && " ",
      className !== null && sourceButton(context, { className }),
    ),
    facts(found, live),
    isLive && shareBar(found.retainedSize, live),
    preview !== null && element("p", { class: "preview" }, ...linked(preview)),
    sameObject(context, found),
    allocated(context, found),
    isLive && openable(["Why it is alive"], () => pathPart(context, addressText), true),
    entries !== null &&
      openable(
        [entriesTitle(entries)],
        async () => [entryList(context, addressText, entries)],
        true,
      ),
    fields.length > 0 &&
      openable(
        [`Fields (${format.count(fields.length)})`],
        async () => [fieldTree(context, fields, className)],
        entries === null,
      ),
    page.total + found.roots.length > 0 &&
      openable(
        [`Referred to by (${format.count(page.total)})`],
        async () => referrerPart(context, found),
        true,
      ),
    ...joinedParts(found),
    isLive && openable(["What only it keeps alive"], () => dominatedPart(context, addressText)),
    context.questions.isComplete &&
      openable(["Neighbourhood"], () => neighbourhood(context, found)),
    cell !== undefined &&
      element("p", {}, element("a", { href: cellHref(cell) }, "Show in the dominator tree")),
  ];
}

function facts(found: ExplorerObject, live: number): HTMLElement {
  const { state, shallowSize, retainedSize, dominator, roots, distance } = found;
  const list: [string, Child][] = [["State", state]];
  if (shallowSize > 0) list.push(["Shallow", format.bytes(shallowSize)]);
  if (state === "live") {
    const part = format.share(retainedSize, live);
    list.unshift(...retainedFacts(found, part));
  }
  if (distance !== undefined) list.push(["Distance", format.count(distance)]);
  if (roots.length > 0) list.push(["Roots", roots.map(format.rootName).join(", ")]);
  if (dominator !== null) list.push(["Kept alive by", addressLabel(dominator.addressText)]);
  return element(
    "dl",
    { class: "facts" },
    ...list.map(([term, value]) =>
      element("div", {}, element("dt", {}, term), element("dd", {}, value)),
    ),
  );
}

/** What the object keeps alive: of two heaps that were joined, a line for each. */
function retainedFacts(
  { retainedSize, retainedParts }: ExplorerObject,
  part: string,
): [string, Child][] {
  if (retainedParts === undefined) {
    return [["Retained", `${format.bytes(retainedSize)} (${part})`]];
  }
  return [
    ["Retained of JavaScript", format.bytes(retainedParts.javascript)],
    ["Retained of wasm", format.bytes(retainedParts.wasm)],
  ];
}

/** The line that allocated it, if there is a profile of the dump's moment. */
function allocated(context: PageContext, { address }: ExplorerObject): Child {
  const { questions, status } = context;
  const { heap, profiled } = status;
  if (heap === null || heap !== profiled) return null;
  return later(async () => {
    const { line } = await questions.ask("line", { heap, address });
    if (line === null)
      return [element("p", { class: "muted" }, "No sample of the profile is of it.")];
    return [element("p", { class: "allocated" }, "Allocated in ", linePlace(context, line))];
  }, "Looking for the line that allocated it…");
}

async function pathPart({ questions, status }: PageContext, address: string): Promise<Child[]> {
  const { object } = await questions.ask("paths", { heap: status.heap ?? "", address });
  const { path, cut } = object;
  if (path === null) return [element("p", { class: "muted" }, "No root reaches it.")];
  const short: ShortPath = { leftOutAfter: -1, leftOut: 0, ...path };
  const lasting = path.stable ? "" : ", not stable: it contains names that a build chooses";
  return [
    pathView(short, cut),
    cut !== null && element("div", { class: "cut" }, cutSentence(cut)),
    element("p", { class: "muted" }, `Fingerprint ${path.fingerprint}${lasting}`),
  ];
}

/** References to the object, a page after the other. */
function referrerPart(context: PageContext, found: ExplorerObject): Child[] {
  const list = element("div", {}, referrerList(found.referrers, found.page.listed));
  const more = moreButton(found.page.next, async (offset) => {
    const { questions, status } = context;
    const request = { heap: status.heap ?? "", address: found.addressText, limit: PAGE, offset };
    const { referrers, page } = await questions.ask("object", request);
    list.append(referrerList(referrers, page.listed));
    return page.next;
  });
  const isBounded = !context.questions.isComplete && found.page.next !== null;
  return [
    list,
    isBounded
      ? element(
          "p",
          { class: "muted" },
          `${format.count(found.page.total - found.page.listed)} more`,
        )
      : more,
  ];
}

async function dominatedPart(context: PageContext, address: string): Promise<Child[]> {
  const { questions, status } = context;
  const heap = status.heap ?? "";
  const groups = await questions.ask("dominators", { heap, address, by: "class", limit: PAGE });
  if (groups.page.total === 0) return [element("p", { class: "muted" }, "Nothing else.")];
  const lines = groups.children.map(({ className, count, retainedSize, retainedParts }) =>
    element(
      "li",
      {},
      classLink(className),
      element("span", { class: "muted" }, ` × ${format.count(count)}`),
      element("span", { class: "size" }, format.sizes(retainedSize, retainedParts)),
    ),
  );
  const rest = groups.page.total - groups.page.listed;
  return [
    element(
      "ul",
      { class: "plain" },
      ...lines,
      rest > 0 &&
        element("li", { class: "muted" }, format.counted(rest, "more class", "more classes")),
    ),
    openable(["The largest objects"], () => dominatedObjects(context, address)),
  ];
}

async function dominatedObjects(context: PageContext, address: string): Promise<Child[]> {
  const { questions, status } = context;
  const list = element("ul", { class: "plain" });
  const add = async (offset: number) => {
    const request = { heap: status.heap ?? "", address, limit: PAGE, offset };
    const { children, page } = await questions.ask("dominators", request);
    list.append(
      ...children.map(({ className, addressText, count, retainedSize, retainedParts }) =>
        element(
          "li",
          {},
          classLink(className),
          " ",
          addressText === null
            ? element("span", { class: "muted" }, `× ${format.count(count)}`)
            : addressLabel(addressText),
          element("span", { class: "size" }, format.sizes(retainedSize, retainedParts)),
        ),
      ),
    );
    return page.next;
  };
  const next = await add(0);
  return [list, moreButton(next, add)];
}

/** A button that adds pages until there are no more. */
function moreButton(
  next: number | null,
  add: (offset: number) => Promise<number | null>,
): HTMLElement | false {
  if (next === null) return false;
  let offset = next;
  const button = element("button", { type: "button" }, `${format.count(PAGE)} more`);
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      const following = await add(offset);
      if (following === null) button.remove();
      else offset = following;
    } catch (error) {
      button.replaceWith(failure(error));
    }
    button.disabled = false;
  });
  return button;
}

/** Whether the earlier dump has the same object. */
function sameObject(context: PageContext, found: ExplorerObject): HTMLElement | false {
  const { questions, status } = context;
  if (!questions.isComplete || status.before === null) return false;
  const before = status.before;
  const name = status.dumps.find(({ heap }) => heap === before)?.name ?? "the earlier dump";
  const shown = format.printable(name);
  return later(async () => {
    const request = { heap: before, address: found.addressText, limit: 1 };
    const earlier = await questions.ask("object", request).catch(() => undefined);
    const isSame =
      earlier?.addressText === found.addressText && earlier.className === found.className;
    if (!isSame) return [element("p", { class: "more" }, `New since ${shown}.`)];
    const delta = found.retainedSize - earlier.retainedSize;
    const change =
      delta === 0 ? "retained as much" : `retained ${format.bytes(earlier.retainedSize)}`;
    const sum = delta === 0 ? "" : ` (now ${format.signedBytes(delta)})`;
    return [element("p", { class: "muted" }, `Already in ${shown}, where it ${change}${sum}.`)];
  }, "");
}
