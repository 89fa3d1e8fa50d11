/** Suspects: the path of each as a tree with sizes, the place to cut, and a paragraph for a ticket. */
import { copyButton } from "./copy.ts";
import type { ShortPath, Suspect } from "./data.ts";
import { element } from "./dom.ts";
import * as format from "./format.ts";
import {
  addressLabel,
  cellHref,
  classLink,
  linked,
  type PageContext,
  pathView,
  shareBar,
} from "./parts.ts";

export function suspectList(context: PageContext, suspects: Suspect[]): HTMLElement {
  if (suspects.length === 0) {
    return element("p", { class: "empty" }, "There are none: no part of the heap is that large.");
  }
  return element(
    "ol",
    { class: "suspects" },
    ...suspects.map((suspect) => element("li", {}, suspectView(context, suspect))),
  );
}

function suspectView(context: PageContext, suspect: Suspect): HTMLElement {
  const { retainedSize, retainedSizeBefore: before, path, cut, text, count } = suspect;
  const live = context.report.summary.totalLiveSize;
  // What grew shows its growth, not its size.
  const size = before === null ? retainedSize : retainedSize - before;
  const figure =
    before === null ? format.sizes(size, suspect.retainedParts) : format.signedBytes(size);
  const heaps = suspect.retainedParts === undefined ? "" : " in both heaps";
  const of = before === null ? `of live${heaps}` : `to ${format.bytes(retainedSize)}`;
  const shared = before === null ? `${format.share(retainedSize, live)} ${of}` : of;
  const short: ShortPath | null = path === null ? null : { leftOutAfter: -1, leftOut: 0, ...path };
  return element(
    "article",
    {},
    element(
      "header",
      {},
      element("h3", {}, classLink(suspect.className), count > 1 && ` × ${format.count(count)}`),
      element("span", { class: before === null ? "figure" : "figure more" }, figure),
      element("span", { class: "muted" }, shared),
      shareBar(size, live),
    ),
    short !== null && pathView(short, cut),
    accumulation(suspect),
    element(
      "details",
      { class: "paragraph" },
      element("summary", {}, "As a paragraph"),
      element("p", { class: "prose" }, ...linked(text)),
    ),
    element(
      "p",
      { class: "actions" },
      copyButton(text, "Copy for a ticket"),
      " ",
      treeLink(context, suspect),
    ),
  );
}

/** Where many small objects come together. */
function accumulation({ accumulation, retainedSizeBefore: before }: Suspect): HTMLElement | false {
  const [first, ...others] = accumulation?.children ?? [];
  if (accumulation === null || first === undefined) return false;
  const rest =
    others.length === 0
      ? ""
      : `, and ${format.counted(others.length, "other class", "other classes")}`;
  const { together } = accumulation;
  const size = format.sizes(first.retainedSize, first.retainedParts);
  const more = before === null ? "" : "more ";
  const what =
    first.count === 0
      ? [`${size} more in `, classLink(first.className), rest]
      : [
          `${format.count(first.count)} ${more}`,
          classLink(first.className),
          ` with ${size}${rest}`,
        ];
  return element(
    "p",
    {},
    together === undefined
      ? "It accumulates at "
      : `It accumulates in ${format.count(together.count)} `,
    together !== undefined && classLink(accumulation.className),
    together !== undefined && " such as the one at ",
    addressLabel(accumulation.addressText),
    ": ",
    ...what,
    ".",
    together !== undefined &&
      ` Letting go of all ${format.count(together.count)} frees at least ${format.bytes(together.retainedSize)}.`,
  );
}

function treeLink(
  { cellOf }: PageContext,
  { accumulation, address }: Suspect,
): HTMLElement | false {
  const cell = [accumulation?.address ?? address, address]
    .map((place) => (place === null ? undefined : cellOf.get(place)))
    .find((cell) => cell !== undefined);
  if (cell === undefined) return false;
  return element("a", { href: cellHref(cell) }, "Show in the dominator tree");
}
