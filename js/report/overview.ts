/** The first page: where the bytes of the heap are, what may make numbers wrong, and the suspects. */
import type { Accounting, Summary, Suspects } from "./data.ts";
import { element } from "./dom.ts";
import * as format from "./format.ts";
import { joinedSection } from "./joined.ts";
import { type PageContext, sectionTitle } from "./parts.ts";
import { routeHash } from "./route.ts";
import { suspectList } from "./suspects.ts";
import { table } from "./table.ts";

interface OverviewPart {
  name: string;
  /** The name of its colour. */
  colour: string;
  bytes: number;
  meaning: string;
}

/** Where every byte of the heap is. */
function partsOf(accounting: Accounting): OverviewPart[] {
  const { live, free } = accounting;
  const parts: OverviewPart[] = [
    {
      name: "Live, from globals",
      colour: "global",
      bytes: live.global,
      meaning: "Objects that a global variable reaches",
    },
    {
      name: "Live, from the stack",
      colour: "stack",
      bytes: live.stack,
      meaning: "Objects that the stack reaches, but no global",
    },
    {
      name: "Live, pinned",
      colour: "pinned",
      bytes: live.pinned,
      meaning: "Objects that only pinned objects reach",
    },
    {
      name: "Garbage",
      colour: "garbage",
      bytes: accounting.garbage,
      meaning: "Objects that no root reaches and the collector has not freed yet",
    },
    {
      name: "Raw blocks",
      colour: "raw",
      bytes: accounting.raw,
      meaning: "Blocks of heap.alloc, which the collector does not manage",
    },
    {
      name: "Free",
      colour: "free",
      bytes: free.bytes,
      meaning: `${format.counted(free.blocks, "block")}, the largest ${format.bytes(free.largest)}`,
    },
    {
      name: "Allocator",
      colour: "overhead",
      bytes: accounting.overhead,
      meaning: "The ends of regions and the padding at their starts",
    },
    {
      name: "Not the allocator's",
      colour: "gaps",
      bytes: accounting.gaps,
      meaning: "Memory that the allocator does not own",
    },
    {
      name: "Not read",
      colour: "unread",
      bytes: accounting.unread,
      meaning: "Memory after damage, which could not be read",
    },
  ];
  return parts.filter(({ bytes }) => bytes > 0);
}

export function overviewPage(context: PageContext): HTMLElement {
  const { report } = context;
  const { summary, comparison, suspects } = report;
  return element(
    "div",
    {},
    comparison !== null && growthLine(comparison.before, summary),
    warnings(context),
    ...trapSection(summary),
    ...(comparison === null ? [] : growthSection(context, comparison.growth)),
    sectionTitle("Suspects", format.count(suspects.suspects.length)),
    element(
      "p",
      { class: "lead" },
      `What retains at least ${format.bytes(suspects.threshold)} (${format.share(
        suspects.threshold,
        suspects.totalLiveSize,
      )} of the live bytes${summary.joined === undefined ? "" : " of both heaps"}), and where it accumulates.`,
    ),
    suspectList(context, suspects.suspects),
    sectionTitle("Sizes"),
    figures(summary),
    ...joinedSection(summary),
    ...accountingSection(summary),
  );
}

/** The functions that were running when the program ended, for a coredump. */
function trapSection({ trap }: Summary): HTMLElement[] {
  if (trap === undefined) return [];
  const line = (frame: NonNullable<Summary["trap"]>["frames"][number]) =>
    element(
      "li",
      {},
      element("code", {}, element("bdi", {}, format.printable(frame.function))),
      frame.file !== undefined && frame.line !== undefined
        ? ` ${format.printable(frame.file)}:${frame.line}`
        : "",
      ` (function ${frame.index}, byte ${frame.offset})`,
    );
  return [
    sectionTitle("Trap", format.count(trap.total)),
    element(
      "p",
      { class: "lead" },
      "The functions that were running when the program ended, the innermost first.",
    ),
    element("ol", { class: "trap" }, ...trap.frames.map(line)),
  ];
}

/** What grew since the earlier dump comes before what is merely large. */
function growthSection(context: PageContext, growth: Suspects): HTMLElement[] {
  return [
    sectionTitle("What grew", format.count(growth.suspects.length)),
    element(
      "p",
      { class: "lead" },
      `What retains at least ${format.bytes(growth.threshold)} more than in `,
      element("bdi", {}, format.printable(context.report.before ?? "the earlier dump")),
      ".",
    ),
    suspectList(context, growth.suspects),
  ];
}

/** Where the bytes of a dump are. A heap snapshot of V8 does not say it. */
function accountingSection({ accounting, totalHeapSize }: Summary): HTMLElement[] {
  if (accounting === undefined || totalHeapSize === undefined) return [];
  return [
    sectionTitle("Where the bytes are", format.bytes(totalHeapSize)),
    accountingBar(accounting, totalHeapSize),
    accountingTable(accounting, totalHeapSize),
  ];
}

