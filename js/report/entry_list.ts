/** What a container holds: a page of entries after the other, or from a number on. */
import type { ContainerEntry, ContainerPage } from "../../answers.js";
import { type Child, element, fill } from "./dom.ts";
import * as format from "./format.ts";
import { failure } from "./later.ts";
import { addressLabel, linked, type PageContext, referenceLabel } from "./parts.ts";

/** Entries of a page. */
export const ENTRIES = 50;

const KINDS: Record<ContainerPage["kind"], string> = {
  elements: "Elements",
  map: "Entries",
  set: "Values",
  properties: "Elements and properties",
};

export function entriesTitle({ kind, total }: ContainerPage): string {
  return `${KINDS[kind]} (${format.count(total)})`;
}

export function entryList(
  context: PageContext,
  address: string,
  first: ContainerPage,
): HTMLElement {
  const { total } = first;
  const list = element("ol", { class: "tree entries", tabindex: "0" });
  const status = element("p", { class: "status", role: "status" });
  let from = first.offset;
  const show = (page: ContainerPage) => {
    from = page.offset;
    fill(list, ...page.entries.map(entryLine));
    const end = from + page.entries.length;
    status.textContent =
      total === 0
        ? "It is empty."
        : `${format.count(from)} to ${format.count(Math.max(from, end - 1))} of ${format.count(total)}`;
    earlier.disabled = from === 0;
    later.disabled = end >= total;
  };
  const ask = async (offset: number) => {
    const at = Math.max(0, Math.min(offset, total - 1));
    const request = {
      heap: context.status.heap ?? "",
      address,
      limit: 1,
      entries: ENTRIES,
      entriesOffset: at,
    };
    try {
      const { entries } = await context.questions.ask("object", request);
      if (entries !== null) show(entries);
    } catch (error) {
      fill(list, element("li", {}, failure(error)));
    }
  };
  const button = (text: string, step: number) =>
    element("button", { type: "button", on: { click: () => void ask(from + step) } }, text);
  const earlier = button("Earlier", -ENTRIES);
  const later = button("Later", ENTRIES);
  const number = element("input", { type: "number", id: "entry-from", value: "0" });
  number.min = "0";
  number.max = String(Math.max(0, total - 1));
  number.addEventListener("change", () => void ask(Number(number.value) || 0));
  show(first);
  return element(
    "div",
    {},
    list,
    total > ENTRIES &&
      element(
        "div",
        { class: "controls" },
        earlier,
        later,
        element("label", { for: "entry-from" }, "From"),
        number,
        status,
      ),
  );
}

function entryLine({ index, name, key, value }: ContainerEntry): HTMLElement {
  return element(
    "li",
    {},
    name === null
      ? element("span", { class: "muted" }, `${format.count(index)} `)
      : referenceLabel(name),
    " ",
    key !== null && element("span", { class: "preview" }, ...held(key), " → "),
    element("span", { class: "preview" }, ...held(value)),
  );
}

type Held = ContainerEntry["value"];

/** A value. The text of a string does not have its address. */
function held({ value, addressText }: Held): Child[] {
  const text = String(value);
  if (addressText === null || text.includes(addressText)) return linked(text);
  return [...linked(text), " ", addressLabel(addressText)];
}
