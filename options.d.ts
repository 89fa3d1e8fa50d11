/** Options of the questions about loaded heaps, of their comparison over time, and of exports. */
// Written by `just generate` from the types of the engine: change those.
import type { Category } from "./answers.js";
import type { Heap, StreamOptions } from "./heap.js";
import type { Bytes } from "./index.js";

/** The part of a list that an answer contains. */
export type PageOptions = Pick<WasteOptions, "limit" | "offset">;

/** The live objects to find. An object must meet all conditions. */
export interface FindOptions {
  /** A class name, in which `*` stands for any text and `?` for one character. */
  class?: string | null | undefined;
  /**
   * An expression of CEL over one object, such as `open == false`: only objects for which it is true.
   * `docs/find-a-leak.md#which-objects-conditions` describes it.
   */
  where?: string | null | undefined;
  /** Lists no objects: only their number. */
  count?: boolean | null | undefined;
  /**
   * Adds up a size. What one object retains of another one counts once.
   * - `shallow`: Its own.
   * - `retained`: With everything that only it keeps alive.
   */
  sum?: "shallow" | "retained" | null | undefined;
  /** An expression of CEL. In place of the objects, the answer lists groups of objects by its value. */
  groupBy?: string | null | undefined;
  /** An earlier heap of the same module, for `isNew` in expressions. */
  before?: Heap | null | undefined;
  /** The least retained size in bytes. */
  minSize?: number | null | undefined;
  /**
   * A text. Found are strings that contain it, and containers that have such a string, or an object of the class of
   * this name, as a key or a value.
   */
  contains?: string | null | undefined;
  /** Only the objects at the place with this fingerprint, which `growth`, `check` and `paths` name. */
  place?: string | null | undefined;
  /** Of a heap snapshot of V8: only what objects of this category alone keep alive, and these themselves. */
  category?: Category | null | undefined;
  /**
   * The order of the objects: `retained` (default) and `shallow` by this size ↓, `count` by the number of found
   * objects of their class ↓, `name` by their class ↑; then by retained size. Of groups: `count` by the number of
   * objects ↓, `name` by the value ↑, the others by the sum, which the option `sum` must ask for.
   */
  sort?: "shallow" | "retained" | "count" | "name" | null | undefined;
  /** How many entries to list: a whole number ≥ 1 (default: 20). */
  limit?: number | null | undefined;
  /** How many entries to leave out before the first (default: 0). */
  offset?: number | null | undefined;
}

/** The page of a container's entries that {@link Heap.object} lists. */
export interface ObjectOptions {
  /** How many entries to list: a whole number from 1 to 1000. Without it, none are. */
  entries?: number | null | undefined;
  /** How many entries to leave out before the first: a whole number ≥ 0 (default: 0). Needs `entries`. */
  offset?: number | null | undefined;
}

/** The part of the references that {@link Heap.referrers} lists. */
export interface ReferrersOptions {
  /** How many entries to list: a whole number ≥ 1 (default: 20). */
  limit?: number | null | undefined;
  /** How many entries to leave out before the first (default: 0). */
  offset?: number | null | undefined;
}

/** The length of the lists in an answer about paths. */
export interface PathsOptions {
  /** How many branches, or independent references, to list: a whole number ≥ 1 (default: 20). */
  limit?: number | null | undefined;
}

/** The objects whose dominated objects are wanted. */
export interface DominatorsOptions {
  /** The address of an object (default: the whole heap). */
  address?: number | null | undefined;
  /** `class` to group the objects by class. */
  by?: "class" | null | undefined;
  /** How many entries to list: a whole number ≥ 1 (default: 20). */
  limit?: number | null | undefined;
  /** How many entries to leave out before the first (default: 0). */
  offset?: number | null | undefined;
}

/** Which objects and classes are suspects. */
export interface SuspectsOptions {
  /**
   * The least part of the live bytes that a suspect retains: above 0 and at most 1 (default: 0.1; with an earlier heap
   * 0.02).
   */
  threshold?: number | null | undefined;
  /** How many suspects to list: a whole number ≥ 1 (default: 20). */
  limit?: number | null | undefined;
  /** An earlier heap, of the same build or another. With it, suspects are objects and classes that grew. */
  before?: Heap | null | undefined;
}

/** The part of the groups of each kind that {@link Heap.waste} lists. */
export interface WasteOptions {
  /** How many entries to list: a whole number ≥ 1 (default: 20). */
  limit?: number | null | undefined;
  /** How many entries to leave out before the first (default: 0). */
  offset?: number | null | undefined;
}

