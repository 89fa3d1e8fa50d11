/** What is said of heaps that were joined: their two sums, and who may hold an object by its number. */
import type { JoinedSums, PossibleReference } from "../../answers.js";
import type { ExplorerObject } from "../explorer/methods.js";
import type { Summary } from "./data.ts";
import { type Child, element } from "./dom.ts";
import * as format from "./format.ts";
import { openable } from "./later.ts";
import { objectLabel, referenceLabel } from "./parts.ts";

/** The sums of both heaps, and what is known of the holders of pinned objects. */
export function joinedSection({ joined }: Summary): HTMLElement[] {
  if (joined === undefined) return [];
  const { javascript, wasm, pinned, numbersRead, closuresRead, cycles } = joined;
  const isAllRead = numbersRead && closuresRead;
  const parts = [
    [pinned.exact, "with an exact holder in JavaScript"],
    [pinned.derived, "with a derived holder"],
    [pinned.possible, "with possible holders only"],
    [pinned.awaitingRelease, "whose wrapper was collected"],
    [
      pinned.unseen,
      `whose address no ${isAllRead ? "JavaScript number" : "number that was read"} equals`,
    ],
  ] as const;
  const counts = parts
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${format.count(count)} ${what}`);
  const unread = [
    numbersRead ? "" : "numbers in arrays, maps and sets",
    closuresRead ? "" : "variables of functions",
  ].filter((what) => what !== "");
  return [
    element(
      "p",
      { class: "lead" },
      `JavaScript has ${format.bytes(javascript.liveSize)}, WebAssembly ${format.bytes(wasm.liveSize)}. ` +
        "What an object keeps alive is shown as two sums. Lists and pictures are in the order of both together.",
    ),
    element(
      "p",
      { class: "lead" },
      `${format.counted(pinned.total, "pinned object")}${counts.length === 0 ? "" : ": "}${counts.join(", ")}. `,
      unread.length > 0 && `Not read: ${unread.join(", and ")}.`,
    ),
    ...(cycles === undefined ? [] : [element("p", { class: "lead" }, cyclesText(cycles))]),
  ];
}

/** What only cycles across the border keep. */
function cyclesText({ count, shallowParts, classes }: NonNullable<JoinedSums["cycles"]>): string {
  const named = classes.map(
    ({ className, count }) => `${format.count(count)} ${format.className(className)}`,
  );
  const size = format.sizes(shallowParts.javascript + shallowParts.wasm, shallowParts);
  return `Only cycles across the border keep ${format.counted(count, "object")}, ${size}: ${named.join(", ")}.`;
}

/** What the pane of an object says of slots that may hold it, and of who pinned it. */
export function joinedParts({ possibleHolders, pinnedBy, referrers }: ExplorerObject): Child[] {
  const hasHolder = referrers.some(({ evidence }) => evidence !== undefined);
  return [
    possibleHolders !== undefined &&
      openable(
        [`Possible holders (${format.count(possibleHolders.total)})`],
        async () => [
          element(
            "p",
            { class: "muted" },
            "Their number equals the address, and nothing more speaks for them: no path follows them.",
          ),
          possibleList(possibleHolders.slots, possibleHolders.total),
        ],
        !hasHolder,
      ),
    pinnedBy !== undefined &&
      openable(
        ["Pinned by"],
        async () => [
          element(
            "ol",
            { class: "trap" },
            ...pinnedBy.map((frame) =>
              element("li", {}, element("code", {}, element("bdi", {}, format.printable(frame)))),
            ),
          ),
        ],
        true,
      ),
  ];
}

function possibleList(slots: PossibleReference[], total: number): HTMLElement {
  const lines = slots.map((slot) =>
    element(
      "li",
      {},
      "~ ",
      objectLabel(slot),
      " ",
      referenceLabel(slot.label),
      element(
        "span",
        { class: "muted" },
        ` (${format.count(slot.hits)} of ${format.counted(slot.values, "value")} are addresses of pinned objects)`,
      ),
    ),
  );
  const more = total - slots.length;
  return element(
    "ul",
    { class: "plain" },
    ...lines,
    more > 0 && element("li", { class: "muted" }, `${format.count(more)} more`),
  );
}
