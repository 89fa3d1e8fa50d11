/**
 * What a page can ask, by method: the names and types of the methods of the JSON-RPC server as far as it has them. Who
 * answers is not known here. A `heap` is a handle from `status`.
 */
import type {
  ContainerPage,
  Cut,
  Edge,
  FieldValue,
  FindAnswer,
  GrowthAnswer,
  ObjectName,
  ObjectState,
  Path,
  Root,
} from "../../answers.js";

/** The part of a list that an answer has. */
export interface Listed {
  total: number;
  offset: number;
  listed: number;
  /** The offset of the next page; null if this is the last one. */
  next: number | null;
}

export interface PageRequest {
  limit?: number;
  offset?: number;
}

/** A dump that can be asked about. */
export interface DumpStatus {
  heap: string;
  /** The name of its file. */
  name: string;
  /** Bytes of all live objects; null as long as they are not known. */
  totalLiveSize: number | null;
}

/** How far the answerer is. */
export interface Status {
  /** In the order in which they were taken. */
  dumps: DumpStatus[];
  /** The newest dump, and the one that it is compared with; null as long as none is there. */
  heap: string | null;
  before: string | null;
  /** What is being read, and which part of it is done, from 0 to 1; null if nothing is. */
  reading: { name: string; fraction: number } | null;
  /** The dump of whose moment there is a heap profile. */
  profiled: string | null;
  /** Dumps that could not be read. */
  failures: { name: string; message: string }[];
}

/** A live object of a class, or one that was new or deleted. */
export interface InstanceRow {
  address: number;
  addressText: string;
  shallowSize: number;
  retainedSize: number;
  preview: string | null;
}

export type InstanceOrder = "retained" | "shallow" | "address";
export type InstanceSet = "live" | "new" | "deleted";

export interface InstancesRequest extends PageRequest {
  heap: string;
  /** For new and deleted objects. */
  before?: string;
  class: string;
  set?: InstanceSet;
  sort?: InstanceOrder;
  ascending?: boolean;
}

export interface InstancesAnswer {
  objects: InstanceRow[];
  /** Of all of them. */
  shallowSize: number;
  page: Listed;
}

export interface ObjectAnswer {
  address: number;
  addressText: string;
  className: string | null;
  state: ObjectState;
  shallowSize: number;
  retainedSize: number;
  dominator: ObjectName | null;
  roots: Root[];
  preview: string | null;
  fields: FieldValue[];
  distance?: number;
  /** A page of what a container holds; null for other objects, and if it was not asked for. */
  entries: ContainerPage | null;
  /** The references to it, independent ones first as far as these are known. */
  referrers: Edge[];
  page: Listed;
}

export interface PathsAnswer {
  object: {
    path: Path | null;
    independentReferrers: { total: number; edges: Edge[] };
    freedByCuttingAll: number;
    cut: Cut | null;
  };
}

export interface DominatedRow {
  /** Null for a group of a class. */
  address: number | null;
  addressText: string | null;
  className: string;
  count: number;
  shallowSize: number;
  retainedSize: number;
}

export interface DominatorsAnswer {
  children: DominatedRow[];
  page: Listed;
}

export interface ClassRow {
  className: string;
  count: number;
  shallowSize: number;
  retainedSize: number;
}

export interface FoundRow extends InstanceRow {
  className: string;
}

/** A line of source, and what of its allocations is alive. */
export interface SiteRow {
  function: string;
  /** Empty if it is not known. */
  file: string;
  /** From 1 on; 0 if it is not known. */
  line: number;
  count: number;
  size: number;
  /** The standard error of `size`. */
  sizeError: number;
  retainedSize: number;
}

export interface SitesAnswer {
  /** Whether every allocation was recorded. */
  exact: boolean;
  totalLiveSize: number;
  total: number;
  sites: SiteRow[];
}

/** Parameters and answer of each method. */
export interface Methods {
  status: { request: Record<string, never>; answer: Status };
  /** The data of a report, as in its file. */
  report: { request: { heap: string; before?: string | null }; answer: unknown };
  classes: {
    /** `contains` is a part of the name in any case. */
    request: PageRequest & { heap: string; class?: string; contains?: string };
    answer: { totalLiveSize: number; rows: ClassRow[]; page: Listed };
  };
  instances: { request: InstancesRequest; answer: InstancesAnswer };
  find: {
    /** `strings` leaves out containers. */
    request: PageRequest & {
      heap: string;
      before?: string | null;
      class?: string;
      contains?: string;
      strings?: boolean;
      where?: string;
      sum?: "shallow" | "retained";
      groupBy?: string;
    };
    answer: Pick<FindAnswer, "where" | "sum"> & {
      objects: FoundRow[];
      page: Listed;
      /** The texts of strings are in quotes. */
      groups?: { total: number; rows: { text: string; count: number; bytes?: number }[] };
    };
  };
  /** `limit` and `offset` select referrers; `entries` is the number of entries of a container that are wanted. */
  object: {
    request: PageRequest & {
      heap: string;
      address: string;
      entries?: number;
      entriesOffset?: number;
    };
    answer: ObjectAnswer;
  };
  paths: { request: { heap: string; address: string }; answer: PathsAnswer };
  dominators: {
    request: PageRequest & { heap: string; address?: string; by?: "object" | "class" };
    answer: DominatorsAnswer;
  };
  /** Of the dump that has a profile. */
  sites: { request: { heap: string }; answer: SitesAnswer };
  growth: {
    request: PageRequest & { warmup?: number };
    answer: Pick<GrowthAnswer, "dumps" | "places" | "undecided" | "perInterval"> & { page: Listed };
  };
}

export type Method = keyof Methods;
