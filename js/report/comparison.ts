/** What changed since an earlier dump: totals, growth, classes, and why the new objects are alive. */
import type { Branch, Changes, Comparison, Summary } from "./data.ts";
import { element } from "./dom.ts";
import * as format from "./format.ts";
import {
  classLabel,
  classLink,
  type PageContext,
  referenceLabel,
  rootLabel,
  sectionTitle,
} from "./parts.ts";
import { routeHash } from "./route.ts";
import { suspectList } from "./suspects.ts";
import { table } from "./table.ts";

export function comparisonPage(context: PageContext): HTMLElement {
  const { report } = context;
  const comparison = report.comparison as Comparison;
  const { growth, newPaths } = comparison;
  return element(
    "div",
    {},
    element(
      "p",
      { class: "lead" },
      "Before: ",
      element("bdi", {}, format.printable(report.before ?? "")),
      ". After: ",
      element("bdi", {}, format.printable(report.dump)),
      ".",
    ),
    totals(comparison.before, report.summary),
    sectionTitle("What grew", format.count(growth.suspects.length)),
    element(
      "p",
      { class: "lead" },
      `What retains at least ${format.bytes(growth.threshold)} more than before.`,
    ),
    suspectList(context, growth.suspects),
    sectionTitle(
      "Classes that changed",
      format.count(comparison.rows.length + comparison.restClasses),
    ),
    changes(comparison),
    sectionTitle("Why the new objects are alive", format.counted(newPaths.count, "object")),
    newPaths.count === 0
      ? element("p", { class: "empty" }, "No live object is new.")
      : element(
          "p",
          { class: "lead" },
          `They take ${format.bytes(newPaths.shallowSize)}. Removing all of them frees ${format.bytes(newPaths.freedByRemovingAll)}. Their paths, merged, the largest first:`,
        ),
    newPaths.count > 0 && branches(newPaths.tree, newPaths.more, newPaths.shallowSize, true),
  );
}

interface Total {
  name: string;
  before: number;
  after: number;
  isSize: boolean;
  /** Whether more of it is worse. */
  isBurden: boolean;
}

function totals(before: Summary, after: Summary): HTMLElement {
  // Without those that a heap snapshot of V8 does not have.
  const size = (
    name: string,
    sizeIn: (summary: Summary) => number | undefined,
    isBurden = true,
  ): Total[] => {
    const [earlier, later] = [sizeIn(before), sizeIn(after)];
    if (earlier === undefined || later === undefined) return [];
    return [{ name, before: earlier, after: later, isSize: true, isBurden }];
  };
  const rows: Total[] = [
    ...size("Live", (summary) => summary.totalLiveSize),
    ...size("Garbage", ({ accounting }) => accounting?.garbage),
    ...size("Raw blocks", ({ accounting }) => accounting?.raw),
    ...size("Free", ({ accounting }) => accounting?.free.bytes, false),
    ...size("Heap", (summary) => summary.totalHeapSize),
    {
      name: "Live objects",
      before: before.objects.live,
      after: after.objects.live,
      isSize: false,
      isBurden: true,
    },
  ];
  const text = ({ isSize }: Total, value: number) =>
    isSize ? format.bytes(value) : format.count(value);
  return table<Total>({
    caption: "Totals before and after",
    columns: [
      { key: "name", title: "Total", kind: "text", cell: ({ name }) => name },
      { key: "before", title: "Before", kind: "number", cell: (row) => text(row, row.before) },
      { key: "after", title: "After", kind: "number", cell: (row) => text(row, row.after) },
      {
        key: "delta",
        title: "Change",
        kind: "number",
        cell: (row) => change(row.after - row.before, row.isSize, row.isBurden),
      },
    ],
    rows,
  }).element;
}

/** A number with its sign, and a colour that says the same. */
function change(value: number, isSize: boolean, isBurden = true): HTMLElement {
  const text = isSize ? format.signedBytes(value) : format.signedCount(value);
  const colour = value > 0 ? "more" : "less";
  return element("span", { class: isBurden && value !== 0 ? colour : "muted" }, text);
}

type ChangedClass = Changes & { className: string };

function changes({ rows, restClasses, rest, total }: Comparison): HTMLElement {
  if (rows.length === 0) return element("p", { class: "empty" }, "No class changed.");
  const cells = (changes: Changes, className?: string) => [
    countLink(changes.newCount, className, "new"),
    countLink(changes.deletedCount, className, "deleted"),
    change(changes.newCount - changes.deletedCount, false),
    format.bytes(changes.allocatedSize),
    format.bytes(changes.freedSize),
    change(changes.allocatedSize - changes.freedSize, true),
  ];
  const number = (key: string, title: string, nth: number, order: (row: Changes) => number) => ({
    key,
    title,
    kind: "number" as const,
    cell: (row: ChangedClass) => cells(row, row.className)[nth],
    order,
  });
  const others = format.counted(restClasses, "other class", "other classes");
  return table<ChangedClass>({
    caption: "Classes that changed",
    columns: [
      {
        key: "class",
        title: "Class",
        kind: "text",
        cell: ({ className }) => classLink(className),
        order: ({ className }) => format.className(className).toLowerCase(),
      },
      number("new", "New", 0, ({ newCount }) => newCount),
      number("deleted", "Deleted", 1, ({ deletedCount }) => deletedCount),
      number("objects", "Objects", 2, (row) => row.newCount - row.deletedCount),
      number("allocated", "Allocated", 3, ({ allocatedSize }) => allocatedSize),
      number("freed", "Freed", 4, ({ freedSize }) => freedSize),
      number("size", "Size", 5, (row) => row.allocatedSize - row.freedSize),
    ],
    rows,
    sort: { key: "size", ascending: false },
    footer: [
      ...(restClasses === 0 ? [] : [[others, ...cells(rest)]]),
      ["All classes", ...cells(total)],
    ],
  }).element;
}

/** A number of objects that leads to them. */
function countLink(
  count: number,
  name: string | undefined,
  set: "new" | "deleted",
): HTMLElement | string {
  const text = format.count(count);
  if (name === undefined || count === 0) return text;
  return element("a", { href: routeHash("class", { name, set }) }, text);
}

/** Branches of merged paths; the first ones are open. */
function branches(
  list: Branch[],
  more: Branch["more"],
  whole: number,
  isOpen: boolean,
): HTMLElement {
  return element(
    "ul",
    { class: "branches" },
    ...list.map((branch, nth) => element("li", {}, branchView(branch, whole, isOpen && nth < 3))),
    more !== null &&
      element(
        "li",
        { class: "muted" },
        `${format.counted(more.branches, "more branch", "more branches")}: ${format.counted(more.count, "object")}, ${format.bytes(more.shallowSize)}`,
      ),
  );
}

function branchView(branch: Branch, whole: number, isOpen: boolean): HTMLElement {
  const line = [
    branch.root !== null && rootLabel(branch.root),
    branch.root !== null && " ",
    branch.label !== null && referenceLabel(branch.label),
    branch.label !== null && " ",
    classLabel(branch.className),
    branch.folded && " …",
    element(
      "span",
      { class: "size" },
      `${format.counted(branch.count, "object")}, ${format.bytes(branch.shallowSize)}, ${format.share(branch.shallowSize, whole)}`,
    ),
  ];
  if (branch.children.length === 0 && branch.more === null) {
    return element("div", { class: "leaf" }, ...line);
  }
  const opened = element(
    "details",
    {},
    element("summary", {}, ...line),
    branches(branch.children, branch.more, whole, isOpen),
  );
  opened.open = isOpen;
  return opened;
}
