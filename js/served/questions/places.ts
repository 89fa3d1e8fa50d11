/** Where memory comes from: lines of source, and places that hold more from dump to dump. */
import type {
  AsyncOptions,
  GrowthAnswer,
  GrowthOptions,
  Heap,
  PlaceTable,
  SiteGrowthAnswer,
} from "../../../index.js";
import {
  count,
  flag,
  list,
  type ObjectOf,
  object,
  optional,
  size,
  type TypeOf,
  text,
} from "../shapes.js";
import type { Found, Watch } from "./found.js";
import { type PageRequest, pageOf } from "./parameters.js";

/** A line of source, and what of its allocations is alive. */
const site = object({
  function: text(),
  /** Empty if it is not known. */
  file: text(),
  /** From 1 on; 0 if it is not known. */
  line: count,
  count,
  size,
  /** The standard error of `size`. */
  sizeError: size,
  samples: optional(count),
  retainedSize: optional(size),
  garbageSize: optional(size),
  /** Since the earlier moment, if there is one. */
  countChange: optional(count),
  sizeChange: optional(size),
});
export type SiteRow = TypeOf<typeof site>;

/** `exact`: every allocation was recorded. */
export const SITES = { exact: flag, totalLiveSize: size, sites: list(site) };
export type SitesBody = ObjectOf<typeof SITES>;

/** A heap with the profile of its moment; of a snapshot in which V8 tracked allocations, without one. */
export interface Profiled {
  heap: Heap;
  profile: Uint8Array | undefined;
}

/** The lines that allocated what is alive; with an earlier moment, those that became more come first. */
export async function sites(
  { heap, profile }: Profiled,
  before: Profiled | undefined,
  asked: PageRequest,
  watch: Watch,
): Promise<Found<SitesBody>> {
  const options = { profile, ...pageOf(asked), ...watch };
  const found =
    before === undefined
      ? await heap.sitesAsync(options)
      : ofSecond(
          await heap.sitesAsync({
            ...options,
            before: before.heap,
            beforeProfile: before.profile,
          }),
        );
  const { exact, totalLiveSize, sites: lines, total, offset, warnings, partial } = found;
  const page = { list: "sites", total, offset };
  const body = { exact, totalLiveSize, sites: lines };
  return { body, page, warnings, partial, isEstimate: !exact };
}

/** The answer about two moments in the form of that about the second one. */
function ofSecond({ liveSizeAfter, sites: lines, ...answer }: SiteGrowthAnswer) {
  const found = lines.map(({ countAfter, sizeAfter, countBefore, sizeBefore, ...line }) => ({
    ...line,
    count: countAfter,
    size: sizeAfter,
  }));
  return { ...answer, totalLiveSize: liveSizeAfter, sites: found };
}

/** `growthAsync` of the analyzer. */
export type AskGrowth = (
  tables: PlaceTable[],
  options: GrowthOptions & AsyncOptions,
) => Promise<GrowthAnswer>;

export type GrowthBody = Omit<
  GrowthAnswer,
  "schemaVersion" | "warnings" | "partial" | "total" | "offset" | "limit"
>;

/** What holds more in every dump. */
export async function growth(
  ask: AskGrowth,
  tables: PlaceTable[],
  request: PageRequest & { warmup?: number | undefined; slow?: boolean | undefined },
  signal: AbortSignal,
): Promise<Found<GrowthBody>> {
  const { warmup, slow } = request;
  const answer = await ask(tables, { warmup, slow, ...pageOf(request), signal });
  const { schemaVersion, warnings, partial, total, offset, limit, ...body } = answer;
  return { body, page: { list: "places", total, offset }, warnings, partial };
}
