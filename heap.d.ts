/** Loaded heaps: a heap is opened once and answers any number of questions. */
// @ts-ignore: where the types of Node are not installed, streams are `any`.
import type { Readable } from "node:stream";
import type {
  CheckAnswer,
  DominatorGroupsAnswer,
  DominatorsAnswer,
  FindAnswer,
  GrowthAnswer,
  MergedPathsAnswer,
  ObjectAnswer,
  PathAnswer,
  ReferrersAnswer,
  SiteGrowthAnswer,
  SitesAnswer,
  SummaryAnswer,
  SuspectsAnswer,
  WasteAnswer,
  UnreachableAnswer,
  UnreachableGraph,
} from "./answers.js";
import type {
  Accounting,
  AsyncOptions,
  Bytes,
  ComparisonView,
  ConstructorView,
  FilePath,
  Warning,
} from "./index.js";
import type {
  AnalysisOptions,
  AnalyzeOptions,
  CheckOptions,
  DiffOptions,
  DominatorsOptions,
  FileOptions,
  FindOptions,
  GrowthOptions,
  HeapDiffOptions,
  HeapSnapshotOptions,
  HostInputs,
  ObjectOptions,
  OpenOptions,
  PageOptions,
  ParquetOptions,
  PathsOptions,
  ReferrersOptions,
  SuspectsOptions,
  UnreachableOptions,
  WasteOptions,
} from "./options.js";

/** Options of opening a heap from bytes. */
export interface OpenBytesOptions extends OpenOptions, HostInputs<Bytes> {}

/** Options of opening a heap from files. */
export interface OpenFileOptions extends OpenOptions, HostInputs<FilePath>, FileOptions {}

/** Options of opening a heap from files asynchronously. */
export interface OpenFileAsyncOptions extends OpenFileOptions, OpenWatchOptions {}

/** Options of opening a heap asynchronously. */
export interface OpenAsyncOptions extends OpenBytesOptions, OpenWatchOptions {}

/** What is watched while a heap is opened. */
export interface OpenWatchOptions extends AsyncOptions {
  /**
   * Called once, with the live objects by class: as soon as these are known, before retained sizes are. If it
   * fails, the call rejects as for {@link AsyncOptions.onProgress}.
   */
  onClasses?: ((classes: ClassCount[]) => unknown) | null | undefined;
}

/** The live objects of one class, in the order shallow size ↓, count ↓, name ↑. */
export interface ClassCount {
  className: string;
  count: number;
  /** The sum of their shallow sizes in bytes. */
  shallowSize: number;
}

/** Options of a constructor view of a loaded heap. */
export type ConstructorOptions = Omit<AnalyzeOptions, keyof AnalysisOptions | "retainedSet">;

/** Options of a comparison view of two loaded heaps. */
export type ComparisonOptions = Omit<DiffOptions, keyof AnalysisOptions>;

/** The profile that {@link Heap.sites} reads, and the part of its lines. */
export interface SitesOptions extends PageOptions {
  /** Of a dump: the heap profile of the same moment (`heap.pb.gz`). */
  profile?: Bytes | undefined;
  before?: undefined;
}

/** Two moments of a run for {@link Heap.sites}. */
export interface SiteGrowthOptions extends PageOptions {
  /** The heap of the earlier moment. */
  before: Heap;
  /** Of dumps: the heap profiles of both moments. */
  profile?: Bytes | undefined;
  beforeProfile?: Bytes | undefined;
}

/** The set of objects whose paths are wanted. */
export type PathsTarget =
  /** The live objects of a class; `*` and `?` as in {@link FindOptions.class}. */
  | { class: string; objects?: undefined; newSince?: undefined }
  /** The live objects that an earlier heap of the same module does not have. */
  | { newSince: Heap; class?: undefined; objects?: undefined };

/** What a report shows. */
export interface ReportOptions {
  /** An earlier heap of the same module, to compare with. */
  before?: Heap | null | undefined;
  /** Show the contents of strings, and the keys of maps (default: true). */
  strings?: boolean | null | undefined;
}

/** How an export is stopped. */
export interface StreamOptions {
  /** Destroys the stream, which emits an `AbortError`, and stops the work. */
  signal?: AbortSignal | null | undefined;
}

