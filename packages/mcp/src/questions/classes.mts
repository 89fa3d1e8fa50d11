/** Which classes use the memory, and which changed. */
import { QuestionError } from "../../../../js/served/errors.ts";
import { CLASSES, classes as classesOf, rowsOf } from "../../../../js/served/questions/classes.ts";
import { formatCount, formatSize, inWords } from "../lines.mts";
import { asking, question, watched } from "../question.mts";
import * as s from "../schema.mts";

const BASIS =
  "retainedSize of a class counts each byte once, and removing all its objects frees at least that much.";

export const classes = question({
  name: "classes",
  title: "Classes",
  description:
    "Which classes use the memory? The histogram of live objects by class: count, shallow and retained size. For leaks ask suspects first.",
  basis: BASIS,
  input: {
    heap: s.heap,
    class: s.optional(s.glob, "only class names like this; * and ? are wildcards"),
    sort: s.usually(s.choice("retained", "shallow", "count"), "retained"),
    ...s.page,
  },
  output: CLASSES,
  isPaged: true,
  async ask({ heap: handle, sort, ...asked }, context) {
    return await asking(context, { heap: handle }, async (open) => {
      const view = await open.constructorsAsync({
        sort: sort === "retained" ? "retained-set" : sort,
        instances: 0,
        ...watched(context),
      });
      return closing(view, (open) => classesOf(open, asked));
    });
  },
  render({ totalLiveSize, totalLiveParts, rows }) {
    return [
      `Live: ${inWords(totalLiveSize, totalLiveParts)}. Class: count, shallow, retained.`,
      ...rows.map((one) => {
        const shallow = inWords(one.shallowSize, one.shallowParts);
        const retained = inWords(one.retainedSize, one.retainedParts);
        return `${one.className}: ${formatCount(one.count)}, ${shallow}, ${retained}`;
      }),
    ];
  },
});

type Change = s.TypeOf<typeof change>;

const change = s.object({
  className: s.text(),
  newCount: s.count,
  deletedCount: s.count,
  countDelta: s.count,
  sizeDelta: s.count,
});

export const compare = question({
  name: "compare",
  title: "Compare two dumps",
  description:
    "Which classes gained or lost objects between two dumps of the same build? Counts objects by class and address. For what leaks and why, ask suspects with before.",
  basis: "Two objects are the same if class and address are the same; sizes are shallow.",
  input: {
    before: s.described(s.heap, "the handle of the earlier dump"),
    heap: s.heap,
    class: s.optional(s.glob, "only class names like this; * and ? are wildcards"),
    sort: s.usually(s.choice("delta", "new", "deleted", "count"), "delta"),
    ...s.page,
  },
  output: {
    totalLiveSizeBefore: s.size,
    totalLiveSize: s.size,
    rows: s.list(change),
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
      const totals = { totalLiveSizeBefore, totalLiveSize };
      const shown = ({ className, newCount, deletedCount, countDelta, sizeDelta }: Change) => ({
        className,
        newCount,
        deletedCount,
        countDelta,
        sizeDelta,
      });
      return closing(view, (open) => rowsOf(open, asked, totals, shown));
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

/** What is made of a view, which is then closed. */
function closing<V extends { close(): void }, T>(view: V, make: (view: V) => T): T {
  try {
    return make(view);
  } finally {
    view.close();
  }
}

function signed(bytes: number): string {
  return bytes < 0 ? `-${formatSize(-bytes)}` : `+${formatSize(bytes)}`;
}