/** The length of the lists in an answer about unreachable memory. */
export interface UnreachableOptions {
  /**
   * The largest number of nodes in the graph: a whole number ≥ 1 (default: no graph). The graph has at most 16 edges
   * per node; if there are more, a warning says how many are left out.
   */
  maxNodes?: number | null | undefined;
  /** How many entries to list of each kind: a whole number ≥ 1 (default: 20). */
  limit?: number | null | undefined;
}

/** How growth is looked for. */
export interface GrowthOptions {
  /** The number of dumps to ignore at the start, while caches fill: a whole number ≥ 0 (default: 0). */
  warmup?: number | null | undefined;
  /**
   * Whether a place also counts as growing if it never falls, and rises in every two intervals, as with a leak of one
   * object every second round (default: false). This causes more false alarms.
   */
  slow?: boolean | null | undefined;
  /** Whether places that may have stopped growing count as growing (default: false). See `UndecidedPlace`. */
  strict?: boolean | null | undefined;
  /** How many entries to list: a whole number ≥ 1 (default: 20). */
  limit?: number | null | undefined;
  /** How many entries to leave out before the first (default: 0). */
  offset?: number | null | undefined;
}

/** The rules of a check. */
export interface CheckOptions {
  /** The number of dumps to ignore at the start, while caches fill: a whole number ≥ 0 (default: 0). */
  warmup?: number | null | undefined;
  /**
   * Whether a place also counts as growing if it never falls, and rises in every two intervals, as with a leak of one
   * object every second round (default: false). This causes more false alarms.
   */
  slow?: boolean | null | undefined;
  /** Whether places that may have stopped growing count as growing (default: false). See `UndecidedPlace`. */
  strict?: boolean | null | undefined;
  /**
   * The number of dumps after the warm-up that the default rule (no place grows) needs: a whole number ≥ 2 (default:
   * 8).
   */
  minDumps?: number | null | undefined;
  /** Whether to leave out the default rule (default: false). */
  noDefault?: boolean | null | undefined;
  /** The largest growth of the live bytes from the first dump to the last: bytes, or a percentage as in `"5%"`. */
  maxGrowth?: number | `${number}%` | null | undefined;
  /** The largest number of live bytes of each dump. */
  maxLive?: number | null | undefined;
  /** The largest number of live objects of each dump, by class name with `*` and `?`. */
  max?: Record<string, number> | null | undefined;
  /** Classes, with `*` and `?`, of which the last dump may not have more live objects than the first. */
  noGrowth?: string[] | null | undefined;
  /** Places that may grow. Nothing is folded into them. */
  accepted?: AcceptedPlace[] | null | undefined;
}

/** A place that may grow: its path or its fingerprint. A place without a path has only a fingerprint. */
export interface AcceptedPlace {
  /** Its path as text. */
  path?: string | null | undefined;
  /** Its fingerprint, for a place that has no path; with a path it does not matter. */
  fingerprint?: string | null | undefined;
  /** The largest number of objects in the last dump (default: any number). */
  limit?: number | null | undefined;
}

/** Chrome's heap snapshot, which DevTools and memlab read. */
export interface HeapSnapshotOptions extends StreamOptions {
  /** Name strings by what they contain, and map entries by their keys (default: true). */
  strings?: boolean | null | undefined;
  /** Add garbage, in a group of its own (default: false). */
  all?: boolean | null | undefined;
}

/** What grew since an earlier heap, as a line of JSON each. */
export interface HeapDiffOptions extends StreamOptions {
  /** The earlier heap. */
  before: Heap;
  /** How many new objects of each class that grew to show with their paths: a whole number ≥ 0 (default: 10). */
  samples?: number | null | undefined;
}

/** A table of Apache Parquet, for questions about many dumps. */
export interface ParquetOptions extends StreamOptions {
  /**
   * The table. `object`, `edge` and `field` have a row for each object, reference and field; the others stay small.
   * - `dump`: One row: where the dump is from, its totals, its warnings.
   * - `class`: A row for each class with live objects.
   * - `path`: A row for each path on which live objects are.
   * - `suspect`: A row for each suspect.
   * - `waste`: A row for each group of objects that waste memory in the same way.
   */
  table: "dump" | "class" | "path" | "suspect" | "waste" | "object" | "edge" | "field";
  /** The SHA-256 of the dump file: 64 hexadecimal digits, the first column of every table. */
  dumpId: string;
  /** The SHA-256 of the module file: 64 hexadecimal digits. A dump needs it; a heap snapshot of V8 has none. */
  moduleId?: string | null | undefined;
  /** When the dump was taken. The engine reads it in milliseconds since 1970. */
  capturedAt: Date;
  /** The size of the dump file in bytes. */
  dumpSize: number;
  /** Where the dump is (default: an empty text). */
  source?: string | null | undefined;
  /** What is known of the process, such as its service, release and machine (default: nothing). */
  labels?: Record<string, string> | null | undefined;
  /** Show the beginnings of strings (default: false). */
  strings?: boolean | null | undefined;
  /** Replace the names of classes, fields, variables and globals by hashes (default: false). */
  hashNames?: boolean | null | undefined;
}

