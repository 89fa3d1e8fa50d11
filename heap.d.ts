/** Loaded heaps: opened once, asked many times. */
import type { Readable } from "node:stream";
import type {
  DominatorGroupsAnswer,
  DominatorsAnswer,
  FindAnswer,
  MergedPathsAnswer,
  ObjectAnswer,
  PathAnswer,
  ReferrersAnswer,
  SummaryAnswer,
  SuspectsAnswer,
  WasteAnswer,
  UnreachableAnswer,
  UnreachableGraph,
} from "./answers.js";
import type {
  Accounting,
  AnalysisOptions,
  AnalyzeOptions,
  AsyncOptions,
  ComparisonView,
  ConstructorView,
  DiffOptions,
  FilePath,
  Warning,
} from "./index.js";

/** How a heap is opened. */
export interface OpenOptions extends AnalysisOptions {
  /** Build all indexes that questions need at once, in parallel. Otherwise the first question that needs one builds it. */
  prepare?: boolean | null | undefined;
}

/** What a constructor view of a loaded heap holds. */
export type ConstructorOptions = Omit<AnalyzeOptions, keyof AnalysisOptions | "retainedSet">;

/** What a comparison view of two loaded heaps holds. */
export type ComparisonOptions = Omit<DiffOptions, keyof AnalysisOptions>;

/** Which part of a list an answer holds. */
export interface PageOptions {
  /** How many entries to list: a whole number ≥ 1 (default: 20). */
  limit?: number | null | undefined;
  /** How many entries to leave out before the first (default: 0). */
  offset?: number | null | undefined;
}

/** Which live objects to find; all conditions must hold. */
export interface FindOptions extends PageOptions {
  /** A class name, in which `*` stands for any text and `?` for one character. */
  class?: string | null | undefined;
  /** The least retained size in bytes. */
  minSize?: number | null | undefined;
  /** A text that the object, a string, must contain. */
  contains?: string | null | undefined;
}

/** Which set of objects a question about paths is about. */
export type PathsTarget =
  /** The live objects of a class; `*` and `?` as in {@link FindOptions.class}. */
  | { class: string; objects?: undefined; newSince?: undefined }
  /** The live objects that an earlier heap of the same module does not have. */
  | { newSince: Heap; class?: undefined; objects?: undefined };

/** How much of an answer about paths is listed. */
export interface PathsOptions {
  /** How many branches, or independent references, to list: a whole number ≥ 1 (default: 20). */
  limit?: number | null | undefined;
}

/** What a question about dominators is about. */
export interface DominatorsOptions extends PageOptions {
  /** An object; the whole heap without. */
  address?: number | null | undefined;
  /** `class` to group the objects by class. */
  by?: "class" | null | undefined;
}

/** What counts as a suspect. */
export interface SuspectsOptions {
  /** An earlier heap, of the same build or another: suspects are then what grew. */
  before?: Heap | null | undefined;
  /** The least part of the live bytes, above 0 and at most 1 (default: 0.1; with an earlier heap 0.02). */
  threshold?: number | null | undefined;
  /** How many suspects to list: a whole number ≥ 1 (default: 20). */
  limit?: number | null | undefined;
}

/** How much of an answer about unreachable memory is listed. */
export interface UnreachableOptions {
  /**
   * The number of nodes that the graph has at most: a whole number ≥ 1 (default: no graph). The graph has
   * at most 16 edges per node; if it has no room for more, a warning says how many are left out.
   */
  maxNodes?: number | null | undefined;
  /** How many entries to list of each kind: a whole number ≥ 1 (default: 20). */
  limit?: number | null | undefined;
}

/** What a report shows. */
export interface ReportOptions {
  /** An earlier heap of the same module, to compare with. */
  before?: Heap | null | undefined;
}

/** How an export is stopped. */
export interface StreamOptions {
  /** Destroys the stream, which emits an `AbortError`, and stops the work. */
  signal?: AbortSignal | null | undefined;
}

