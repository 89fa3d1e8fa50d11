/** The lines of source that allocated what is alive, from the profile of the dump's moment. */
import type { SiteRow } from "../explorer/methods.js";
import { type Child, element } from "./dom.ts";
import * as format from "./format.ts";
import { later } from "./later.ts";
import { linePlace, type PageContext, shareCell } from "./parts.ts";
import { bytesColumn, countColumn, table } from "./table.ts";

export function linesPage(context: PageContext): HTMLElement {
  return element(
    "div",
    {},
    later(() => load(context)),
  );
}

async function load(context: PageContext): Promise<Child[]> {
  const { questions, status } = context;
  const { exact, totalLiveSize, sites, page } = await questions.ask("sites", {
    heap: status.heap ?? "",
  });
  const recorded = exact
    ? "Every allocation was recorded."
    : "The numbers of objects and their sizes are estimated from samples.";
  const rest = page.total - sites.length;
  return [
    element("p", { class: "lead" }, `Which line allocated what is alive. ${recorded}`),
    table<SiteRow>({
      caption: "Lines that allocated what is alive",
      columns: [
        { key: "line", title: "Line", kind: "text", cell: (row) => linePlace(context, row) },
        countColumn("count", "Objects", ({ count }) => count),
        {
          key: "size",
          title: "Size",
          kind: "number",
          cell: ({ size, sizeError }) =>
            sizeError === 0
              ? format.bytes(size)
              : `${format.bytes(size)} ± ${format.bytes(sizeError)}`,
          order: ({ size }) => size,
        },
        bytesColumn("retained", "Retained", ({ retainedSize = 0 }) => retainedSize),
        {
          key: "share",
          title: "Retained of live",
          kind: "number",
          cell: ({ retainedSize = 0 }) => shareCell(retainedSize, totalLiveSize),
        },
      ],
      rows: sites,
      sort: { key: "retained", ascending: false },
      footer: rest > 0 ? [[format.counted(rest, "more line"), "", "", "", ""]] : [],
    }).element,
  ];
}