/**
 * A heap that was opened by `openHeap`, `openHeapFile` or their asynchronous forms.
 *
 * An object is given by its address. An address inside an object stands for that object, and a warning in
 * the answer says so. Every method throws `ERR_HEAP_CLOSED` after {@link close}, `ERR_NO_OBJECT` for an
 * address without an object, `ERR_UNKNOWN_CLASS` for a class that no live object has, `ERR_WHERE` for an
 * expression that does not compile, and
 * `ERR_DUMP_CHANGED` if the dump file was changed or replaced after it was opened. The methods with `Async`
 * in their name do the same on another thread.
 */
export declare class Heap {
  private constructor();
  /** What every byte of the heap is used for. Null for a heap snapshot of V8, which does not say it. */
  readonly accounting: Accounting | null;
  /** The reasons why numbers may be wrong; empty if there are none. */
  readonly warnings: Warning[];
  /** Whether the heap is damaged and only the part before the damage was read. */
  readonly partial: boolean;
  /** The bytes of memory that the heap and its indexes take now. A heap opened from bytes includes its copy of them. */
  readonly memorySize: number;

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

  /** Everything about one object; with `entries`, also a page of what it holds if it is a container. */
  object(address: number, options?: ObjectOptions | null): ObjectAnswer;
  objectAsync(address: number, options?: (ObjectOptions & AsyncOptions) | null): Promise<ObjectAnswer>;

  /**
   * Which lines of source allocated what is alive: of a dump, by a profile of the same moment; of a heap snapshot of V8, by
   * the allocations that V8 tracked. `ERR_PROFILE` if the profile is of another moment or run, or is missing.
   */
  sites(options?: SitesOptions | null): SitesAnswer;
  /** Which lines' live objects became more since an earlier moment of the same run. */
  sites(options: SiteGrowthOptions): SiteGrowthAnswer;
  sitesAsync(options?: (SitesOptions & AsyncOptions) | null): Promise<SitesAnswer>;
  sitesAsync(options: SiteGrowthOptions & AsyncOptions): Promise<SiteGrowthAnswer>;

  /** The references to an object. */
  referrers(address: number, options?: ReferrersOptions | null): ReferrersAnswer;
  referrersAsync(address: number, options?: ReferrersOptions & AsyncOptions | null): Promise<ReferrersAnswer>;

  /** Why an object is alive, and which reference to cut. */
  paths(address: number, options?: PathsOptions | null): PathAnswer;
  /** Why a set of objects is alive: their paths, merged. */
  paths(target: PathsTarget, options?: PathsOptions | null): MergedPathsAnswer;
  /** The same for the objects at these addresses. One address gives the answer for one object. */
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

  /** The objects that an object immediately dominates; without an address, the objects that no other object dominates. */
  dominators(options?: DominatorsOptions & { by?: undefined } | null): DominatorsAnswer;
  dominators(options: DominatorsOptions & { by: "class" }): DominatorGroupsAnswer;
  dominatorsAsync(
    options?: DominatorsOptions & AsyncOptions & { by?: undefined } | null,
  ): Promise<DominatorsAnswer>;
  dominatorsAsync(
    options: DominatorsOptions & AsyncOptions & { by: "class" },
  ): Promise<DominatorGroupsAnswer>;

  /** What retains the most, or with an earlier heap what grew the most. Each suspect has a text for a ticket. */
  suspects(options?: SuspectsOptions | null): SuspectsAnswer;
  suspectsAsync(options?: SuspectsOptions & AsyncOptions | null): Promise<SuspectsAnswer>;

  /** Unreachable memory: garbage by class, its cycles, and raw blocks to which nothing refers. */
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
  /** A table of Apache Parquet, version 1 of the schema in examples/fleet/README.md, for questions about many dumps. */
  export(format: "parquet", options: ParquetOptions): Readable;

  /**
   * Memory that could be saved: duplicates, empty containers, unused room. `limit` and `offset` apply to the
   * groups of each kind; `limit` also applies to the holders of each group.
   */
  waste(options?: WasteOptions | null): WasteAnswer;
  wasteAsync(options?: WasteOptions & AsyncOptions | null): Promise<WasteAnswer>;

  /**
   * The number and the contents of the objects at each place of the program, as a small value for
   * {@link growth} and {@link check}. It stays usable after {@link close}.
   */
  placeTable(): PlaceTable;
  placeTableAsync(options?: AsyncOptions | null): Promise<PlaceTable>;

