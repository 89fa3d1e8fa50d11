/** The objects of a class: all that live, or those that came or went since the earlier dump. */
import type { InstanceOrder, InstanceRow, InstanceSet } from "../explorer/methods.js";
import { element, fill } from "./dom.ts";
import * as format from "./format.ts";
import { later } from "./later.ts";
import { addressLabel, classLabel, linked, type PageContext, sourceButton } from "./parts.ts";
import { rememberRoute } from "./route.ts";
import { VirtualList } from "./virtual_list.ts";

const SETS: Record<InstanceSet, string> = { live: "Live", new: "New", deleted: "Deleted" };
const COLUMNS: [InstanceOrder | undefined, string, string][] = [
  ["address", "Object", "text"],
  ["shallow", "Shallow", "number"],
  ["retained", "Retained", "number"],
  [undefined, "Contents", "text"],
];

interface ClassPageState {
  name: string;
  set: InstanceSet;
  sort: InstanceOrder;
  ascending: boolean;
}

export function classPage(context: PageContext, parameters: URLSearchParams): HTMLElement {
  const state = stateOf(parameters);
  const list = element("div");
  const change = (part: Partial<ClassPageState>) => {
    Object.assign(state, part);
    const { name, set, sort, ascending } = state;
    rememberRoute(
      "class",
      {
        name,
        ...(set === "live" ? {} : { set }),
        ...(sort === "retained" ? {} : { sort }),
        ...(ascending ? { order: "up" } : {}),
      },
      true,
    );
    show();
  };
  const show = () =>
    fill(
      list,
      later(() => objectList(context, state, change)),
    );
  show();
  const { status, report } = context;
  const row = report.classes.rows.find(({ className }) => className === state.name);
  return element(
    "div",
    {},
    element(
      "p",
      { class: "subject" },
      classLabel(state.name),
      " ",
      sourceButton(context, { className: state.name }),
    ),
    row !== undefined &&
      element(
        "p",
        { class: "lead" },
        `${format.counted(row.count, "live object")}: ${format.sizes(row.shallowSize, row.shallowParts)} themselves, ${format.sizes(row.retainedSetSize, row.retainedSetParts)} with all that only they keep alive.`,
      ),
    status.before !== null && setChoice(context, state.set, (set) => change({ set })),
    list,
  );
}

function stateOf(parameters: URLSearchParams): ClassPageState {
  const set = parameters.get("set") ?? "live";
  const sort = parameters.get("sort") ?? "retained";
  return {
    name: parameters.get("name") ?? "",
    set: set === "new" || set === "deleted" ? set : "live",
    sort: sort === "address" || sort === "shallow" ? sort : "retained",
    ascending: parameters.get("order") === "up",
  };
}

function setChoice(
  { status }: PageContext,
  current: InstanceSet,
  choose: (set: InstanceSet) => void,
): HTMLElement {
  const choices = (Object.keys(SETS) as InstanceSet[]).map((set) => {
    const input = element("input", { type: "radio", id: `set-${set}` });
    input.name = "set";
    input.checked = set === current;
    input.addEventListener("change", () => choose(set));
    return element(
      "span",
      { class: "choice" },
      input,
      element("label", { for: input.id }, SETS[set]),
    );
  });
  const before = status.dumps.find(({ heap }) => heap === status.before)?.name;
  const since = before === undefined ? "" : `New and deleted since ${format.printable(before)}`;
  return element(
    "div",
    { class: "controls" },
    element(
      "fieldset",
      {},
      element("legend", { class: "visually-hidden" }, "Objects to list"),
      ...choices,
    ),
    element("span", { class: "status" }, since),
  );
}

async function objectList(
  { questions, status }: PageContext,
  state: ClassPageState,
  change: (part: Partial<ClassPageState>) => void,
): Promise<HTMLElement[]> {
  const { name, set, sort, ascending } = state;
  const request = {
    heap: status.heap ?? "",
    ...(status.before === null ? {} : { before: status.before }),
    class: name,
    set,
    sort,
    ascending,
  };
  const first = await questions.ask("instances", { ...request, limit: 1 });
  const { total } = first.page;
  const sum = element(
    "p",
    { class: "status", role: "status" },
    `${format.counted(total, "object")}, ${format.bytes(first.shallowSize)}`,
  );
  if (total === 0) return [sum];
  const rows = new VirtualList<InstanceRow>({
    total,
    columns: COLUMNS.length,
    load: async (offset, limit) => {
      const { objects } = await questions.ask("instances", { ...request, offset, limit });
      return objects;
    },
    cells: (row) => cells(row, set),
  });
  return [
    sum,
    element(
      "div",
      {
        class: "list",
        role: "table",
        aria: { label: `Objects of ${format.shortClassName(name)}`, rowcount: String(total + 1) },
      },
      element(
        "div",
        { role: "rowgroup" },
        element(
          "div",
          { class: "row head", role: "row", aria: { rowindex: "1" } },
          ...COLUMNS.map((column) => heading(column, state, change)),
        ),
      ),
      rows.element,
    ),
  ];
}

function heading(
  [key, title, kind]: (typeof COLUMNS)[number],
  { sort, ascending }: ClassPageState,
  change: (part: Partial<ClassPageState>) => void,
): HTMLElement {
  if (key === undefined) return element("span", { role: "columnheader", class: kind }, title);
  const press = () =>
    change({ sort: key, ascending: sort === key ? !ascending : key === "address" });
  const sorted: Record<string, string> =
    sort === key ? { sort: ascending ? "ascending" : "descending" } : {};
  return element(
    "span",
    { role: "columnheader", class: kind, aria: sorted },
    element("button", { type: "button", on: { click: press } }, title),
  );
}

function cells(row: InstanceRow, set: InstanceSet): HTMLElement[] {
  const { addressText, shallowSize, retainedSize, retainedParts, preview } = row;
  // What was deleted is not in the newer dump.
  const address =
    set === "deleted"
      ? element("span", { class: "address" }, addressText)
      : addressLabel(addressText);
  return [
    element("span", { role: "cell", class: "text" }, address),
    element("span", { role: "cell", class: "number" }, format.bytes(shallowSize)),
    element("span", { role: "cell", class: "number" }, format.sizes(retainedSize, retainedParts)),
    element(
      "span",
      { role: "cell", class: "text preview" },
      ...(preview === null ? [] : linked(preview)),
    ),
  ];
}