/** What is alive: of two heaps that were joined, a figure for each. */
function liveFigures({ joined, totalLiveSize, objects }: Summary): [string, string, string][] {
  if (joined === undefined) {
    return [["Live", format.bytes(totalLiveSize), format.counted(objects.live, "object")]];
  }
  const { javascript, wasm } = joined;
  return [
    ["JavaScript", format.bytes(javascript.liveSize), format.counted(javascript.objects, "object")],
    ["WebAssembly", format.bytes(wasm.liveSize), format.counted(wasm.objects, "object")],
  ];
}

/** The totals, large. */
function figures(summary: Summary): HTMLElement {
  const { accounting, objects, roots, totalHeapSize } = summary;
  const { system, ...others } = roots;
  const kinds = Object.entries(system === undefined ? others : { global: roots.global, system });
  const list: [string, string, string][] = [...liveFigures(summary)];
  if (accounting !== undefined && totalHeapSize !== undefined) {
    const { collector, garbage } = accounting;
    list.push(
      ["Garbage", format.bytes(garbage), format.counted(objects.garbage ?? 0, "object")],
      ["Heap", format.bytes(totalHeapSize), collector === null ? "" : `collector: ${collector}`],
    );
  }
  list.push(
    ["Classes", format.count(summary.classes), "with live objects"],
    [
      "Roots",
      format.count(kinds.reduce((sum, [, count]) => sum + count, 0)),
      kinds.map(([kind, count]) => `${format.count(count)} ${kind}`).join(", "),
    ],
  );
  return element(
    "dl",
    { class: "figures" },
    ...list.map(([name, number, note]) =>
      element(
        "div",
        {},
        element("dt", {}, name),
        element("dd", { class: "figure" }, number),
        element("dd", { class: "note" }, note),
      ),
    ),
  );
}

function growthLine(before: Summary, after: Summary): HTMLElement {
  const delta = after.totalLiveSize - before.totalLiveSize;
  const from = format.bytes(before.totalLiveSize);
  const to = format.bytes(after.totalLiveSize);
  return element(
    "p",
    { class: "lead" },
    `Live bytes went from ${from} to ${to} (${format.signedBytes(delta)}). `,
    element("a", { href: routeHash("comparison") }, "What changed"),
  );
}

function warnings({ report }: PageContext): HTMLElement | false {
  const { warnings, moreWarnings, partial } = report;
  if (warnings.length === 0 && !partial) return false;
  return element(
    "section",
    { class: "warnings", aria: { label: "Warnings" } },
    sectionTitle("Warnings", format.count(warnings.length + moreWarnings)),
    partial &&
      element("p", {}, "The heap is damaged. This report shows only what lies before the damage."),
    element(
      "ul",
      { class: "plain" },
      ...warnings.map(({ code, message }) =>
        element("li", {}, format.printable(message), " ", element("code", {}, code)),
      ),
      moreWarnings > 0 && element("li", {}, `${format.count(moreWarnings)} more`),
    ),
  );
}

/** All parts side by side. Their table follows, so the bar itself is hidden from screen readers. */
function accountingBar(accounting: Accounting, whole: number): HTMLElement {
  return element(
    "div",
    { class: "bar", aria: { hidden: "true" } },
    ...partsOf(accounting).map(({ name, colour, bytes }) =>
      element("span", {
        class: `part ${colour}`,
        title: `${name}: ${format.bytes(bytes)}, ${format.share(bytes, whole)}`,
        variables: { part: String(bytes / whole) },
      }),
    ),
  );
}

function accountingTable(accounting: Accounting, whole: number): HTMLElement {
  return table<OverviewPart>({
    caption: "Where every byte of the heap is",
    columns: [
      {
        key: "part",
        title: "Part",
        kind: "text",
        cell: ({ name, colour }) =>
          element(
            "span",
            {},
            element("span", { class: `swatch ${colour}`, aria: { hidden: "true" } }),
            name,
          ),
      },
      { key: "bytes", title: "Size", kind: "number", cell: ({ bytes }) => format.bytes(bytes) },
      { key: "exact", title: "Bytes", kind: "number", cell: ({ bytes }) => format.count(bytes) },
      {
        key: "share",
        title: "Share",
        kind: "number",
        cell: ({ bytes }) => format.share(bytes, whole),
      },
      {
        key: "meaning",
        title: "What it is",
        kind: "text",
        cell: ({ meaning }) => element("span", { class: "muted" }, meaning),
      },
    ],
    rows: partsOf(accounting),
    footer: [["Heap", format.bytes(whole), format.count(whole), "100 %", ""]],
  }).element;
}
