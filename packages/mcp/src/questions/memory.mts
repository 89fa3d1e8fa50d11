/** Memory that could be saved: live objects that waste it, and what nothing reaches. */
import type { UnreachableAnswer, WasteAnswer } from "@warpo/heap-analyzer";
import { formatCount, formatSize } from "../lines.mts";
import { asking, question, watched } from "../question.mts";
import * as s from "../schema.mts";

type Wasted = Pick<WasteAnswer, "totalLiveSize" | "totalSavings" | "kinds" | "headers">;
type Unreached = Pick<UnreachableAnswer, "garbage" | "raw" | "unreferenced">;

const wasted = s.object(s.fields<Wasted>("WasteAnswer"));
const unreached = s.object(s.fields<Unreached>("UnreachableAnswer"));

export const waste = question({
  name: "waste",
  title: "Waste",
  description:
    "What memory could be saved without a leak? of: live (default) reports duplicates, empty containers, unused room and padding, with the fields that hold them. of: unreachable reports garbage by class, its cycles, and raw blocks to which nothing refers.",
  basis:
    "Contents are compared byte by byte, each byte counts once. Unreferenced raw blocks are an estimate: a number can look like an address.",
  input: { heap: s.heap, of: s.usually(s.choice("live", "unreachable"), "live"), ...s.page },
  output: { live: s.nullable(wasted), unreachable: s.nullable(unreached) },
  async ask({ heap: handle, of, limit, offset }, context) {
    return await asking(context, { heap: handle }, async (open) => {
      if (of === "live") {
        const found = await open.wasteAsync({ limit, offset, ...watched(context) });
        const { schemaVersion, warnings, partial, ...live } = found;
        return { body: { live, unreachable: null }, warnings, partial };
      }
      // Its lists have no pages: ask for all up to the end of the page.
      const found = await open.unreachableAsync({ limit: offset + limit, ...watched(context) });
      const { schemaVersion, warnings, partial, ...whole } = found;
      const unreachable = pageOf(whole, offset);
      const isEstimate = (unreachable.raw.unreferenced?.count ?? 0) > 0;
      return { body: { live: null, unreachable }, warnings, partial, isEstimate };
    });
  },
  render({ live, unreachable }) {
    if (live !== null) return wasteLines(live);
    return unreachable === null ? [] : unreachableLines(unreachable);
  },
});

/** The same without the first entries of each list. */
function pageOf(whole: Unreached, offset: number): Unreached {
  const { garbage, raw, unreferenced: lost } = whole;
  const { cycles } = garbage;
  const { unreferenced } = raw;
  return {
    garbage: {
      ...garbage,
      classes: garbage.classes.slice(offset),
      cycles: { ...cycles, groups: cycles.groups.slice(offset) },
    },
    raw: {
      ...raw,
      unreferenced:
        unreferenced === null
          ? null
          : { ...unreferenced, blocks: unreferenced.blocks.slice(offset) },
    },
    ...(lost === undefined
      ? {}
      : { unreferenced: { ...lost, entries: lost.entries.slice(offset) } }),
  };
}

function wasteLines({ totalLiveSize, totalSavings, kinds }: Wasted): string[] {
  return [
    `${formatSize(totalSavings)} of ${formatSize(totalLiveSize)} could be saved.`,
    ...kinds
      .filter(({ savings }) => savings > 0)
      .flatMap(({ kind, count: number, savings, groups }) => [
        `${kind}: ${formatCount(number)}, ${formatSize(savings)}`,
        ...groups
          .slice(0, 3)
          .map(
            (group) =>
              `  ${group.what}: ${formatCount(group.count)}, ${formatSize(group.savings)}, held by ${group.holders[0]?.holder ?? "nothing"}`,
          ),
      ]),
  ];
}

function unreachableLines(found: Unreached): string[] {
  const { garbage, raw, unreferenced } = found;
  if (unreferenced !== undefined) {
    const { count: blocks, shallowSize, total, entries } = unreferenced;
    return [
      `Unreferenced: ${formatCount(blocks)} blocks, ${formatSize(shallowSize)}, in ${formatCount(total)} entries. The host may hold them.`,
      ...entries.map(
        (entry) =>
          `  ${entry.addressText}: ${entry.className}, with ${formatCount(entry.retainedCount)} blocks, ${formatSize(entry.retainedSize)}`,
      ),
    ];
  }
  const { cycles } = garbage;
  return [
    `Garbage: ${formatCount(garbage.count)} objects, ${formatSize(garbage.shallowSize)}.`,
    ...garbage.classes.map(
      (one) => `  ${one.className}: ${formatCount(one.count)}, ${formatSize(one.shallowSize)}`,
    ),
    `Cycles: ${formatCount(cycles.total)} with ${formatCount(cycles.count)} objects, ${formatSize(cycles.shallowSize)}. The collector frees them.`,
    `Raw blocks: ${formatCount(raw.count)}, ${formatSize(raw.size)}.`,
    raw.unreferenced === null
      ? "Whether something refers to them is not known, as the dump has no global values."
      : `Unreferenced: ${formatCount(raw.unreferenced.count)}, ${formatSize(raw.unreferenced.size)}.`,
  ];
}
