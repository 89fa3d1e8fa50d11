/**
 * Answers of a loaded heap, as the methods of `Heap` return them and as the command line prints them with
 * `--format json`: the same keys in the same order, so equal answers are equal bytes.
 *
 * Sizes are in bytes, addresses are offsets in linear memory. Lists have a total order: size ↓, count ↓,
 * name ↑, address ↑ unless it is said otherwise.
 */
import type { Accounting, Warning } from "./index.js";

/** What every answer has. */
export interface Answer {
  /** The version of the shapes on this page. */
  schemaVersion: 1;
  /** Whether the heap is damaged and only what lies before the damage was read. */
  partial: boolean;
  /** What may make a number wrong; of both heaps, each with the name of its dump, if the answer compares two. */
  warnings: Warning[];
}

/** A part of a list. */
export interface Page {
  /** How many entries the whole list has. */
  total: number;
  /** How many entries are left out before the first one here. */
  offset: number;
  /** How many entries are listed at most. */
  limit: number;
}

/** An object by address and class. */
export interface ObjectName {
  address: number;
  className: string;
}

/** A place that the collector starts from. */
export interface Root {
  kind: "global" | "stack" | "pinned";
  /**
   * `assembly/server/prices` for a global variable or static field, the distance from the stack pointer
   * (`+16`) for a stack word, otherwise null.
   */
  name: string | null;
}

/** One step of a path: a reference, and the object that it leads to. */
export interface Step {
  /**
   * The reference: a field (`listeners`), an array element (`[42]`), a map value by its key
   * (`["user:17"]`), a container's own storage (`(buffer)`); without debug information the offset (`+8`).
   * Null for the first step.
   */
  label: string | null;
  /** The object; of a repeated step the last one. */
  address: number;
  className: string;
  shallowSize: number;
  retainedSize: number;
  /** How many references of this kind follow one another, as in a linked list; at least 1. */
  repeat: number;
}

/** The shortest way from a root to an object: from a global if there is one, else from the stack, else from a pin. */
export interface Path {
  root: Root;
  /** From the root's object to the object that was asked about. */
  steps: Step[];
  /** The path without indexes and keys: equal for objects that are held alike. */
  text: string;
  /** The first 12 hexadecimal digits of a SHA-256 of the text. */
  fingerprint: string;
  /** Whether all names in the text are from the source; only then do fingerprints of two builds compare. */
  stable: boolean;
}

/** A reference to an object. */
export interface Edge {
  /** The object that refers; null for a root. */
  address: number | null;
  /** Its class; null for a root. */
  className: string | null;
  /** The reference, as in {@link Step.label}; null for a root. */
  label: string | null;
  /** The root that refers; null for an object. */
  root: Root | null;
  /** Whether the object stays reachable over this reference when all others are cut. */
  independent: boolean;
}

/** A reference to cut. */
export interface Cut {
  /** The class of the object that refers; null for a root. */
  className: string | null;
  /** The reference; null for a root. */
  label: string | null;
  /** The root that refers; null for an object. */
  root: Root | null;
  /** The bytes that cutting it frees. */
  freed: number;
}

/** What is at an address: `raw` and `free` blocks hold no object and have no class. */
export type ObjectState = "live" | "garbage" | "static" | "raw" | "free";

/** A field of an object. */
export interface FieldValue {
  /** The name in the source, or the offset (`+8`). */
  name: string;
  /** The declared type; `?` if it is not known. */
  type: string;
  /** 64-bit integers, NaN and infinities are strings. Of a reference: a preview of the object. */
  value: number | string | boolean | null;
  /** The object that it refers to. */
  address: number | null;
  /** The class of that object. */
  className: string | null;
}

/** The answer to {@link Heap.summary}. */
export interface SummaryAnswer extends Answer {
  totalHeapSize: number;
  totalLiveSize: number;
  accounting: Accounting;
  /** Heap objects, live and not, and objects in static memory. */
  objects: { live: number; garbage: number; static: number };
  /** How many class names live heap objects have. */
  classes: number;
  /** Every global, stack word and pin that holds an object counts. */
  roots: { global: number; stack: number; pinned: number };
}

/** The answer to {@link Heap.find}. */
export interface FindAnswer extends Answer, Page {
  objects: FoundObject[];
}