/** The cases in which an analysis continues with a warning instead of an error. */
export interface AnalysisOptions {
  /** Continue although the dump was not taken from the module: every number and name may be wrong. */
  force?: boolean | null | undefined;
  /** If the heap is damaged, report the part before the damage. The result is then `partial`. */
  partial?: boolean | null | undefined;
  /** The dump is raw memory: the bytes of the memory and nothing else. */
  raw?: boolean | null | undefined;
  /** Of raw memory: the values of mutable i32 globals by name or index. Those that are missing cause a warning. */
  globals?: Record<string, number> | null | undefined;
  /** Of a coredump with several instances of the module: the number of the one to read, from 0. */
  coredumpInstance?: number | null | undefined;
  /**
   * Of a program of C, C++, Rust or Zig: pointers that the host held when the dump was taken, as a list or by name.
   * They are roots. A dump can also have them (`hostRoots` of `writeDump`).
   */
  hostRoots?: readonly number[] | Record<string, number> | null | undefined;
}

/** The order and the length of the lists in a constructor view. */
export interface AnalyzeOptions extends AnalysisOptions {
  /**
   * `retained` (default), `retained-set`, `shallow` or `count`, largest first. Ties are broken by the other numbers
   * and the name.
   */
  sort?: "retained" | "retained-set" | "shallow" | "count" | null | undefined;
  /** List only the first rows (a whole number ≥ 1). Totals still cover all rows. */
  top?: number | null | undefined;
  /**
   * List only the first instances of each row (a whole number ≥ 0; default: all). Sums still cover all instances.
   */
  instances?: number | null | undefined;
  /** Compute {@link ConstructorRow.retainedSetSize}. Views of a loaded heap compute it when it is read. */
  retainedSet?: boolean | null | undefined;
}

/** The order and the length of the lists in a comparison view. */
export interface DiffOptions extends AnalysisOptions {
  /** `delta` (default), `alloc`, `freed` or `count`. */
  sort?: "delta" | "alloc" | "freed" | "count" | null | undefined;
  /** List only the first rows (a whole number ≥ 1). Totals still cover all rows. */
  top?: number | null | undefined;
  /**
   * List only the first instances of each row (a whole number ≥ 0; default: all). Sums still cover all instances.
   */
  instances?: number | null | undefined;
}

/** Options of opening a heap. */
export interface OpenOptions extends AnalysisOptions {
  /**
   * Build the indexes of all questions now, in parallel, and for a dump partly while it is analyzed. This takes less
   * time than {@link Heap.prepare} afterwards. Otherwise the first question that needs an index builds it.
   */
  prepare?: boolean | null | undefined;
  /**
   * The most bytes that the contents of a compressed file, or the memory of a coredump, may have; with a host, those
   * of all files together.
   */
  memoryLimit?: number | null | undefined;
  /**
   * With a host: fields that have an index into an array of JavaScript, as `assembly/index/Item.id=host.slots`. The
   * references of the array to what live objects have by index are left out, so that a cycle across the border shows.
   */
  slots?: string[] | null | undefined;
  /**
   * A heap profile of the same moment with the interval 1, of a program whose blocks it can name: answers then say
   * which line allocated an object (`allocatedAt`), and how many bytes it asked for.
   */
  profile?: Bytes | null | undefined;
}

/** What a host has of the same moment: its bytes, or the path of its file. */
export interface HostInputs<Input> {
  /**
   * The heap snapshot of the host, of the same moment. Both heaps become one: the addresses of objects of JavaScript
   * are their ids plus 2³¹.
   */
  host?: Input | null | undefined;
  /**
   * The numbers that the heap snapshot does not show, as a capture of both heaps writes them. Of files, without this
   * option, the `x.numbers.json` beside `x.heapsnapshot` is read, if there is one.
   */
  numbers?: Input | null | undefined;
  /**
   * Who pinned what, as `register` records it with `HEAP_HANDLES`. Of files, without this option, the `x.handles.json`
   * beside `x.dump` is read, if there is one.
   */
  handles?: Input | null | undefined;
}

/** What only opening from files has. */
export interface FileOptions {
  /**
   * Files that are open already, as from {@link openBeneath}: they are read instead of what is at the paths now. They
   * must stay open until the heap is. A later question reads the dump at its path, and fails with `ERR_DUMP_CHANGED`
   * if that is another file by then. On Windows, the files at the paths are read.
   */
  descriptors?: { dump: number; wasm?: number | null | undefined; host?: number | null | undefined; numbers?: number | null | undefined; handles?: number | null | undefined } | null | undefined;
}
