/** What retains the most, and what grows. */
import { growthAsync } from "@warpo/heap-analyzer";
import { z } from "zod";
import { growth as growthOf } from "../../../../js/served/questions/places.ts";
import { formatCount, formatSize, inWords, rootText } from "../lines.mts";
import {
  asking,
  before,
  count,
  cutShape,
  heap,
  page,
  partsShape,
  pathShape,
  question,
  rootShape,
  size,
  watched,
  whole,
} from "../question.mts";

const suspect = z.strictObject({
  kind: z.string(),
  className: z.string(),
  address: count.nullable(),
  addressText: z.string().nullable(),
  count,
  retainedSize: size,
  retainedParts: partsShape,
  retainedSizeBefore: size.nullable(),
  share: z.number(),
  accumulation: z
    .strictObject({
      address: count,
      addressText: z.string(),
      className: z.string(),
      owner: z.string().nullable(),
      together: z.strictObject({ count, retainedSize: size }).optional(),
      children: z.array(
        z.strictObject({
          className: z.string(),
          count,
          retainedSize: size,
          retainedParts: partsShape,
        }),
      ),
    })
    .nullable(),
  path: pathShape.nullable(),
  cut: cutShape.nullable(),
  text: z.string().describe("all of this as a paragraph for a ticket"),
});

export const suspects = question({
  name: "suspects",
  title: "Suspects",
  description:
    "What leaks, or retains most of the memory? The first question about a leak: with before, what grew since the earlier dump; without, what retains at least 10 %. Each suspect has where it accumulates, its path from a root, which reference to cut, and a paragraph for a ticket.",
  basis: "Retained sizes are from the dominator tree of all live references.",
  input: {
    heap,
    before,
    threshold: z
      .number()
      .gt(0)
      .max(1)
      .optional()
      .describe("the least part of the live bytes (default: 0.1; with before 0.02)"),
    limit: page.limit,
  },
  output: {
    totalLiveSize: size,
    totalLiveParts: partsShape,
    threshold: size,
    suspects: z.array(suspect),
  },
  async ask({ heap: handle, before: earlier, threshold, limit }, context) {
    return await asking(context, { heap: handle, before: earlier }, async (open, from) => {
      const options = { before: from, threshold, limit, ...watched(context) };
      const { schemaVersion, warnings, partial, ...body } = await open.suspectsAsync(options);
      return { body, warnings, partial };
    });
  },
  render({ totalLiveSize, totalLiveParts, threshold, suspects: found }) {
    const together = totalLiveParts === undefined ? "" : " in both heaps together";
    return [
      `Live: ${inWords(totalLiveSize, totalLiveParts)}. Suspects of at least ${formatSize(threshold)}${together}:`,
      ...(found.length === 0 ? ["None."] : []),
      ...found.flatMap(({ text, addressText, accumulation }, nth) => {
        const places = [
          ...(addressText === null ? [] : [`suspect ${addressText}`]),
          ...(accumulation === null ? [] : [`accumulates in ${accumulation.addressText}`]),
        ];
        const at = places.length === 0 ? [] : [`   Addresses: ${places.join(", ")}.`];
        return [`${nth + 1}. ${text}`, ...at];
      }),
    ];
  },
});

const folded = z.strictObject({
  className: z.string(),
  label: z.string().nullable(),
  path: z.string().nullable(),
  fingerprint: z.string(),
  count,
});

const place = z.strictObject({
  root: rootShape.nullable(),
  path: z.string().nullable(),
  label: z.string().nullable(),
  className: z.string(),
  source: z
    .strictObject({ file: z.string(), line: count, column: count })
    .optional()
    .describe("of a heap snapshot: where the constructor is"),
  fingerprint: z.string(),
  stable: z.boolean(),
  counts: z.array(count.nullable()),
  bytes: z.array(size.nullable()),
  retained: z.array(size.nullable()).describe("the bytes that the objects retain together"),
  perInterval: z.strictObject({ count: z.number(), bytes: z.number(), retained: z.number() }),
  folded: z.array(folded),
});

const undecided = z.strictObject({
  path: z.string().nullable(),
  label: z.string().nullable(),
  className: z.string(),
  fingerprint: z.string(),
  counts: z.array(count.nullable()),
  bytes: z.array(size.nullable()),
  stoppedAfter: count.nullable(),
});

export const growth = question({
  name: "growth",
  title: "Growth over many dumps",
  description:
    "Which places of the program hold more in every dump? For three or more dumps in the order in which they were taken, of one build or several; eight or more tell growth from chance. For two dumps ask suspects with before.",
  basis: "A place grows if its objects, or their bytes, rise in every interval.",
  input: {
    heaps: z.array(heap).min(2).max(100).describe("handles, the earliest dump first"),
    warmup: whole.min(0).max(98).default(0).describe("dumps at the start to leave out"),
    slow: z
      .boolean()
      .default(false)
      .describe("also places that rise only in every second interval"),
    ...page,
  },
  output: {
    dumps: z.array(z.strictObject({ name: z.string(), totalLiveSize: size })),
    warmup: count,
    perInterval: z.strictObject({ live: z.number(), explained: z.number() }).describe("live bytes"),
    places: z.array(place),
    undecided: z.array(undecided).describe("places that may have stopped growing"),
  },
  isPaged: true,
  async ask({ heaps: handles, warmup, slow, limit, offset }, { heaps, control }) {
    const tables = [];
    for (const [nth, handle] of handles.entries()) {
      const part = (fraction: number, phase: string) =>
        control.progress((nth + fraction) / handles.length, phase);
      tables.push(await heaps.placeTable(handle, { ...control, progress: part }));
      control.progress((nth + 1) / handles.length, "places");
    }
    const asked = { warmup, slow, limit, offset };
    return await growthOf(growthAsync, tables, asked, control.signal);
  },
  render({ dumps, places }) {
    return [
      `Live: ${dumps.map(({ totalLiveSize }) => formatSize(totalLiveSize)).join(", ")}.`,
      ...(places.length === 0 ? ["Nothing grows in every interval."] : []),
      ...places.map(
        ({ root, path, label, className, counts, perInterval, folded: others, fingerprint }) => {
          const place =
            path ?? [root && rootText(root), label, className].filter(Boolean).join(" ");
          const rest =
            others.length === 0 ? "" : `; places that grow with it: ${formatCount(others.length)}`;
          return (
            `${className}: +${formatCount(perInterval.count)} objects, which retain +${formatSize(Math.round(perInterval.retained))}, ` +
            `per interval (${counts.map((one) => one ?? "-").join(", ")}): ${place}; fingerprint ${fingerprint}${rest}`
          );
        },
      ),
    ];
  },
});
