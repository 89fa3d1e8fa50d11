/** The live objects by class: a table that can be sorted and filtered. */
import type { ClassRow } from "./data.ts";
import { element } from "./dom.ts";
import * as format from "./format.ts";
import { classLink, liveSize, type PageContext, shareCell } from "./parts.ts";
import { rememberRoute } from "./route.ts";
import { table } from "./table.ts";

const DEFAULT_SORT = "retained";

export function classesPage({ report }: PageContext, parameters: URLSearchParams): HTMLElement {
  const { rows, rest } = report.classes;
  const live = report.summary.totalLiveSize;
  const state = {
    sort: parameters.get("sort") ?? DEFAULT_SORT,
    order: parameters.get("order") ?? (parameters.get("sort") === "class" ? "up" : "down"),
    filter: parameters.get("filter") ?? "",
  };
  const remember = () => {
    const { sort, order, filter } = state;
    const shown = { ...(filter === "" ? {} : { filter }) };
    const isDefault = sort === DEFAULT_SORT && order === "down";
    rememberRoute("classes", isDefault ? shown : { ...shown, sort, order });
  };
  const list = table<ClassRow>({
    caption: "Live objects by class",
    columns: [
      {
        key: "class",
        title: "Class",
        kind: "text",
        cell: ({ className }) => classLink(className),
        order: ({ className }) => format.className(className).toLowerCase(),
      },
      {
        key: "count",
        title: "Objects",
        kind: "number",
        cell: (row) => format.count(row.count),
        order: (row) => row.count,
      },
      {
        key: "shallow",
        title: "Shallow",
        hint: "The size of the objects themselves",
        kind: "number",
        cell: ({ shallowSize, shallowParts }) => format.sizes(shallowSize, shallowParts),
        order: ({ shallowSize }) => shallowSize,
      },
      {
        key: "retained",
        title: "Retained",
        hint: "What all objects of the class together keep alive, each byte counted once",
        kind: "number",
        cell: ({ retainedSetSize, retainedSetParts }) =>
          format.sizes(retainedSetSize, retainedSetParts),
        order: ({ retainedSetSize }) => retainedSetSize,
      },
      {
        key: "share",
        title: report.summary.joined === undefined ? "Retained of live" : "Retained of both heaps",
        kind: "number",
        cell: ({ retainedSetSize }) => shareCell(retainedSetSize, live),
      },
    ],
    rows,
    sort: { key: state.sort, ascending: state.order === "up" },
    footer: [
      ...(rest.classes === 0
        ? []
        : [
            [
              `${format.counted(rest.classes, "smaller class", "smaller classes")}`,
              format.count(rest.count),
              format.sizes(rest.shallowSize, rest.shallowParts),
              "",
              "",
            ],
          ]),
      [
        "All live objects",
        format.count(report.summary.objects.live),
        liveSize(report.summary),
        liveSize(report.summary),
        "100 %",
      ],
    ],
    onSort: (key, ascending) => {
      state.sort = key;
      state.order = ascending ? "up" : "down";
      remember();
    },
  });

  const status = element("p", { class: "status", role: "status" });
  const apply = () => {
    const wanted = state.filter.toLowerCase();
    const shown = list.filter(({ className }) => className.toLowerCase().includes(wanted));
    status.textContent =
      wanted === ""
        ? `${format.counted(rows.length, "class", "classes")}`
        : `${format.count(shown)} of ${format.counted(rows.length, "class", "classes")}`;
  };
  const input = element("input", {
    id: "class-filter",
    type: "search",
    value: state.filter,
    placeholder: "Node, Map<, assembly/…",
  });
  input.addEventListener("input", () => {
    state.filter = input.value;
    apply();
    remember();
  });
  apply();
  return element(
    "div",
    {},
    element(
      "p",
      { class: "lead" },
      "The retained size of a class is what its objects together keep alive, each byte counted once. Sizes of different classes overlap.",
    ),
    element(
      "div",
      { class: "controls" },
      element("label", { for: "class-filter" }, "Filter by name"),
      input,
      status,
    ),
    list.element,
  );
}