/** What a heap snapshot of Chrome's format shows. */
export interface HeapSnapshotOptions extends StreamOptions {
  /** Name strings by what they contain, and map entries by their keys (default: true). */
  strings?: boolean | null | undefined;
  /** Add garbage, in a group of its own (default: false). */
  all?: boolean | null | undefined;
}

/** What a comparison as heap-diff shows. */
export interface HeapDiffOptions extends StreamOptions {
  /** The earlier heap. */
  before: Heap;
  /** How many new objects of each class that grew to show with their paths: a whole number ≥ 0 (default: 10). */
  samples?: number | null | undefined;
}

/**
 * A heap that was opened by `openHeap`, `openHeapFile` or their asynchronous forms.
 *
 * Objects are named by their address; an address inside an object means that object, and the answer's
 * warnings say so. Every method throws `ERR_HEAP_CLOSED` after {@link close}, `ERR_NO_OBJECT` for an
 * address without an object, `ERR_UNKNOWN_CLASS` for a class that no live object has, and
 * `ERR_DUMP_CHANGED` if the dump file was changed or replaced since. The methods with `Async` in their name
 * do the same off the event loop.
 */
export declare class Heap {
  private constructor();
  /** Where every byte of the heap is. */
  readonly accounting: Accounting;
  /** What may make a number wrong. */
  readonly warnings: Warning[];
  /** Whether the heap is damaged and only what lies before the damage was read. */
  readonly partial: boolean;

  /** The constructor view. It stays usable after {@link close}, and keeps the memory of the heap until it is closed itself. */
  constructors(options?: ConstructorOptions | null): ConstructorView;
  constructorsAsync(options?: ConstructorOptions & AsyncOptions | null): Promise<ConstructorView>;
  /** The comparison view with an earlier heap; each warning names its dump. Heaps of different modules are refused (`ERR_MODULE_MISMATCH`). */
  compareWith(before: Heap, options?: ComparisonOptions | null): ComparisonView;
  compareWithAsync(before: Heap, options?: ComparisonOptions & AsyncOptions | null): Promise<ComparisonView>;

  /** Totals: bytes, objects, classes, roots. */
  summary(): SummaryAnswer;

  /** Live objects by class, size and contents: retained size ↓, shallow size ↓, address ↑. */
  find(options?: FindOptions | null): FindAnswer;
  findAsync(options?: FindOptions & AsyncOptions | null): Promise<FindAnswer>;

  /** Everything about one object. */
  object(address: number): ObjectAnswer;
  objectAsync(address: number, options?: AsyncOptions | null): Promise<ObjectAnswer>;

  /** The references to an object. */
  referrers(address: number, options?: PageOptions | null): ReferrersAnswer;
  referrersAsync(address: number, options?: PageOptions & AsyncOptions | null): Promise<ReferrersAnswer>;

  /** Why an object is alive, and what to cut. */
  paths(address: number, options?: PathsOptions | null): PathAnswer;
  /** Why a set of objects is alive: their paths, merged. */
  paths(target: PathsTarget, options?: PathsOptions | null): MergedPathsAnswer;
  /** The same for the objects at these addresses. For one address the answer is that for this object. */
  paths(target: { objects: number[] }, options?: PathsOptions | null): PathAnswer | MergedPathsAnswer;
  pathsAsync(address: number, options?: PathsOptions & AsyncOptions | null): Promise<PathAnswer>;
  pathsAsync(
    target: PathsTarget,
    options?: PathsOptions & AsyncOptions | null,
  ): Promise<MergedPathsAnswer>;
  pathsAsync(
    target: { objects: number[] },
    options?: PathsOptions & AsyncOptions | null,
  ): Promise<PathAnswer | MergedPathsAnswer>;

