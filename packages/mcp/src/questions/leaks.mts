/** What retains the most, and what grows. */
import {
  type GrowthAnswer,
  type GrowthOptions,
  growthAsync,
  type SuspectsAnswer,
  type SuspectsOptions,
} from "@warpo/heap-analyzer";
import { growth as growthOf } from "../../../../js/served/questions/places.ts";
import { formatCount, formatSize, inWords, rootText } from "../lines.mts";
import { asking, question, watched } from "../question.mts";
import * as s from "../schema.mts";

export const suspects = question({
  name: "suspects",
  title: "Suspects",
  description:
    "What leaks, or retains most of the memory? The first question about a leak: with before, what grew since the earlier dump; without, what retains at least 10 %. Each suspect has where it accumulates, its path from a root, which reference to cut, and a paragraph for a ticket.",
  basis: "Retained sizes are from the dominator tree of all live references.",
  input: {
    heap: s.heap,
    ...s.parameters<s.AskedOptions<SuspectsOptions>>("suspects"),
  },
  output: {
    ...s.fields<SuspectsAnswer, "totalLiveSize" | "totalLiveParts" | "threshold" | "suspects">(
      "SuspectsAnswer",
    ),
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

export const growth = question({
  name: "growth",
  title: "Growth over many dumps",
  description:
    "Which places of the program hold more in every dump? For three or more dumps in the order in which they were taken, of one build or several; eight or more tell growth from chance. For two dumps ask suspects with before.",
  basis: "A place grows if its objects, or their bytes, rise in every interval.",
  input: {
    heaps: s.described(
      s.list(s.heap, { minItems: 2, maxItems: 100 }),
      "handles, the earliest dump first",
    ),
    ...s.parameters<s.AskedOptions<GrowthOptions>>("growth"),
  },
  output: {
    ...s.fields<GrowthAnswer, "dumps" | "warmup" | "perInterval" | "places" | "undecided">(
      "GrowthAnswer",
      "dumps",
      "warmup",
      "perInterval",
      "places",
      "undecided",
    ),
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