  /**
   * Everything about the heap as one HTML page, below 1 MB whatever the heap: the text of a file that loads
   * nothing. It contains names of classes and the beginnings of strings. A heap of another module is refused
   * (`ERR_MODULE_MISMATCH`).
   */
  report(options?: ReportOptions | null): string;
  reportAsync(options?: ReportOptions & AsyncOptions | null): Promise<string>;

  /**
   * Builds the indexes of all questions, in parallel, as {@link OpenOptions.prepare} does. A question that is asked
   * meanwhile waits only for the indexes that it needs.
   */
  prepare(): void;
  prepareAsync(options?: AsyncOptions | null): Promise<void>;

  /**
   * Releases the heap. Asynchronous questions that are not answered yet are aborted, and reject with
   * `ERR_HEAP_CLOSED`. If `close` is not called, the garbage collector releases the heap, but not during a
   * synchronous loop.
   */
  close(): void;
  /** The same as {@link close}, for `using`. */
  [Symbol.dispose](): void;
}

/**
 * The number of objects at each place of a program in one heap, and the bytes that they contain. It does not
 * keep the heap in memory: create one per round, close the heap, and compare the tables with {@link growth}.
 */
export declare class PlaceTable {
  private constructor();
  /** Reads a table that {@link toBytes} of this version has written; `ERR_PLACE_TABLE` for other bytes. */
  static fromBytes(bytes: Bytes): PlaceTable;
  /** The name of the dump: its path, or `dump`. */
  readonly name: string;
  /** The bytes of all live objects. */
  readonly totalLiveSize: number;
  /** The table as bytes, for a file or another process. */
  toBytes(): Uint8Array;
}

/**
 * The places that grow from heap to heap. Takes at least two heaps in the order in which they were taken, of
 * one build or of several. A place grows if, in every interval, the number of its objects rises, or their
 * bytes rise while their number stays the same.
 */
export function growth(
  heaps: Iterable<Heap | PlaceTable>,
  options?: GrowthOptions | null,
): GrowthAnswer;
/** The same as {@link growth}, on another thread. */
export function growthAsync(
  heaps: Iterable<Heap | PlaceTable>,
  options?: GrowthOptions & AsyncOptions | null,
): Promise<GrowthAnswer>;
/**
 * Checks rules for heaps in the order in which they were taken. Throws `ERR_TOO_FEW_DUMPS` if there are too
 * few heaps for the default rule and there is no budget, and `ERR_UNKNOWN_CLASS` for a class that no heap
 * has.
 */
export function check(heaps: Iterable<Heap | PlaceTable>, options?: CheckOptions | null): CheckAnswer;
/** The same as {@link check}, on another thread. */
export function checkAsync(
  heaps: Iterable<Heap | PlaceTable>,
  options?: CheckOptions & AsyncOptions | null,
): Promise<CheckAnswer>;

/**
 * Opens a heap from bytes, and keeps a copy of the dump. A dump needs its module; a heap snapshot of V8 (`.heapsnapshot`)
 * needs none, but a module gives its objects of WasmGC names.
 */
export function openHeap(
  dump: Bytes,
  wasm?: Bytes | null,
  options?: OpenBytesOptions | null,
): Heap;
/** The same as {@link openHeap}, on another thread. */
export function openHeapAsync(
  dump: Bytes,
  wasm?: Bytes | null,
  options?: OpenAsyncOptions | null,
): Promise<Heap>;
/**
 * The same as {@link openHeap}, from files. The dump is not kept in memory: questions about contents read
 * the file again, and throw `ERR_DUMP_CHANGED` if it was changed or replaced.
 */
export function openHeapFile(
  dump: FilePath,
  wasm?: FilePath | null,
  options?: OpenFileOptions | null,
): Heap;
/** The same as {@link openHeapFile}, on another thread. */
export function openHeapFileAsync(
  dump: FilePath,
  wasm?: FilePath | null,
  options?: OpenFileAsyncOptions | null,
): Promise<Heap>;
/**
 * Opens a file for reading, and returns its descriptor, which the caller closes. The file lies below the folder: no part
 * of `path` is a link or `..`. On Linux and macOS this holds while other processes replace folders by links; on Windows,
 * the path is checked before and after the file is opened. Throws `ERR_IO` with the error of the system as its cause, such
 * as `ENOENT`, or `ENOTDIR` or `ELOOP` for a link.
 */
export function openBeneath(folder: string, path: string): number;