  /** What an object, or the whole heap, dominates immediately. */
  dominators(options?: DominatorsOptions & { by?: undefined } | null): DominatorsAnswer;
  dominators(options: DominatorsOptions & { by: "class" }): DominatorGroupsAnswer;
  dominatorsAsync(
    options?: DominatorsOptions & AsyncOptions & { by?: undefined } | null,
  ): Promise<DominatorsAnswer>;
  dominatorsAsync(
    options: DominatorsOptions & AsyncOptions & { by: "class" },
  ): Promise<DominatorGroupsAnswer>;

  /** What retains the most, or with an earlier heap what grew the most, each as a paragraph for a ticket. */
  suspects(options?: SuspectsOptions | null): SuspectsAnswer;
  suspectsAsync(options?: SuspectsOptions & AsyncOptions | null): Promise<SuspectsAnswer>;

  /** What no root reaches: garbage by class, its cycles, and raw blocks to which nothing refers. */
  unreachable(
    options: UnreachableOptions & { maxNodes: number },
  ): UnreachableAnswer & UnreachableGraph;
  unreachable(options?: UnreachableOptions | null): UnreachableAnswer;
  unreachableAsync(
    options: UnreachableOptions & AsyncOptions & { maxNodes: number },
  ): Promise<UnreachableAnswer & UnreachableGraph>;
  unreachableAsync(options?: UnreachableOptions & AsyncOptions | null): Promise<UnreachableAnswer>;

  /**
   * The heap in Chrome's format, which DevTools and memlab read, as a stream of bytes. It is made while it is
   * read. To destroy the stream stops the work; {@link close} makes it fail with `ERR_HEAP_CLOSED`.
   */
  export(format: "heapsnapshot", options?: HeapSnapshotOptions | null): Readable;
  /** The live objects by path as a profile of pprof (gzip), which speedscope reads too. */
  export(format: "pprof", options?: StreamOptions | null): Readable;
  /** What grew since an earlier heap of the same module, as heap-diff 0.1 (NDJSON). */
  export(format: "heap-diff", options: HeapDiffOptions): Readable;

  /**
   * What could be saved: duplicates, empty containers, unused room. The options say which groups of each kind
   * to list; `limit` is also that for the holders of a group.
   */
  waste(options?: PageOptions | null): WasteAnswer;
  wasteAsync(options?: PageOptions & AsyncOptions | null): Promise<WasteAnswer>;

  /**
   * Everything about the heap as one HTML page, below 1 MB whatever the heap: the text of a file that loads
   * nothing. It contains names of classes and the beginnings of strings. A heap of another module is refused
   * (`ERR_MODULE_MISMATCH`).
   */
  report(options?: ReportOptions | null): string;
  reportAsync(options?: ReportOptions & AsyncOptions | null): Promise<string>;

  /**
   * Releases the heap. Asynchronous questions that are not answered yet are aborted, and reject with
   * `ERR_HEAP_CLOSED`. Without a call, the garbage collector releases the heap, which a synchronous loop
   * delays.
   */
  close(): void;
  /** As {@link close}, for `using`. */
  [Symbol.dispose](): void;
}

/** Opens a heap from bytes, of which it keeps a copy. */
export function openHeap(dump: Uint8Array, wasm: Uint8Array, options?: OpenOptions | null): Heap;
/** As {@link openHeap}, off the event loop. */
export function openHeapAsync(
  dump: Uint8Array,
  wasm: Uint8Array,
  options?: OpenOptions & AsyncOptions | null,
): Promise<Heap>;
/**
 * As {@link openHeap}, from files. The dump is not kept: questions about contents read it again, and throw
 * `ERR_DUMP_CHANGED` if it is no longer the file that was opened.
 */
export function openHeapFile(dump: FilePath, wasm: FilePath, options?: OpenOptions | null): Heap;
/** As {@link openHeapFile}, off the event loop. */
export function openHeapFileAsync(
  dump: FilePath,
  wasm: FilePath,
  options?: OpenOptions & AsyncOptions | null,
): Promise<Heap>;
