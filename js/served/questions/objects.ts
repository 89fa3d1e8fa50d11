/** Single objects: which there are, what refers to them, why they are alive, and what they keep alive. */
import type {
  Edge,
  FindAnswer,
  FindOptions,
  FoundGroup,
  Heap,
  ObjectAnswer,
  PathAnswer,
} from "../../../index.js";
import {
  count,
  list,
  nullable,
  type ObjectOf,
  object as objectOf,
  parts,
  size,
  type TypeOf,
  text,
} from "../shapes.js";
import type { Found, Watch } from "./found.js";
import { addressOf, type PageRequest, pageOf } from "./parameters.js";

/** What `find` looks for. */
export type WantedObjects = Omit<FindOptions, keyof PageRequest> & PageRequest;

export interface FoundBody extends Pick<FindAnswer, "objects" | "where" | "sum"> {
  /** The number of objects, listed or not. */
  found: number;
  /** A page, in place of one of the objects. */
  groups?: FoundGroup[];
}

export async function find(
  heap: Heap,
  wanted: WantedObjects,
  watch: Watch,
): Promise<Found<FoundBody>> {
  const options = { ...wanted, ...pageOf(wanted), ...watch };
  const answer = await heap.findAsync(options);
  const { objects, total, offset, where, sum, groups, warnings, partial } = answer;
  const body = { found: total, where, sum, objects };
  if (groups !== undefined) {
    const page = { list: "groups", total: groups.total, offset };
    return { body: { ...body, groups: groups.rows }, page, warnings, partial };
  }
  // A number alone has no pages.
  const listed = wanted.count === true ? 0 : total;
  return { body, page: { list: "objects", total: listed, offset }, warnings, partial };
}

/** An address, and how many entries of a container are wanted; `limit` and `offset` select referrers. */
export interface ObjectRequest extends PageRequest {
  address: number | string;
  entries?: number | undefined;
  entriesOffset?: number | undefined;
}

export interface ObjectBody
  extends Omit<
    ObjectAnswer,
    "schemaVersion" | "warnings" | "partial" | "path" | "referrerCount" | "entries"
  > {
  /** Null for what is no container, and if no entries were asked for. */
  entries: NonNullable<ObjectAnswer["entries"]> | null;
  /** A page; within it, those that alone keep the object reachable come first. */
  referrers: Edge[];
}

export async function object(
  heap: Heap,
  { address, entries, entriesOffset = 0, ...asked }: ObjectRequest,
  watch: Watch,
): Promise<Found<ObjectBody>> {
  const { limit, offset } = pageOf(asked);
  const wanted = entries === undefined ? {} : { entries, offset: entriesOffset };
  const found = await heap.objectAsync(addressOf(address, heap), { ...wanted, ...watch });
  const { schemaVersion, path, referrerCount, warnings, partial, ...rest } = found;
  const { signal } = watch;
  const { referrers, total } =
    rest.state === "live"
      ? await heap.referrersAsync(rest.address, { limit, offset, signal })
      : { referrers: [], total: 0 };
  const sorted = [...referrers].sort(
    (left, right) => Number(right.independent) - Number(left.independent),
  );
  const body = { ...rest, entries: rest.entries ?? null, referrers: sorted };
  return { body, page: { list: "referrers", total, offset }, warnings, partial };
}

/** Why one object is alive. */
export async function pathsOf(
  heap: Heap,
  address: number | string,
  watch: Watch & { limit?: number },
): Promise<Found<Omit<PathAnswer, "schemaVersion" | "warnings" | "partial">>> {
  const found = await heap.pathsAsync(addressOf(address, heap), watch);
  const { schemaVersion, warnings, partial, ...body } = found;
  return { body, warnings, partial };
}

/** An object that is dominated, or the objects of a class: then it has no address. */
const dominated = objectOf({
  address: nullable(count),
  addressText: nullable(text()),
  className: text(),
  count,
  shallowSize: size,
  retainedSize: size,
  retainedParts: parts,
});
export type DominatedRow = TypeOf<typeof dominated>;

/** The address is null for the whole heap. */
export const DOMINATORS = {
  address: nullable(count),
  addressText: nullable(text()),
  children: list(dominated),
};
export type DominatorsBody = ObjectOf<typeof DOMINATORS>;

/** What an object dominates immediately; without an address, what no object dominates. */
export async function dominators(
  heap: Heap,
  request: PageRequest & { address?: number | string | undefined; by?: string | undefined },
  watch: Watch,
): Promise<Found<DominatorsBody>> {
  const from = request.address === undefined ? undefined : addressOf(request.address, heap);
  const options = { address: from, ...pageOf(request), ...watch };
  const found =
    request.by === "class"
      ? await heap.dominatorsAsync({ ...options, by: "class" })
      : await heap.dominatorsAsync(options);
  const children =
    "groups" in found
      ? found.groups.map((group) => ({ address: null, addressText: null, ...group }))
      : found.children.map((child) => ({ ...child, count: 1 }));
  const { address, addressText, total, offset, warnings, partial } = found;
  const page = { list: "children", total, offset };
  return { body: { address, addressText, children }, page, warnings, partial };
}