/** An object that matches. */
export interface FoundObject extends ObjectName {
  shallowSize: number;
  retainedSize: number;
  /** Its contents, shortened. */
  preview: string | null;
}

/** The answer to {@link Heap.object}. */
export interface ObjectAnswer extends Answer {
  address: number;
  className: string | null;
  state: ObjectState;
  shallowSize: number;
  /** 0 if it is not live. */
  retainedSize: number;
  /** The nearest object on every path to it. */
  dominator: ObjectName | null;
  /** The roots that refer to it. */
  roots: Root[];
  /** Its contents, shortened. */
  preview: string | null;
  fields: FieldValue[];
  /** How many live references lead to it, without roots. */
  referrerCount: number;
  /** Null if no root reaches it. */
  path: Path | null;
}

/** The answer to {@link Heap.referrers}: roots first, then by address and label. */
export interface ReferrersAnswer extends Answer, Page {
  address: number;
  referrers: Edge[];
}

/** The answer to {@link Heap.paths} for one object. */
export interface PathAnswer extends Answer {
  address: number;
  className: string | null;
  state: ObjectState;
  shallowSize: number;
  retainedSize: number;
  path: Path | null;
  /** The references that each keep it alive without the others. */
  independentReferrers: { total: number; edges: Edge[] };
  /** What cutting the independent reference frees; null if there are several, because then none frees it alone. */
  freedByCutting: number | null;
  /** What cutting all independent references together frees. */
  freedByCuttingAll: number;
  /** The nearest dominator, the object included, with exactly one independent reference, and what to cut. */
  cut: Cut | null;
  /** What the same cut frees after the running functions have returned; null if the stack holds nothing of it. */
  freedAfterReturn: number | null;
  /** The nearest object on every path to it. */
  dominator: ObjectName | null;
}

/** The answer to {@link Heap.paths} for several objects: their paths, merged. */
export interface MergedPathsAnswer extends Answer {
  /** The classes of the objects. */
  classes: string[];
  count: number;
  shallowSize: number;
  /** What they keep alive together, each byte counted once. Removing all of them frees at least that. */
  retainedSetSize: number;
  freedByRemovingAll: number;
  /** Bytes by the kind of root that their paths begin with. */
  heldBy: { global: number; stack: number; pinned: number };
  tree: Branch[];
  more: More | null;
}

/** Objects of a set whose paths begin alike. */
export interface Branch {
  /** The reference, with indexes and keys as `[*]`; null for the first step. */
  label: string | null;
  /** The root, for the first step. */
  root: Root | null;
  /** The class at this place of the paths. */
  className: string;
  /** How many objects of the set are here and below. */
  count: number;
  shallowSize: number;
  /** That of the path up to here. */
  fingerprint: string;
  children: Branch[];
  more: More | null;
}

/** Branches that the limit leaves out. */
export interface More {
  branches: number;
  /** How many objects of the set they have. */
  count: number;
  shallowSize: number;
}

/** The answer to {@link Heap.dominators}. */
export interface DominatorsAnswer extends Answer, Page {
  /** The object; null for the whole heap. */
  address: number | null;
  /** What it dominates immediately. */
  children: { address: number; className: string; shallowSize: number; retainedSize: number }[];
}

/** The answer to {@link Heap.dominators} by class. */
export interface DominatorGroupsAnswer extends Answer, Page {
  /** The object; null for the whole heap. */
  address: number | null;
  /** What it dominates immediately, by class. */
  groups: { className: string; count: number; shallowSize: number; retainedSize: number }[];
}

/** The answer to {@link Heap.suspects}. */
export interface SuspectsAnswer extends Answer {
  totalLiveSize: number;
  /** What a suspect retains, or has grown by, at least: in bytes. */
  threshold: number;
  suspects: Suspect[];
}

/** Something that retains a large part of the heap, or has grown. */
export interface Suspect {
  /** One object, all top-level objects of a class together, or a group of equal paths that grew. */
  kind: "object" | "class" | "growth";
  className: string;
  /** Its address, if it is one object. */
  address: number | null;
  count: number;
  retainedSize: number;
  /** With an earlier heap: what it retained there. */
  retainedSizeBefore: number | null;
  /** Its part of the live bytes, from 0 to 1. */
  share: number;
  /** The object below which many small ones accumulate. */
  accumulation: {
    address: number;
    className: string;
    /** The place by its owner's field, as in `assembly/server/PriceFeed.listeners`. */
    owner: string | null;
    children: { className: string; count: number; retainedSize: number }[];
  } | null;
  path: Path | null;
  cut: Cut | null;
  /** All that as a paragraph. */
  text: string;
}

