/**
 * What a page can ask, by method: the names and types of the methods of the JSON-RPC server as far as it has them. Who
 * answers is not known here. A `heap` is a handle from `status`.
 */
import type { FindAnswer, FoundGroup, GrowthAnswer, PathAnswer, SizeParts } from "../../answers.js";
import type { FindOptions } from "../../options.js";
import type { ServedClasses, WantedClasses } from "../served/questions/classes.js";
import type { Listed } from "../served/questions/found.js";
import type { DominatorsBody, ObjectBody, ObjectRequest } from "../served/questions/objects.js";
import type { PageRequest } from "../served/questions/parameters.js";
import type { SiteRow, SitesBody } from "../served/questions/places.js";

export type { ServedClass } from "../served/questions/classes.js";
export type { Listed } from "../served/questions/found.js";
export type { DominatedRow } from "../served/questions/objects.js";
export type { SiteRow } from "../served/questions/places.js";

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
  /** Whether `take` can be asked. */
  canTake: boolean;
  /** Dumps that could not be read. */
  failures: { name: string; message: string }[];
}

/** A live object of a class, or one that was new or deleted. */
export interface InstanceRow {
  address: number;
  addressText: string;
  shallowSize: number;
  retainedSize: number;
  /** Of heaps that were joined: the retained size by heap. */
  retainedParts?: SizeParts;
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

/** An answer with the page of its list. */
type Paged<B> = B & { page: Listed };
export type ExplorerObject = Paged<ObjectBody>;
export type ExplorerDominators = Pick<Paged<DominatorsBody>, "children" | "page">;
export type ExplorerPaths = {
  object: Pick<PathAnswer, "path" | "independentReferrers" | "freedByCuttingAll" | "cut">;
};
export type ExplorerSites = Paged<SitesBody>;

export interface FoundRow extends InstanceRow {
  className: string;
}

/** Where a class is in the source. */
export interface SourceRow {
  className: string;
  /** As the heap or the source map names it: a path, a URL, or a name such as `~lib/map.ts`. */
  file: string;
  /** Of its constructor, from 1; null if only the file is known. */
  line: number | null;
}

/** A line that allocates. */
export type AllocatingLine = Pick<SiteRow, "function" | "file" | "line">;

/** Parameters and answer of each method. */
export interface Methods {
  status: { request: Record<string, never>; answer: Status };
  /** Takes a dump of the running program. Only if `canTake` says so. */
  take: {
    request: Record<string, never>;
    /** The name of the file, and what may be wrong with the dump. */
    answer: { name: string; warnings: string[] };
  };
  /** The data of a report, as in its file. */
  report: { request: { heap: string; before?: string | null }; answer: unknown };
  classes: {
    request: WantedClasses & { heap: string };
    answer: ServedClasses & { page: Listed };
  };
  instances: { request: InstancesRequest; answer: InstancesAnswer };
  find: {
    /** `strings` leaves out containers. */
    request: Omit<FindOptions, "before" | keyof PageRequest> &
      PageRequest & { heap: string; before?: string | null; strings?: boolean };
    answer: Pick<FindAnswer, "where" | "sum"> & {
      /** The number of objects, listed or not. */
      found: number;
      objects: FoundRow[];
      /** In place of objects. The texts of strings are in quotes. */
      groups?: FoundGroup[];
      page: Listed;
    };
  };
  object: { request: ObjectRequest & { heap: string }; answer: ExplorerObject };
  paths: { request: { heap: string; address: string }; answer: ExplorerPaths };
  dominators: {
    request: PageRequest & { heap: string; address?: string; by?: "object" | "class" };
    answer: ExplorerDominators;
  };
  /** Of the dump that has a profile. */
  sites: { request: { heap: string }; answer: ExplorerSites };
  /** The line that allocated an object of the dump that has a profile; null if the profiler did not sample it. */
  line: { request: { heap: string; address: number }; answer: { line: AllocatingLine | null } };
  /** The live classes whose file is known, in the order of `classes`. */
  sources: {
    request: PageRequest & { heap: string };
    answer: { rows: SourceRow[]; page: Listed };
  };
  growth: {
    request: PageRequest & { warmup?: number };
    answer: Pick<GrowthAnswer, "dumps" | "places" | "undecided" | "perInterval"> & { page: Listed };
  };
}

export type Method = keyof Methods;
