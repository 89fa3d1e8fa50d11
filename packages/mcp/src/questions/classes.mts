/** Which classes use the memory, and which changed. */
import type { Warning } from "@warpo/heap-analyzer";
import { z } from "zod";
import { QuestionError } from "../../../../js/served/errors.ts";
import { matcher } from "../../../../js/served/glob.ts";
import type { Found } from "../answers.mts";
import { formatCount, formatSize } from "../lines.mts";
import { asking, before, count, glob, heap, page, question, size, watched } from "../question.mts";

const BASIS =
  "retainedSize of a class counts each byte once, and removing all its objects frees at least that much.";

const row = z.strictObject({
  className: z.string(),
  count,
  shallowSize: size,
  retainedSize: size,
});

export const classes = question({
  name: "classes",
  title: "Classes",
  description:
    "Which classes use the memory? The histogram of live objects by class: count, shallow and retained size. For leaks ask suspects first.",
  basis: BASIS,
  input: {
    heap,
    class: glob.optional().describe("only class names like this; * and ? are wildcards"),
    sort: z.enum(["retained", "shallow", "count"]).default("retained"),
    ...page,
  },
  output: { totalLiveSize: size, rows: z.array(row) },
  isPaged: true,
  async ask({ heap: handle, sort, ...asked }, context) {
    return await asking(context, { heap: handle }, async (open) => {
      const view = await open.constructorsAsync({
        sort: sort === "retained" ? "retained-set" : sort,
        instances: 0,
        ...watched(context),
      });
      const { totalLiveSize } = view;
      return listed(view, asked, { totalLiveSize }, (one) => ({
        className: one.className,
        count: one.count,
        shallowSize: one.totalShallowSize,
        retainedSize: one.retainedSetSize ?? 0,
      }));
    });
  },
  render({ totalLiveSize, rows }) {
    return [
      `Live: ${formatSize(totalLiveSize)}. Class: count, shallow, retained.`,
      ...rows.map(
        (one) =>
          `${one.className}: ${formatCount(one.count)}, ${formatSize(one.shallowSize)}, ${formatSize(one.retainedSize)}`,
      ),
    ];
  },
});

const change = z.strictObject({
  className: z.string(),
  newCount: count,
  deletedCount: count,
  countDelta: count,
  sizeDelta: count,
});

export const compare = question({
  name: "compare",
  title: "Compare two dumps",
  description:
    "Which classes gained or lost objects between two dumps of the same build? Counts objects by class and address. For what leaks and why, ask suspects with before.",
  basis: "Two objects are the same if class and address are the same; sizes are shallow.",
  input: {
    before: before.unwrap(),
    heap,
    class: glob.optional().describe("only class names like this; * and ? are wildcards"),
    sort: z.enum(["delta", "new", "deleted", "count"]).default("delta"),
    ...page,
  },
  output: {
    totalLiveSizeBefore: size,
    totalLiveSize: size,
    rows: z.array(change),
  },
  isPaged: true,
  async ask({ heap: handle, before: earlier, sort, ...asked }, context) {
    return await asking(context, { heap: handle, before: earlier }, async (open, from) => {
      if (from === undefined) throw new QuestionError("ERR_INTERNAL", "compare needs before");
      const order = { delta: "delta", new: "alloc", deleted: "freed", count: "count" } as const;
      const view = await open.compareWithAsync(from, {
        sort: order[sort],
        instances: 0,
        ...watched(context),
      });
      const { beforeTotalLiveSize: totalLiveSizeBefore, afterTotalLiveSize: totalLiveSize } = view;
      return listed(view, asked, { totalLiveSizeBefore, totalLiveSize }, (one) => ({
        className: one.className,
        newCount: one.newCount,
        deletedCount: one.deletedCount,
        countDelta: one.countDelta,
        sizeDelta: one.sizeDelta,
      }));
    });
  },
  render({ totalLiveSizeBefore, totalLiveSize, rows }) {
    return [
      `Live: ${formatSize(totalLiveSizeBefore)}, then ${formatSize(totalLiveSize)}. Class: new, deleted, bytes.`,
      ...rows.map(
        (one) =>
          `${one.className}: +${formatCount(one.newCount)}, -${formatCount(one.deletedCount)}, ${signed(one.sizeDelta)}`,
      ),
    ];
  },
});

interface View<R> {
  readonly constructors: readonly R[];
  readonly warnings: Warning[];
  readonly partial: boolean;
  close(): void;
}

/** A page of the rows with the wanted class names, of a view that it closes. */
function listed<R extends { readonly className: string }>(
  view: View<R>,
  asked: { class?: string | undefined; limit: number; offset: number },
  totals: Record<string, number>,
  shown: (row: R) => object,
): Found {
  try {
    const { class: wanted, limit, offset } = asked;
    const isWanted = wanted === undefined ? () => true : matcher(wanted);
    const all = view.constructors.filter(({ className }) => isWanted(className));
    const rows = all.slice(offset, offset + limit).map(shown);
    const page = { list: "rows", total: all.length, offset };
    return { body: { ...totals, rows }, page, warnings: view.warnings, partial: view.partial };
  } finally {
    view.close();
  }
}

function signed(bytes: number): string {
  return bytes < 0 ? `-${formatSize(-bytes)}` : `+${formatSize(bytes)}`;
}