/** The answer to {@link Heap.waste}. */
export interface WasteAnswer extends Answer {
  totalLiveSize: number;
  /** The bytes that all kinds together could save. Each byte counts once. */
  totalSavings: number;
  /** All kinds, in the order in which they claim bytes: a byte belongs to the first kind that claims it. */
  kinds: WasteKind[];
  /** What the headers of live objects take: 20 bytes each. No savings, because an object needs its header. */
  headers: {
    size: number;
    /** By class: size ↓, name ↑. If the limit cuts the list, its last entry, `(n more)`, sums up the rest. */
    classes: { className: string; count: number; size: number }[];
  };
}

/** All waste of one kind. */
export interface WasteKind {
  /**
   * - `duplicate-strings`: strings with the contents of another one. A static one stays, or that with the
   *   lowest address.
   * - `duplicate-buffers`: the same for `ArrayBuffer`s and for `StaticArray`s of one class. The buffer of an
   *   array, a view, a map or a set is never one.
   * - `empty-containers`: arrays, views, maps and sets without elements, with the blocks that only empty
   *   containers refer to.
   * - `views`: buffers that only views refer to, which use less than an eighth of them.
   * - `array-capacity`: what the blocks of arrays have beyond the length.
   * - `entries`: unused and deleted entries of maps and sets.
   * - `padding`: the bytes of blocks behind the contents.
   */
  kind:
    | "duplicate-strings"
    | "duplicate-buffers"
    | "empty-containers"
    | "views"
    | "array-capacity"
    | "entries"
    | "padding";
  /** How many objects waste something: copies, containers, buffers, arrays, maps and sets, objects. */
  count: number;
  /** The bytes that could be saved. */
  savings: number;
  /** How many groups there are, of which `limit` are listed. */
  total: number;
  /** Savings ↓, count ↓; then classes by name, and copies by the address of the one that stays. */
  groups: WasteGroup[];
}

/** Objects of equal contents, or of one class, that waste something. */
export interface WasteGroup {
  /** The contents of copies: the literal of a string, otherwise class and first elements. Of other kinds the class. */
  what: string;
  /** How many objects; of copies without the one that stays. */
  count: number;
  savings: number;
  /**
   * `Class.field` of the last step of the objects' paths (`Class.field[*]` for elements), or the root. If the
   * limit cuts the list, its last entry, `(n more)`, sums up the rest.
   */
  holders: { holder: string; count: number; savings: number }[];
}

/** The answer to {@link Heap.unreachable}. */
export interface UnreachableAnswer extends Answer {
  /** Objects that no root reaches: the collector has not freed them yet. */
  garbage: {
    count: number;
    shallowSize: number;
    /** The largest classes: shallow size ↓, count ↓, name ↑. What they do not add up to is of other classes. */
    classes: { className: string; count: number; shallowSize: number }[];
    /**
     * The strongly connected components of two or more objects, and single objects that refer to
     * themselves. The collector frees cycles like all other garbage: they are no leak.
     */
    cycles: {
      /** How many cycles there are. */
      total: number;
      /** How many objects they have. */
      count: number;
      shallowSize: number;
      /** The largest groups: shallow size ↓, count ↓, names ↑. What they do not add up to is in other groups. */
      groups: CycleGroup[];
    };
  };
  /** Blocks of `heap.alloc`. */
  raw: {
    count: number;
    size: number;
    /**
     * Raw blocks into which no word points: none of live objects, static data, globals, the stack, memory that
     * the allocator does not own, and other raw blocks that something refers to. This is an estimate, and a
     * warning says so: a number, or what is left of an earlier block, can look like an address, and the host, a
     * local variable or an i64 global can hold one. Null if the dump has no global values.
     */
    unreferenced: {
      count: number;
      size: number;
      /** The largest: size ↓, address ↑. */
      blocks: { address: number; size: number }[];
    } | null;
  };
}

