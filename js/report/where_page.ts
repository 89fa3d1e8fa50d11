/** Objects that meet a condition over their fields, with their number, sum and groups. */
import type { FoundGroup } from "../../answers.js";
import type { FoundRow } from "../explorer/methods.js";
import { FIND_FIELDS, type FindField } from "../generated/find_fields.ts";
import { type Child, element, fill } from "./dom.ts";
import * as format from "./format.ts";
import { later } from "./later.ts";
import { addressLabel, breakable, classLink, linked, type PageContext } from "./parts.ts";
import { rememberRoute } from "./route.ts";
import { countColumn, table } from "./table.ts";
import { VirtualList } from "./virtual_list.ts";

/** Groups that are listed. */
const MOST_GROUPS = 200;
const COLUMNS = [
  ["Object", "text"],
  ["Class", "text"],
  ["Retained", "number"],
  ["Contents", "text"],
] as const;

export function wherePage(context: PageContext, parameters: URLSearchParams): HTMLElement {
  const inputs = FIND_FIELDS.map((field) => {
    const input = inputOf(field);
    input.value = parameters.get(field.name) ?? "";
    const label = element("label", { for: input.id }, field.title);
    return { name: field.name, input, element: element("span", { class: "field" }, label, input) };
  });
  const answer = element("div");
  const show = () => {
    const entries = inputs.map(({ name, input }) => [name, input.value.trim()] as const);
    const asked = Object.fromEntries(entries.filter(([, text]) => text !== ""));
    rememberRoute("where", asked, true);
    const hasQuestion = ["place", "where", "groupBy"].some((name) => asked[name] !== undefined);
    fill(answer, hasQuestion && later(() => load(context, asked)));
  };
  const form = element(
    "form",
    { class: "controls" },
    ...inputs.map(({ element }) => element),
    element("button", { type: "submit" }, "Find"),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    show();
  });
  if (inputs.some(({ input }) => input.value !== "")) show();
  return element(
    "div",
    {},
    element(
      "p",
      { class: "lead" },
      "Which objects meet a condition over their fields, in CEL: ",
      element("code", {}, 'open == false && this.note.startsWith("guest")'),
      ".",
    ),
    form,
    answer,
  );
}

/** A choice among the texts that a field can be, or a field for any text. */
function inputOf({ name, example = "", values }: FindField): HTMLInputElement | HTMLSelectElement {
  const id = `where-${name}`;
  if (values !== undefined) {
    const options = ["", ...values].map((value) => element("option", { value }, value));
    return element("select", { id }, ...options);
  }
  const input = element("input", { type: "text", id });
  input.placeholder = example;
  input.spellcheck = false;
  return input;
}

async function load(
  { questions, status }: PageContext,
  asked: Record<string, string>,
): Promise<Child[]> {
  const request = {
    heap: status.heap ?? "",
    ...(status.before === null ? {} : { before: status.before }),
    ...asked,
  };
  const first = await questions.ask("find", { ...request, sum: "retained", limit: MOST_GROUPS });
  const { found, where, sum, groups, page } = first;
  const retained = sum === undefined ? "" : `, ${format.sizes(sum.bytes, sum.parts)} retained`;
  const left = where === undefined ? [] : leftOut(where);
  const children: Child[] = [
    element(
      "p",
      { class: "status", role: "status" },
      `${format.counted(found, "object")}${retained}`,
    ),
    ...left.map((line) => element("p", { class: "muted" }, line)),
  ];
  if (groups !== undefined) {
    const rest = page.total - groups.length;
    const list = table<FoundGroup>({
      caption: "Groups of objects",
      columns: [
        {
          key: "value",
          title: "Value",
          kind: "text",
          cell: ({ text }) => element("bdi", {}, ...breakable(format.printable(text))),
        },
        countColumn("count", "Objects", ({ count }) => count),
        {
          key: "bytes",
          title: "Retained",
          kind: "number",
          cell: ({ bytes = 0, parts }) => format.sizes(bytes, parts),
          order: ({ bytes = 0 }) => bytes,
        },
      ],
      rows: groups,
      sort: { key: "bytes", ascending: false },
      footer: rest > 0 ? [[format.counted(rest, "more group"), "", ""]] : [],
    });
    return [...children, list.element];
  }
  if (page.total === 0) return children;
  return [
    ...children,
    objectList(page.total, (offset, limit) =>
      questions.ask("find", { ...request, offset, limit }).then(({ objects }) => objects),
    ),
  ];
}

/** What is said of the objects for which a condition is neither true nor false. */
function leftOut(where: {
  withoutField: number;
  failed: { reason: string; count: number }[];
}): string[] {
  const objects = (count: number) => format.counted(count, "object");
  const lines = where.failed.map(
    ({ reason, count }) => `Not counted: ${objects(count)}, because ${reason}.`,
  );
  if (where.withoutField === 0) return lines;
  return [
    `Not counted: ${objects(where.withoutField)} without a field of the condition.`,
    ...lines,
  ];
}

function objectList(
  total: number,
  load: (offset: number, limit: number) => Promise<FoundRow[]>,
): HTMLElement {
  const rows = new VirtualList<FoundRow>({ total, columns: COLUMNS.length, load, cells });
  const heading = COLUMNS.map(([title, kind]) =>
    element("span", { role: "columnheader", class: kind }, title),
  );
  return element(
    "div",
    {
      class: "list",
      role: "table",
      aria: { label: "Objects that meet the condition", rowcount: String(total + 1) },
    },
    element(
      "div",
      { role: "rowgroup" },
      element("div", { class: "row head", role: "row", aria: { rowindex: "1" } }, ...heading),
    ),
    rows.element,
  );
}

function cells({
  addressText,
  className,
  retainedSize,
  retainedParts,
  preview,
}: FoundRow): HTMLElement[] {
  return [
    element("span", { role: "cell", class: "text" }, addressLabel(addressText)),
    element("span", { role: "cell", class: "text" }, classLink(className)),
    element("span", { role: "cell", class: "number" }, format.sizes(retainedSize, retainedParts)),
    element(
      "span",
      { role: "cell", class: "text preview" },
      ...(preview === null ? [] : linked(preview)),
    ),
  ];
}
