/** What nothing in the memory of a native program leads to: the entries, and what only they hold. */
import type { Unreachable } from "./data.ts";
import { element } from "./dom.ts";
import * as format from "./format.ts";
import { addressLabel, classLabel } from "./parts.ts";
import { bytesColumn, countColumn, table } from "./table.ts";

type Unreferenced = NonNullable<Unreachable["unreferenced"]>;
type UnreferencedRow = Unreferenced["entries"][number];

export function unreferencedPage(unreferenced: Unreferenced): HTMLElement {
  const { count, shallowSize, total, entries } = unreferenced;
  const rest = total - entries.length;
  return element(
    "div",
    {},
    element(
      "p",
      { class: "lead" },
      `Nothing in the memory leads to ${format.counted(count, "block")} with ${format.bytes(shallowSize)}. They need not be leaked: the host, or a local variable of a function that was running, can hold them. A number that looks like an address can hide others.`,
    ),
    count > 0 &&
      table<UnreferencedRow>({
        caption: "Blocks and cycles to which nothing refers, with what only they hold",
        columns: [
          {
            key: "address",
            title: "Block",
            kind: "text",
            cell: ({ addressText }) => addressLabel(addressText),
            order: ({ address }) => address,
          },
          {
            key: "class",
            title: "Class",
            kind: "text",
            cell: ({ className }) => classLabel(className),
            order: ({ className }) => format.className(className).toLowerCase(),
          },
          countColumn("count", "Blocks", ({ retainedCount }) => retainedCount),
          bytesColumn("size", "Retained", ({ retainedSize }) => retainedSize),
        ],
        rows: entries,
        footer: rest === 0 ? [] : [[`${format.count(rest)} others`, "", "", ""]],
      }).element,
  );
}