/** All cycles whose objects are of the same classes. */
export interface CycleGroup {
  /** How many cycles there are. */
  cycles: number;
  /** How many objects they have. */
  count: number;
  shallowSize: number;
  /** The objects by class: count ↓, name ↑. */
  classes: { className: string; count: number }[];
  /** The lowest address of each of the largest cycles, the largest first. */
  addresses: number[];
}

/**
 * The graph in an answer to {@link Heap.unreachable} with `maxNodes`: the largest unreachable objects and
 * unreferenced raw blocks; then, if there is room, the largest live and static objects that these refer to.
 */
export interface UnreachableGraph {
  /** Size ↓, class name ↑, address ↑. */
  nodes: UnreachableNode[];
  /** All references between these objects, as far as there is room. Raw blocks have none. */
  edges: UnreachableEdge[];
}

/** An object or a raw block. */
export interface UnreachableNode {
  address: number;
  /** Null for a raw block. */
  className: string | null;
  state: "garbage" | "raw" | "live" | "static";
  shallowSize: number;
  /** The number of the cycle that the object is in: those of the graph count from 0, the largest first. */
  cycle: number | null;
}

/** A reference between two nodes. */
export interface UnreachableEdge {
  /** The position of the node that refers. */
  from: number;
  /** The position of the node that it refers to. */
  to: number;
  /** The reference, with indexes and keys as `[*]`. */
  label: string;
}

/** The answer to {@link growth}. */
export interface GrowthAnswer extends Answer, Page {
  /** All dumps, those of the warm-up too. */
  dumps: { name: string; totalLiveSize: number }[];
  /** How many of the first dumps are ignored. */
  warmup: number;
  /** Bytes per interval with what is folded ↓, count per interval ↓, path ↑. */
  sites: GrowingSite[];
}

/** A place of the program that holds more from dump to dump. */
export interface GrowingSite {
  /** Null if the objects grow in number without growing on one path, and for raw blocks. */
  root: Root | null;
  /** The path as text, with the class at its end. Null as for `root`. */
  path: string | null;
  /**
   * The references that lead to the objects; without a path as `Class.label`. Null for all objects with this
   * path (as of a linked list), for what a root holds, for a class as a whole, and for raw blocks.
   */
  label: string | null;
  /** `(raw blocks)` for blocks of `heap.alloc`. */
  className: string;
  /** A hash of the path; without one, of label and class. */
  fingerprint: string;
  /** Whether all names are from the source: others may mean something else in another build. */
  stable: boolean;
  /** By dump, as in `dumps`: how many objects. Null where nothing could hold them; such dumps do not count. */
  counts: (number | null)[];
  /**
   * By dump: the bytes that the objects contain: the length of strings, the elements of arrays, the entries
   * of maps and sets, fields. Of raw blocks the bytes of the blocks.
   */
  bytes: (number | null)[];
  /** The mean growth per interval between dumps that count. */
  perInterval: { count: number; bytes: number };
  /** What grows because this place does: bytes ↓, count ↓, path ↑; at most 1,000. */
  folded: FoldedSite[];
}

/** A growing place that another one explains. */
export interface FoldedSite {
  className: string;
  label: string | null;
  path: string | null;
  fingerprint: string;
  /** How many objects there are in the last dump that counts. */
  count: number;
}

/** The answer to {@link check}. */
export interface CheckAnswer extends Answer {
  /** Whether no rule is broken. */
  passed: boolean;
  rules: CheckedRule[];
  /** All places that grow and are not accepted, in the order of {@link GrowthAnswer.sites}. */
  sites: GrowingSite[];
  /** The fingerprints of accepted places that grow. */
  accepted: string[];
  /** The fingerprints of accepted places that do not grow: they can be taken off the list. */
  gone: string[];
}

/** A rule of a check. */
export interface CheckedRule {
  /** `default`, `max-growth`, `max-live`, `max <class>` or `no-growth <class>`. */
  rule: string;
  /** The most that is allowed: growing places, bytes, or objects. */
  limit: number;
  /** What was found. It is negative where something shrank. */
  actual: number;
  passed: boolean;
  /** The fingerprints of the growing places that the rule is about. */
  sites: string[];
}
