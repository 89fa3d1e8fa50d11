/**
 * Answers of a loaded heap. The methods of `Heap` return them, and the command line prints them with
 * `--format json`: the same keys in the same order, so the JSON of equal answers is byte for byte the same.
 *
 * Sizes are in bytes, addresses are offsets in linear memory. The order of lists is size ↓, count ↓,
 * name ↑, address ↑, except where another order is given. The order is total.
 */
// Written by `just generate` from the types of the engine: change those.
import type { View, Warning } from "./index.js";

/** A part of a list. */
export interface Page {
  /** How many entries the whole list has. */
  total: number;
  /** How many entries are left out before the first listed one. */
  offset: number;
  /** The largest number of listed entries. */
  limit: number;
}

/** The fields of every answer. */
export interface Answer {
  /** The version of these types. */
  schemaVersion: 2;
  /** Whether the heap is damaged and only the part before the damage was read. */
  partial: boolean;
  /**
   * The reasons why numbers may be wrong. If the answer compares two heaps: those of both, each beginning with the
   * name of its dump.
   */
  warnings: Warning[];
}

/** The answer to {@link Heap.summary}. */
export interface SummaryAnswer extends Answer {
  /** Absent for a heap snapshot of V8. */
  totalHeapSize?: number;
  /** All live heap objects, and `outsideSize`. */
  totalLiveSize: number;
  /**
   * Of a heap snapshot of Node 26, Chrome 144 and newer: the bytes outside of V8's heap that are of no object, which
   * DevTools counts as well. Absent if there are none.
   */
  outsideSize?: number;
  /** Of a program of C, C++, Rust or Zig: what nothing in the memory leads to. Absent for other heaps. */
  unreferenced?: {
    /** Their number. */
    count: number;
    /** The sum of their shallow sizes, in bytes. */
    shallowSize: number;
    /** The single blocks and cycles among them to which no other of them refers. */
    entries: number;
  };
  /** Absent for a heap snapshot of V8. */
  accounting?: Accounting;
  /** Heap objects, live and not, and objects in static memory. A heap snapshot of V8 has only live ones. */
  objects: {
    /** Heap objects that a root reaches. */
    live: number;
    /** Heap objects that no root reaches; absent for a snapshot. */
    garbage?: number;
    /** Objects below the heap, reachable or not; absent for a snapshot. */
    static?: number;
  };
  /** The number of different class names of live heap objects. */
  classes: number;
  /**
   * The number of globals and stack words that refer to an object, and of pinned objects. Of a heap snapshot of V8:
   * `global` counts the roots of the page or the program, `system` those of V8 itself.
   */
  roots: {
    /** Global variables and static fields. */
    global: number;
    /** Words of the shadow stack. */
    stack: number;
    /** Pinned objects. */
    pinned: number;
    /** Of a snapshot: V8's own roots. Absent for a dump. */
    system?: number;
    /** Of a native program: what pointers of the host lead to, as the caller says. Absent for other heaps. */
    host?: number;
    /** Of a native program: what nothing in the memory refers to. Absent for other heaps. */
    unreferenced?: number;
  };
  /**
   * Of a heap snapshot of V8: what only objects of each category keep alive, these objects included. An object can be
   * in several categories. Objects of no size do not count. Absent for a dump.
   */
  categories?: {
    /** The category. */
    category: Category;
    /** The number of objects. */
    count: number;
    /** The sum of their shallow sizes, in bytes. */
    shallowSize: number;
  }[];
  /** The sums of two heaps that were joined. Absent for one heap. */
  joined?: JoinedSums;
  /** The trap at which the memory was taken. Absent for what is no coredump. */
  trap?: Trap;
}

/** The whole heap in bytes. live + garbage + raw + free + overhead + gaps + unread = totalHeapSize, exactly. */
export interface Accounting {
  /** Live objects, by the first kind of root that reaches them: global variables, stack, pinned objects. */
  live: { global: number; stack: number; pinned: number };
  /** Objects that the collector has not freed yet. */
  garbage: number;
  /** Blocks in use that hold no object (`heap.alloc`). */
  raw: number;
  /** Free blocks of the allocator. `fragmentation` is the share of their bytes that is not in the largest one. */
  free: { bytes: number; blocks: number; largest: number; fragmentation: number };
  /** Bytes that the allocator uses itself: ends of regions and padding. */
  overhead: number;
  /** Memory that does not belong to the allocator: pages that other code added with `memory.grow`. */
  gaps: number;
  /** The part after damage; 0 unless the result is partial. */
  unread: number;
  /** The state of the collector; null if the module does not name the variable that holds it. */
  collector: "idle" | "marking" | "sweeping" | null;
  /** Pinned objects by class. */
  pinned: {
    /** Its full name, such as `assembly/game/Player`. */
    className: string;
    /** Their number. */
    count: number;
  }[];
}

/**
 * Objects that often keep more alive than a program needs: DOM nodes that are not in the document, functions that
 * listen to events, the variables of functions, and what the console or an inspector shows. The same objects as in the
 * filters of DevTools: functions that listen to events are those that a browser calls through a `V8EventListener`, so
 * listeners of Node's `EventEmitter` are none.
 * - `detached-nodes`: Nodes that are not in the document.
 * - `event-handlers`: Functions that listen to events.
 * - `contexts`: The variables of functions.
 * - `console`: What the console or an inspector shows.
 */
export type Category = "detached-nodes" | "event-handlers" | "contexts" | "console";

/** The sums of two heaps that were joined. */
export interface JoinedSums {
  /** Of JavaScript. */
  javascript: {
    /** Their number. */
    objects: number;
    /** The sum of their shallow sizes, in bytes. */
    liveSize: number;
  };
  /** Of the memory. */
  wasm: {
    /** Their number. */
    objects: number;
    /** The sum of their shallow sizes, in bytes. */
    liveSize: number;
  };
  /** The pinned objects by the best evidence for a holder; each counts once. */
  pinned: {
    /** Their number. */
    total: number;
    /** Those with a holder that is exact. */
    exact: number;
    /** Those with a holder that is derived. */
    derived: number;
    /** Only slots that may hold other numbers have their addresses. */
    possible: number;
    /**
     * Only the table of the bindings has their addresses: the wrapper was collected, and the release has not run.
     */
    awaitingRelease: number;
    /** No number that was read equals their addresses. */
    unseen: number;
    /** Of those without an exact or derived holder, how many have a stack that pinned them. */
    withStack: number;
  };
  /** Whether numbers in containers and wrappers were read, which a snapshot alone does not show. */
  numbersRead: boolean;
  /** Whether variables of functions were read. */
  closuresRead: boolean;
  /** Whether the instance was found, so that its globals and its stack hang below it. */
  instanceFound: boolean;
  /**
   * Objects that each heap alone keeps alive, and both together do not: only cycles across the border hold them, with
   * the pins and the arrays of declared slots. At most 20 classes are named, those with most objects first. Absent if
   * there are none.
   */
  cycles?: {
    /** Their number. */
    count: number;
    /** The sum of their shallow sizes, by heap. */
    shallowParts: SizeParts;
    /** The classes with most of them, these first. */
    classes: {
      /** The name of the class. Classes of both heaps can have one name. */
      className: string;
      /** The number of its objects. */
      count: number;
      /** The sum of their shallow sizes, by heap. */
      shallowParts: SizeParts;
    }[];
  };
}

/** Bytes of two heaps that were joined. `retainedSize` beside them is their sum. */
export interface SizeParts {
  /** Of objects of JavaScript. */
  javascript: number;
  /** Of objects in the memory of WebAssembly. */
  wasm: number;
}

/** The functions that were running at a trap. */
export interface Trap {
  /** The innermost first, at most 100. A function that was inlined into another has a frame of its own. */
  frames: TrapFrame[];
  /** The number of all frames in the coredump. */
  total: number;
}

/** A function that was running. */
export interface TrapFrame {
  /** Its name, or `wasm-function[n]` if the module has none for it. */
  function: string;
  /** The index of the function in the module. */
  index: number;
  /** The offset of the instruction from the start of the function's body, in bytes. */
  offset: number;
  /** The source file and the line, from 1; absent if the module does not say them. */
  file?: string;
  /** The line in it, from 1; absent if it is not known. */
  line?: number;
}

/** The answer to {@link Heap.find}. */
export interface FindAnswer extends Answer {
  /** Their number. */
  total: number;
  /** The number of entries before the first listed one. */
  offset: number;
  /** The largest number of listed entries. */
  limit: number;
  /** None if only the number or groups were asked for. */
  objects: FoundObject[];
  /** What the option `where` was for the objects that meet all other conditions. Absent without it. */
  where?: {
    /** The number of these objects. */
    examined: number;
    /** Those that lack a field of the expression. They are not found. */
    withoutField: number;
    /** Those for which it cannot be computed, by reason. They are not found. */
    failed: {
      /** Why. */
      reason: string;
      /** Their number. */
      count: number;
    }[];
  };
  /** The sum that the option `sum` asks for. */
  sum?: {
    /**
     * Which size.
     * - `shallow`: Its own.
     * - `retained`: With everything that only it keeps alive.
     */
    size: "shallow" | "retained";
    /** The sum in bytes. Of retained sizes, what one object retains of another one counts once. */
    bytes: number;
    /** Of heaps that were joined: these bytes by heap. Absent for one heap. */
    parts?: SizeParts;
  };
  /** Groups by the value of the option `groupBy`, in the order sum ↓, count ↓, value. */
  groups?: {
    /** Their number. */
    total: number;
    /** The listed entries, as `offset` and `limit` say. */
    rows: FoundGroup[];
  };
}

/** An object that matches. */
export interface FoundObject {
  /** Its payload. */
  address: number;
  /** The address as text: `0x9540`, or the id `@38208`. */
  addressText: string;
  /** The full name of its class, such as `assembly/game/Player`. */
  className: string;
  /** The size of its block. */
  shallowSize: number;
  /** Bytes that it keeps alive, with its own. */
  retainedSize: number;
  /** Of heaps that were joined: the retained size by heap. Absent for one heap. */
  retainedParts?: SizeParts;
  /** The contents of the object, shortened. */
  preview: string | null;
  /**
   * Of a heap snapshot of V8: the number of references from a root of the page, as DevTools counts them; greater by
   * 100,000,000 for what only V8 reaches. Absent for dumps, and for what nothing reaches.
   */
  distance?: number;
}

/** The objects for which an expression has one value. */
export interface FoundGroup {
  /** The value; of an object its class and address. Null also for objects for which there is none. */
  value: boolean | number | string | null;
  /** The value as text; for objects without one, why, in parentheses. */
  text: string;
  /** The number of objects. */
  count: number;
  /** The sum of their sizes, with the option `sum`. */
  bytes?: number;
  /** Of heaps that were joined, with the option `sum`: these bytes by heap. Absent for one heap. */
  parts?: SizeParts;
}

/** The answer to {@link Heap.object}. */
export interface ObjectAnswer extends Answer {
  /** Its payload; for a raw or free block, the address after the block's header. */
  address: number;
  /** The address as text: `0x9540`; of a heap snapshot of V8 the id of the object, `@38208`. */
  addressText: string;
  /** Its class; null for raw and free blocks. */
  className: string | null;
  /** Its kind. */
  state: ObjectState;
  /** The size of its block. */
  shallowSize: number;
  /** The line that allocated it: only if the heap was opened with a profile. */
  allocatedAt?: SourceLine;
  /** The bytes that the program asked for: only if the heap was opened with a profile. */
  requestedSize?: number;
  /** 0 if the object is not live. */
  retainedSize: number;
  /** Of heaps that were joined: the retained size by heap. Absent for one heap. */
  retainedParts?: SizeParts;
  /** The immediate dominator: the nearest object that is on every path to this one. */
  dominator: ObjectName | null;
  /** The roots that refer to the object. */
  roots: Root[];
  /** The contents of the object, shortened. */
  preview: string | null;
  /** Its fields, by offset. */
  fields: FieldValue[];
  /**
   * A page of what a container holds. Absent unless the option `entries` is given, and for objects that are no
   * containers.
   */
  entries?: ContainerPage;
  /** As in {@link FoundObject}. */
  distance?: number;
  /** The number of references to the object from live objects; roots are not counted. */
  referrerCount: number;
  /**
   * Of heaps that were joined: the slots of JavaScript whose number equals the address, and for which nothing more
   * speaks. They are not followed. Absent if there are none.
   */
  possibleHolders?: {
    /** Their number. */
    total: number;
    /** The first of them. */
    slots: PossibleReference[];
  };
  /**
   * Of a pinned object in heaps that were joined: the stack of JavaScript that pinned it, the innermost frame first.
   */
  pinnedBy?: string[];
  /** Null if no root reaches it. */
  path: Path | null;
}

/**
 * What is at an address. `raw` and `free` blocks contain no object and have no class.
 * - `live`: A heap object that a root reaches.
 * - `garbage`: A heap object that the collector has not freed yet.
 * - `static`: An object below the heap.
 */
export type ObjectState = "live" | "garbage" | "static" | "raw" | "free";

/** A line of source. */
export interface SourceLine {
  /** The function; empty for code outside of functions. */
  function: string;
  /** Its source file; empty if it is not known. */
  file: string;
  /** From 1; 0 if it is not known. */
  line: number;
}

/** An object by address and class. */
export interface ObjectName {
  /** Its payload. */
  address: number;
  /** The address as text: `0x9540`; of a heap snapshot of V8 the id of the object, `@38208`. */
  addressText: string;
  /** The full name of its class, such as `assembly/game/Player`. */
  className: string;
}

/** A place from which the collector starts. */
export interface Root {
  /**
   * Its kind.
   * - `global`: A global variable or a static field refers to it.
   * - `stack`: A function that was running refers to it.
   * - `pinned`: It was pinned (`__pin`), usually by the host.
   * - `system`: V8 itself refers to it. Only snapshots have such roots.
   * - `host`: The host holds it, as the caller says. Only heaps of native programs have such roots.
   * - `unreferenced`: Nothing in the memory refers to it. Only heaps of native programs have such roots.
   */
  kind: "global" | "stack" | "pinned" | "system" | "host" | "unreferenced";
  /**
   * `assembly/server/prices` for a global variable or static field, the distance from the stack pointer (`+16`) for a
   * stack word, otherwise null. Of a pinned object in heaps that were joined, what is known of its holders:
   * `(possible: 3 slots)`.
   */
  name: string | null;
}

/** A field of an object. */
export interface FieldValue {
  /** The name in the source, or the offset (`+8`). */
  name: string;
  /** The declared type; `?` if it is not known. */
  type: string;
  /** 64-bit integers, NaN and infinities are strings. For a reference: a preview of the object. */
  value: boolean | number | string | null;
  /** The object to which the field refers; null if it refers to none. */
  address: number | null;
  /** The class of that object. */
  className: string | null;
  /**
   * Of the field `_index` of a function object: the function that a call of the object runs, by its name in the
   * module. If an optimiser merged equal functions, it is the name of the one that is left. Absent if the module has
   * no names, and if the host or the program can put another function there: if the function table is exported or
   * imported, or if code changes it.
   */
  functionName?: string;
}

/** A page of the entries of a container. One that begins beyond the end is empty. */
export interface ContainerPage {
  /**
   * What the entries are: elements of an array or a typed array; keys with values of a `Map`; values of a `Set`. Of a
   * heap snapshot of V8, `properties`: the elements and properties of any object that is no string, number, `Map` or
   * `Set`, in the order of the snapshot. V8 leaves out numbers unless it is asked for them; of a `Map` or a `Set` it
   * leaves out keys and values that are numbers, booleans, null or undefined, which are shown as `(not in the
   * snapshot)`, and entries without another key or value.
   * - `elements`: Elements by index: arrays and typed arrays.
   * - `map`: Keys with values.
   * - `set`: Values without keys.
   */
  kind: "elements" | "map" | "set" | "properties";
  /** The number of entries of the container, as far as its memory holds them. */
  total: number;
  /** The number of entries before the first listed one. */
  offset: number;
  /** The largest number of listed entries. */
  limit: number;
  /** In the order of the container. Deleted entries do not count. */
  entries: ContainerEntry[];
}

/** An entry of a container. */
export interface ContainerEntry {
  /** The number of entries before it. */
  index: number;
  /** `[5]` for an element, the name of a property; null for maps and sets. */
  name: string | null;
  /** The key, of a map only. */
  key: HeldValue | null;
  /** The value. */
  value: HeldValue;
}

/** A value that a container holds. */
export interface HeldValue {
  /** As in {@link FieldValue}; of another object than a string, class and address. */
  value: boolean | number | string | null;
  /** The object to which it refers; null if it refers to none. */
  address: number | null;
  /** The address as text: `0x9540`; of a heap snapshot of V8 the id of the object, `@38208`. */
  addressText: string | null;
  /** The class of that object. */
  className: string | null;
  /** The function that the object stands for, as in {@link FieldValue.functionName}. */
  functionName?: string;
}

/** A slot of JavaScript whose number equals the address of an object. */
export interface PossibleReference {
  /** The object that has the slot. */
  address: number;
  /** The address as text: the id `@38208`. */
  addressText: string;
  /** Its class. */
  className: string;
  /** The name of the slot, as in {@link Step.label}. */
  label: string;
  /** The label as it follows the name of a class. */
  labelText: string;
  /** Of the different values of its group of slots, those that are the address of a pinned object. */
  hits: number;
  /** The number of different values of the group. */
  values: number;
}

/**
 * The shortest path from a root to an object: from a global if one reaches it, else from the stack, else from a pinned
 * object.
 */
export interface Path {
  /** The root. */
  root: Root;
  /** From the root's object to the object in question. */
  steps: Step[];
  /** The path without indexes and keys. For example, all elements of one array have the same text. */
  text: string;
  /** The first 12 hexadecimal digits of a SHA-256 of the text. */
  fingerprint: string;
  /** Whether all names in the text are from the source. Only then can fingerprints of two builds be compared. */
  stable: boolean;
}

/** One step of a path: a reference, and the object to which it leads. */
export interface Step {
  /**
   * The reference: a field (`listeners`), an array element (`[42]`), a map value by its key (`["user:17"]`), the
   * buffer of a container (`(buffer)`); without debug information the offset (`+8`). Null for the first step.
   */
  label: string | null;
  /** The label as it follows the name of a class: `.listeners`, `[42]`, ` key`. Null where the label is. */
  labelText: string | null;
  /** The object; for a repeated step, the last one. */
  address: number;
  /** The address as text: `0x9540`; of a heap snapshot of V8 the id of the object, `@38208`. */
  addressText: string;
  /** The full name of its class, such as `assembly/game/Player`. */
  className: string;
  /** The function that the object stands for, as in {@link FieldValue.functionName}. */
  functionName?: string;
  /** The line that allocated it: only if the heap was opened with a profile. */
  allocatedAt?: SourceLine;
  /** The bytes that the program asked for: only if the heap was opened with a profile. */
  requestedSize?: number;
  /** The size of its block. */
  shallowSize: number;
  /** Bytes that it keeps alive, with its own. */
  retainedSize: number;
  /** Of heaps that were joined: the retained size by heap. Absent for one heap. */
  retainedParts?: SizeParts;
  /** What speaks for the reference, if it leads from one of two joined heaps to the other. Absent for others. */
  evidence?: Evidence;
  /** The number of consecutive references of this kind, as in a linked list; at least 1. */
  repeat: number;
}

/** What speaks for a reference between JavaScript and WebAssembly. */
export interface Evidence {
  /**
   * `exact`: both ends are in the snapshot, or generated code is known to keep an address there. `derived`: nearly all
   * numbers of a group of slots are addresses of pinned objects. `declared`: the caller says so.
   */
  kind: "exact" | "derived" | "declared";
  /** Of the different values of the group of slots, those that are the address of a pinned object. */
  hits: number;
  /** The number of different values of the group of slots, without 0 and −1. */
  values: number;
}

/** The answer to {@link Heap.referrers}: roots first, then by address and label. */
export interface ReferrersAnswer extends Answer {
  /** The object. */
  address: number;
  /** The address as text: `0x9540`; of a heap snapshot of V8 the id of the object, `@38208`. */
  addressText: string;
  /** The number of references, roots included. */
  total: number;
  /** The number of entries before the first listed one. */
  offset: number;
  /** The largest number of listed entries. */
  limit: number;
  /** The listed entries. */
  referrers: Edge[];
}

/** A reference to an object. */
export interface Edge {
  /** The object that has the reference; null for a root. */
  address: number | null;
  /** The address as text: `0x9540`; of a heap snapshot of V8 the id of the object, `@38208`. */
  addressText: string | null;
  /** The class of that object; null for a root. */
  className: string | null;
  /** The reference, as in {@link Step.label}; null for a root. */
  label: string | null;
  /** The label as it follows the name of a class: `.listeners`, `[42]`, ` key`. Null where the label is. */
  labelText: string | null;
  /** The root that has the reference; null for an object. */
  root: Root | null;
  /** Whether this reference alone keeps the object reachable when all other references to it are cut. */
  independent: boolean;
  /** What speaks for the reference, if it leads from one of two joined heaps to the other. Absent for others. */
  evidence?: Evidence;
  /** True for a weak reference of a heap snapshot of V8, which keeps nothing alive; absent for others. */
  weak?: true;
}

/** The answer to {@link Heap.paths} for one object. */
export interface PathAnswer extends Answer {
  /** The object. */
  address: number;
  /** The address as text: `0x9540`; of a heap snapshot of V8 the id of the object, `@38208`. */
  addressText: string;
  /** Its class; null for raw and free blocks. */
  className: string | null;
  /** Its kind. */
  state: ObjectState;
  /** The size of its block. */
  shallowSize: number;
  /** Bytes that it keeps alive, with its own. */
  retainedSize: number;
  /** Of heaps that were joined: the retained size by heap. Absent for one heap. */
  retainedParts?: SizeParts;
  /** The path from a root; null if no root reaches it. */
  path: Path | null;
  /** The independent references: each of them keeps the object alive even if all others are cut. */
  independentReferrers: {
    /** Their number. */
    total: number;
    /** The first of them. */
    edges: Edge[];
  };
  /**
   * The bytes that cutting the independent reference frees. Null if there are several, because then the object stays
   * alive.
   */
  freedByCutting: number | null;
  /** The bytes that cutting all independent references together frees. */
  freedByCuttingAll: number;
  /**
   * The reference to cut: the only independent reference to the object, or else to its nearest dominator that has only
   * one.
   */
  cut: Cut | null;
  /**
   * The bytes that the same cut frees after the running functions have returned. Null if the stack keeps none of these
   * bytes alive.
   */
  freedAfterReturn: number | null;
  /** The immediate dominator: the nearest object that is on every path to this one. */
  dominator: ObjectName | null;
}

/** A reference to cut. */
export interface Cut {
  /** The class of the object that has the reference; null for a root. */
  className: string | null;
  /** The reference; null for a root. */
  label: string | null;
  /** The label as it follows the name of a class: `.listeners`, `[42]`, ` key`. Null where the label is. */
  labelText: string | null;
  /** The root that has the reference; null for an object. */
  root: Root | null;
  /** The bytes that cutting it frees. */
  freed: number;
  /** Of heaps that were joined: these bytes by heap. Absent for one heap. */
  freedParts?: SizeParts;
}

/** The answer to {@link Heap.paths} for several objects: their paths, merged. */
export interface MergedPathsAnswer extends Answer {
  /** The classes of the objects. */
  classes: string[];
  /** The number of objects. */
  count: number;
  /** The sum of their blocks. */
  shallowSize: number;
  /** Of heaps that were joined: these bytes by heap, here and below. Absent for one heap. */
  shallowParts?: SizeParts;
  /**
   * The bytes that the objects retain together, each byte counted once. Removing all of them frees at least that much.
   */
  retainedSetSize: number;
  /** Of heaps that were joined: these bytes by heap. */
  retainedSetParts?: SizeParts;
  /** The bytes that removing all of them frees. */
  freedByRemovingAll: number;
  /** Of heaps that were joined: these bytes by heap. Absent for one heap. */
  freedParts?: SizeParts;
  /** Bytes by the kind of root that their paths begin with. */
  heldBy: {
    /** Reached from a global. */
    global: number;
    /** Reached from the stack, but from no global. */
    stack: number;
    /** Reached from pins only. */
    pinned: number;
    /** Of a snapshot: reached from V8's own roots only. Absent for a dump. */
    system?: number;
    /** Of a native program: what pointers of the host lead to, as the caller says. Absent for other heaps. */
    host?: number;
    /** Of a native program: what nothing in the memory refers to. Absent for other heaps. */
    unreferenced?: number;
  };
  /** The path groups. */
  tree: Branch[];
  /** The branches that the limit leaves out. */
  more: More | null;
}

/** The objects of a set whose paths begin with the same steps. */
export interface Branch {
  /** The reference, with indexes and keys as `[*]`; null for the first step. */
  label: string | null;
  /** The label as it follows the name of a class: `.listeners`, `[42]`, ` key`. Null where the label is. */
  labelText: string | null;
  /** The root, for the first step. */
  root: Root | null;
  /** The class at this place of the paths. */
  className: string;
  /** Whether paths return to this place, so that steps are listed once that they repeat, as in a linked list. */
  folded: boolean;
  /** The number of objects of the set in this branch, its children included. */
  count: number;
  /** The sum of the sizes of their blocks. */
  shallowSize: number;
  /** The fingerprint of the path up to this step. */
  fingerprint: string;
  /** The next places of the paths. */
  children: Branch[];
  /** The branches that the limit leaves out. */
  more: More | null;
}

/** Branches that the limit leaves out. */
export interface More {
  /** Their number. */
  branches: number;
  /** The number of objects of the set in these branches. */
  count: number;
  /** The sum of the sizes of their blocks. */
  shallowSize: number;
}

/** The answer to {@link Heap.dominators}. */
export interface DominatorsAnswer extends Answer {
  /** The object; null for the whole heap. */
  address: number | null;
  /** The address as text: `0x9540`; of a heap snapshot of V8 the id of the object, `@38208`. */
  addressText: string | null;
  /** Their number. */
  total: number;
  /** The number of entries before the first listed one. */
  offset: number;
  /** The largest number of listed entries. */
  limit: number;
  /** What it dominates immediately. */
  children: DominatorChild[];
}

/** An object in the dominator tree. */
export interface DominatorChild {
  /** Its payload. */
  address: number;
  /** The address as text: `0x9540`, or the id `@38208`. */
  addressText: string;
  /** The full name of its class, such as `assembly/game/Player`. */
  className: string;
  /** The size of its block. */
  shallowSize: number;
  /** Bytes that it keeps alive, with its own. */
  retainedSize: number;
  /** Of heaps that were joined: the retained size by heap. */
  retainedParts?: SizeParts;
}

/** The answer to {@link Heap.dominators} by class. */
export interface DominatorGroupsAnswer extends Answer {
  /** The object; null for the whole heap. */
  address: number | null;
  /** The address as text: `0x9540`; of a heap snapshot of V8 the id of the object, `@38208`. */
  addressText: string | null;
  /** The number of classes. */
  total: number;
  /** The number of entries before the first listed one. */
  offset: number;
  /** The largest number of listed entries. */
  limit: number;
  /** What it dominates immediately, by class. */
  groups: DominatorGroup[];
}

/** Objects of one class in the dominator tree. */
export interface DominatorGroup {
  /** Its full name, such as `assembly/game/Player`. */
  className: string;
  /** Their number. */
  count: number;
  /** The sum of the sizes of their blocks. */
  shallowSize: number;
  /** Their retained size. */
  retainedSize: number;
  /** Of heaps that were joined: the retained size by heap. */
  retainedParts?: SizeParts;
}

/** The answer to {@link Heap.suspects}. */
export interface SuspectsAnswer extends Answer {
  /** All live heap objects. */
  totalLiveSize: number;
  /** Of heaps that were joined: the same by heap. Absent for one heap. */
  totalLiveParts?: SizeParts;
  /** The least number of bytes that a suspect retains, or by which it has grown. */
  threshold: number;
  /** The suspects, largest first. */
  suspects: Suspect[];
}

/** Something that retains a large part of the heap, or has grown. */
export interface Suspect {
  /**
   * One object; all top-level objects of a class together; or objects with equal paths whose number or size grew.
   * - `object`: One object.
   * - `class`: All top-level objects of a class together.
   * - `growth`: A path group that grew.
   */
  kind: "object" | "class" | "growth";
  /** The full name of its class, such as `assembly/game/Player`. */
  className: string;
  /** The address, if the suspect is one object. */
  address: number | null;
  /** The address as text: `0x9540`; of a heap snapshot of V8 the id of the object, `@38208`. */
  addressText: string | null;
  /** The number of its objects. */
  count: number;
  /** Bytes that it keeps alive, with its own. */
  retainedSize: number;
  /** Of heaps that were joined: the retained size by heap. Absent for one heap. */
  retainedParts?: SizeParts;
  /** With an earlier heap: the retained size there. */
  retainedSizeBefore: number | null;
  /** The suspect's part of the live bytes, from 0 to 1. */
  share: number;
  /** The object that immediately dominates many small ones. */
  accumulation: {
    /** The object. */
    address: number;
    /** The address as text: `0x9540`, or the id `@38208`. */
    addressText: string;
    /** The full name of its class, such as `assembly/game/Player`. */
    className: string;
    /** The field that refers to this object, such as `assembly/server/PriceFeed.listeners`. */
    owner: string | null;
    /**
     * The objects of one place of which it is the largest, if there are several: what accumulates is in all of them.
     */
    together?: {
      /** Their number. */
      count: number;
      /** What is freed at least if the program lets go of all of them. */
      retainedSize: number;
    };
    /** The objects that it dominates, by class. */
    children: {
      /** Its full name, such as `assembly/game/Player`. */
      className: string;
      /** Their number. */
      count: number;
      /** Their retained size. */
      retainedSize: number;
      /** Of heaps that were joined: the retained size by heap. */
      retainedParts?: SizeParts;
    }[];
  } | null;
  /** The path from a root. */
  path: Path | null;
  /** The reference to cut. */
  cut: Cut | null;
  /** All of the above as one paragraph. */
  text: string;
}

/** The answer to {@link Heap.waste}. */
export interface WasteAnswer extends Answer {
  /** All live heap objects. */
  totalLiveSize: number;
  /** The bytes that all kinds together could save. Each byte counts once. */
  totalSavings: number;
  /** All kinds, in the order in which they claim bytes: a byte belongs to the first kind that claims it. */
  kinds: WasteKind[];
  /**
   * The headers of live objects: 20 bytes each. They do not count as savings, because an object needs its header.
   * Absent for a heap snapshot of V8, whose only kind is `duplicate-strings`.
   */
  headers?: {
    /** All of them. */
    size: number;
    /** By class: size ↓, name ↑. If the limit cuts the list, its last entry, `(n more)`, sums up the rest. */
    classes: {
      /** Its full name, such as `assembly/game/Player`. */
      className: string;
      /** The number of its live objects. */
      count: number;
      /** The bytes of their headers. */
      size: number;
    }[];
  };
}

/** All waste of one kind. */
export interface WasteKind {
  /**
   * Which kind.
   * - `duplicate-strings`: Strings with the contents of another string. Of equal strings, a static one is not counted,
   *   otherwise the one with the lowest address.
   * - `duplicate-buffers`: The same for `ArrayBuffer`s and for `StaticArray`s of one class. The buffer of an array, a
   *   view, a map or a set does not count as a duplicate.
   * - `empty-containers`: Arrays, views, maps and sets without elements, with the blocks to which only empty
   *   containers refer.
   * - `views`: Buffers to which only views refer, if the views use less than an eighth of the buffer.
   * - `array-capacity`: The part of an array's buffer after its last element.
   * - `entries`: Unused and deleted entries of maps and sets.
   * - `padding`: The bytes of blocks after the contents.
   */
  kind: "duplicate-strings" | "duplicate-buffers" | "empty-containers" | "views" | "array-capacity" | "entries" | "padding";
  /** The number of objects that waste something: copies, containers, buffers, arrays, maps and sets, objects. */
  count: number;
  /** The bytes that could be saved. */
  savings: number;
  /** The number of groups. At most `limit` of them are listed. */
  total: number;
  /** Order: savings ↓, count ↓; then classes by name, and copies by the address of the one that is not counted. */
  groups: WasteGroup[];
}

/** Objects with the same contents, or of one class, that waste something. */
export interface WasteGroup {
  /**
   * For copies, the contents: the literal of a string, otherwise the class and the first elements. For other kinds,
   * the class.
   */
  what: string;
  /** The number of objects. For copies, the one that is not counted is left out. */
  count: number;
  /** Bytes that could be saved. */
  savings: number;
  /**
   * `Class.field` of the last step of the objects' paths (`Class.field[*]` for elements), or the root. If the limit
   * cuts the list, its last entry, `(n more)`, sums up the rest.
   */
  holders: {
    /** `Class.field` of the last step of their paths, or the root. */
    holder: string;
    /** The number of objects that it holds. */
    count: number;
    /** The bytes of these objects that could be saved. */
    savings: number;
  }[];
}

/** The answer to {@link Heap.unreachable}. */
export interface UnreachableAnswer extends Answer {
  /** Objects that no root reaches: the collector has not freed them yet. */
  garbage: {
    /** Their number. */
    count: number;
    /** The sum of the sizes of their blocks. */
    shallowSize: number;
    /**
     * The largest classes: shallow size ↓, count ↓, name ↑. The rest of the sums above belongs to other classes.
     */
    classes: {
      /** Its full name, such as `assembly/game/Player`. */
      className: string;
      /** Their number. */
      count: number;
      /** The sum of the sizes of their blocks. */
      shallowSize: number;
    }[];
    /**
     * The strongly connected components of two or more objects, and single objects that refer to themselves. The
     * collector frees cycles like all other garbage, so they are not a leak.
     */
    cycles: {
      /** The number of cycles. */
      total: number;
      /** The number of objects in all cycles. */
      count: number;
      /** The sum of the sizes of their blocks. */
      shallowSize: number;
      /**
       * The largest groups: shallow size ↓, count ↓, names ↑. The rest of the sums above belongs to other groups.
       */
      groups: CycleGroup[];
    };
  };
  /** Blocks of `heap.alloc`. */
  raw: {
    /** Their number. */
    count: number;
    /** Their sizes. */
    size: number;
    /**
     * Raw blocks into which no word points. The words of live objects, static data, globals, the stack, memory that
     * the allocator does not own, and other referenced raw blocks are searched. This is an estimate, and a warning
     * says so: a number, or the old contents of memory, can look like an address; and the host, a local variable or an
     * i64 global can hold an address. Null if the dump has no global values.
     */
    unreferenced: {
      /** Their number. */
      count: number;
      /** Their sizes. */
      size: number;
      /** The largest: size ↓, address ↑. */
      blocks: {
        /** The address that `heap.alloc` returned. */
        address: number;
        /** The address as text: `0x9540`, or the id `@38208`. */
        addressText: string;
        /** The whole block. */
        size: number;
      }[];
    } | null;
  };
  /**
   * Of a program of C, C++, Rust or Zig: blocks to which nothing in the memory leads. The host or a local variable may
   * hold them. Absent for other heaps; such a program has neither garbage nor raw blocks.
   */
  unreferenced?: {
    /** Their number. */
    count: number;
    /** The sum of their shallow sizes, in bytes. */
    shallowSize: number;
    /** The number of entries: single blocks and cycles to which no other of these blocks refers. */
    total: number;
    /** The largest: retained size ↓, address ↑. */
    entries: UnreferencedEntry[];
  };
}

/** All cycles whose objects are of the same classes. */
export interface CycleGroup {
  /** The number of cycles. */
  cycles: number;
  /** The number of objects in all of them. */
  count: number;
  /** The sum of the sizes of their blocks. */
  shallowSize: number;
  /** The objects by class: count ↓, name ↑. */
  classes: {
    /** Its full name, such as `assembly/game/Player`. */
    className: string;
    /** Their number. */
    count: number;
  }[];
  /** The lowest address of each of the largest cycles, the largest first. */
  addresses: number[];
  /** These addresses as text. */
  addressTexts: string[];
}

/** A block, or a cycle of blocks, to which nothing refers. */
export interface UnreferencedEntry {
  /** The block, or one of the cycle. */
  address: number;
  /** The address as text. */
  addressText: string;
  /** Its class. */
  className: string;
  /** The line that allocated it: only if the heap was opened with a profile. */
  allocatedAt?: SourceLine;
  /** The bytes that the program asked for: only if the heap was opened with a profile. */
  requestedSize?: number;
  /** Its size, in bytes. */
  shallowSize: number;
  /** The blocks that only it holds, itself included. */
  retainedCount: number;
  /** The sum of their sizes, in bytes. */
  retainedSize: number;
}

/** The answer to `growth`. */
export interface GrowthAnswer extends Answer {
  /** All dumps, those of the warm-up too. */
  dumps: {
    /** Its name; `dump 1` and so on if all have the same. */
    name: string;
    /** All live heap objects. */
    totalLiveSize: number;
  }[];
  /** The number of ignored dumps at the start. */
  warmup: number;
  /** How many places grow, those that are folded into others not counted. */
  total: number;
  /** How many are left out before the first. */
  offset: number;
  /** How many are listed at most. */
  limit: number;
  /** The growth of live bytes per interval. */
  perInterval: LiveGrowth;
  /** Order: retained bytes per interval ↓, bytes of contents with folded places ↓, count per interval ↓, path ↑. */
  places: GrowingPlace[];
  /** The places that grew at first, and may have stopped: bytes in the last dump ↓, path ↑; at most 1,000. */
  undecided: UndecidedPlace[];
}

/** How live bytes grow, as means per interval from the first dump that counts to the last. */
export interface LiveGrowth {
  /** All live bytes. Negative if they shrink. */
  live: number;
  /**
   * The bytes of the objects whose path goes through a growing place: what all growing places explain together. Each
   * object has one path, so nothing counts twice. More than `live` if others shrink. Of a heap with more than 100,000
   * different paths, only the largest count. Raw blocks are no objects, and count neither here nor in `live`.
   */
  explained: number;
}

/** A place of the program that holds more from dump to dump. */
export interface GrowingPlace {
  /** Null if the number of objects grows, but not on one path, and for raw blocks. */
  root: Root | null;
  /** The path as text, with the class at its end. Null as for `root`. */
  path: string | null;
  /**
   * The label of the references to the objects; without a path, `Class.label`. Null for all objects with this path
   * (for example in a linked list), for objects of a root, for a whole class, and for raw blocks.
   */
  label: string | null;
  /** `(raw blocks)` for blocks of `heap.alloc`. */
  className: string;
  /**
   * Where the constructor of the class is, if a heap snapshot says so and no other class has this name; from the
   * commands also if there is a source map beside the module (`<module>.map`): the line of the first code of the
   * constructor, with column 1. The file is a path, a URL, or a name such as `node:internal/timers`; line and column
   * are from 1.
   */
  source?: {
    /** The file as the heap names it: a path, a URL, or a name such as `node:internal/timers`. */
    file: string;
    /** From 1. */
    line: number;
    /** From 1, in UTF-16 code units. */
    column: number;
  };
  /**
   * A sentence about growth of a kind that many programs have, such as timers that are not cleared. If Node or V8
   * holds the objects: what of the program they hold.
   */
  hint?: string;
  /** A hash of the path; without one, of label and class. */
  fingerprint: string;
  /** Whether all names are from the source. Other names can change with the next build. */
  stable: boolean;
  /**
   * The number of objects in each dump, in the order of `dumps`. Null if the dump has no object that could hold them;
   * such dumps do not count.
   */
  counts: (number | null)[];
  /**
   * For each dump, the bytes that the objects contain: the length of strings, the elements of arrays, the entries of
   * maps and sets, fields. For raw blocks, the bytes of the blocks.
   */
  bytes: (number | null)[];
  /**
   * For each dump, the bytes that the objects retain together: the sum of the retained sizes of those that no other of
   * them dominates. At least so much is freed when the program lets go of all of them.
   */
  retained: (number | null)[];
  /**
   * The mean growth per interval, from the first dump that counts and has a number to the last one. Negative where the
   * last number is smaller: more objects can retain less.
   */
  perInterval: {
    /** Objects. */
    count: number;
    /** The bytes of their contents. */
    bytes: number;
    /** The bytes that they retain. */
    retained: number;
  };
  /** The places that grow because this one grows: bytes ↓, count ↓, path ↑; at most 1,000. */
  folded: FoldedPlace[];
}

/** A growing place that another one explains. */
export interface FoldedPlace {
  /** The class of what is held. */
  className: string;
  /** What the references are called. */
  label: string | null;
  /** The path as text. */
  path: string | null;
  /** A hash of the text. */
  fingerprint: string;
  /** The number of objects in the last dump that counts. */
  count: number;
}

/**
 * A place that grew in every interval up to one of the last dumps, or that added less and less. It may be a cache that
 * has filled, or a leak that paused: more dumps, or a longer warm-up, tell. With `strict` it counts as growing.
 */
export interface UndecidedPlace {
  /** As in {@link GrowingPlace}. */
  path: string | null;
  /** As in {@link GrowingPlace}. */
  label: string | null;
  /** The class of what is held. */
  className: string;
  /** A hash of the text. */
  fingerprint: string;
  /** By dump: how many objects. */
  counts: (number | null)[];
  /** By dump: the bytes of their contents. */
  bytes: (number | null)[];
  /**
   * The number of the last dump, from 1 on and with those of the warm-up, in which it had grown; null if it grows less
   * and less.
   */
  stoppedAfter: number | null;
}

/** The answer to `check`. */
export interface CheckAnswer extends Answer {
  /** Whether no rule is broken. */
  passed: boolean;
  /** All rules. */
  rules: CheckedRule[];
  /** As in {@link GrowthAnswer}, without accepted places. */
  perInterval: LiveGrowth;
  /** All places that grow and are not accepted, in the order of {@link GrowthAnswer.places}. */
  places: GrowingPlace[];
  /** The fingerprints of accepted places that grow. */
  accepted: string[];
  /** The fingerprints of accepted places that do not grow. They can be removed from the list. */
  gone: string[];
  /** As in {@link GrowthAnswer}. They break no rule. */
  undecided: UndecidedPlace[];
}

/** A rule of a check. */
export interface CheckedRule {
  /** `default`, `max-growth`, `max-live`, `max <class>` or `no-growth <class>`. */
  rule: string;
  /** The largest allowed value: growing places, bytes, or objects. */
  limit: number;
  /** The value that was found. It is negative if something shrank. */
  actual: number;
  /** Whether it is kept. */
  passed: boolean;
  /** The fingerprints of the growing places that the rule is about. */
  places: string[];
}

/** The answer to {@link Heap.sites}: retained size ↓, size ↓, then file, line and function. */
export interface SitesAnswer extends Omit<Answer, "schemaVersion">, Page {
  /** Whether every allocation was recorded, so that all numbers are exact. */
  exact: boolean;
  /** The mean number of bytes between two samples. */
  interval: number;
  /** The live bytes of the dump. */
  totalLiveSize: number;
  /** Sampled blocks without an object in the dump, and their bytes. */
  otherBlocks: number;
  /** Their bytes. */
  otherBytes: number;
  /** Of a heap snapshot of V8: live objects that were not recorded. */
  otherObjects?: OtherObjects;
  /** The sites with live objects: retained size ↓, size ↓, then file, line and function. */
  sites: AllocationSite[];
}

/** Objects whose allocation was not recorded. */
export interface OtherObjects {
  /** Their number. */
  count: number;
  /** The sum of their shallow sizes, in bytes. */
  size: number;
}

/** What a line allocated. */
export interface AllocationSite {
  /** The function; empty for code outside of functions. */
  function: string;
  /** Its source file; empty if it is not known. */
  file: string;
  /** From 1; 0 if it is not known. */
  line: number;
  /** The sampled objects that are alive. */
  samples: number;
  /** Of its live objects, estimated from the samples unless the answer is exact. */
  count: number;
  /** Their shallow size. */
  size: number;
  /** The standard error of `size`; 0 if it is exact. */
  sizeError: number;
  /** The retained size of the sampled objects as a set; the others may retain more. */
  retainedSize: number;
  /** The shallow size of its objects that are garbage, estimated. */
  garbageSize: number;
}

/**
 * The answer to {@link Heap.sites} with an earlier heap: change of the size ↓, change of the number ↓, then by line.
 */
export interface SiteGrowthAnswer extends Omit<Answer, "schemaVersion">, Page {
  /** Whether every allocation was recorded, so that all numbers are exact. */
  exact: boolean;
  /** The live bytes of the dump before. */
  liveSizeBefore: number;
  /** The live bytes of the dump after. */
  liveSizeAfter: number;
  /** Of heap snapshots of V8: live objects that were not recorded. */
  otherObjectsBefore?: OtherObjects;
  /** The same after. */
  otherObjectsAfter?: OtherObjects;
  /**
   * The lines with live objects at one of the moments: change of the size ↓, change of the number ↓, then file, line
   * and function.
   */
  sites: SiteChange[];
}

/** How much of what a line allocated was alive at two moments. */
export interface SiteChange {
  /** The function; empty for code outside of functions. */
  function: string;
  /** Its source file; empty if it is not known. */
  file: string;
  /** From 1; 0 if it is not known. */
  line: number;
  /** The number of its live objects before, estimated unless it is exact. */
  countBefore: number;
  /** The same after. */
  countAfter: number;
  /** The number after less the number before. */
  countChange: number;
  /** The shallow size of its live objects before, in bytes. */
  sizeBefore: number;
  /** The same after. */
  sizeAfter: number;
  /** The size after less the size before. */
  sizeChange: number;
  /** The standard error of `sizeChange`; 0 if it is exact. */
  sizeError: number;
}

/** The live objects of one dump, by class. */
export interface ConstructorView extends View {
  /**
   * The allocator's space: the size of the memory minus the address of the first block. Absent for a heap snapshot of
   * V8.
   */
  totalHeapSize?: number;
  /** Sum of the shallow sizes of all live heap objects. */
  totalLiveSize: number;
  /** Of heaps that were joined: the same by heap. Absent for one heap. */
  totalLiveParts?: SizeParts;
  /**
   * Of a program of C, C++, Rust or Zig: the part of it to which nothing in the memory leads. Absent for other heaps.
   */
  totalUnreferencedSize?: number;
  /** Rows in the requested order. */
  constructors: ConstructorRow[];
  /**
   * Whether the heap is damaged and the view covers only the part before the damage (`AnalysisOptions.partial`).
   */
  partial: boolean;
  /** The reasons why numbers may be wrong; empty if there are none. */
  warnings: Warning[];
  /** What every byte of the heap is used for. Null for a heap snapshot of V8, which does not say it. */
  accounting: Accounting | null;
}

/** The live objects of one class. */
export interface ConstructorRow {
  /** Source-level name with its module path, such as `assembly/index/Node`. */
  className: string;
  /**
   * Only for programs of C, C++ and Rust: how the type of these blocks was found, and of several ways the worst. From
   * a table of functions in the block (`dynamic`), from the container that holds it, from the variable or field that
   * refers to it, because it is the only type that fits (`fit`), or not at all.
   */
  typeEvidence?: "dynamic" | "container" | "field" | "fit" | "none";
  /** Number of live objects. */
  count: number;
  /** Sum of the instances' shallow sizes. */
  totalShallowSize: number;
  /** Sum of the instances' retained sizes. Retained sizes overlap, so the sum may exceed the live size. */
  totalRetainedSize: number;
  /**
   * The bytes that at least one of the instances retains, each counted once: an instance inside what another instance
   * of the class retains adds nothing. Removing all instances frees at least that much. The sum never exceeds the live
   * size. Present in the views of a loaded heap, and with the option `retainedSet`. Not enumerable, so JSON leaves it
   * out.
   */
  readonly retainedSetSize?: number;
  /**
   * Of heaps that were joined: `totalShallowSize`, `totalRetainedSize` and `retainedSetSize` by heap. Absent for one
   * heap.
   */
  totalShallowParts?: SizeParts;
  totalRetainedParts?: SizeParts;
  /** Not enumerable, so JSON leaves it out. */
  readonly retainedSetParts?: SizeParts;
  /** Order: retained size ↓, shallow size ↓, address ↑. Created when first read. */
  readonly instances: Instance[];
  /**
   * The same instances in the same order as columns: read these when there are millions. Not enumerable, so JSON and
   * clones leave them out.
   */
  readonly instanceColumns: InstanceColumns;
}

/** One live object. */
export interface Instance {
  /** The address of its payload in linear memory. */
  address: number;
  /** The size of its allocator block: payload, object header and block header. */
  shallowSize: number;
  /**
   * What would be freed if this object went away: the shallow sizes of the object and of all objects that it
   * dominates.
   */
  retainedSize: number;
}

/** Instances as columns of equal length. */
export interface InstanceColumns {
  /** A Float64Array if an address needs more than 32 bits. */
  addresses: Uint32Array | Float64Array;
  /** A Float64Array if a size needs more than 32 bits, which happens only in heap snapshots of V8. */
  shallowSizes: Uint32Array | Float64Array;
  retainedSizes: Uint32Array | Float64Array;
}

/** What changed between two dumps. Two objects are the same if their class name and address are the same. */
export interface ComparisonView extends View {
  /** The sizes of the heaps are absent for heap snapshots of V8. */
  beforeTotalHeapSize?: number;
  afterTotalHeapSize?: number;
  totalHeapSizeDelta?: number;
  beforeTotalLiveSize: number;
  afterTotalLiveSize: number;
  totalLiveSizeDelta: number;
  /** Of a program of C, C++, Rust or Zig: to what nothing in the memory leads. Absent for other heaps. */
  beforeTotalUnreferencedSize?: number;
  afterTotalUnreferencedSize?: number;
  totalUnreferencedSizeDelta?: number;
  /** Rows in the requested order; classes without a change are left out. */
  constructors: ComparisonRow[];
  /** Whether a heap is damaged and the view covers only the part before the damage (`AnalysisOptions.partial`). */
  partial: boolean;
  /** The warnings of both dumps. Each message begins with the name of the dump. */
  warnings: Warning[];
}

/** What changed in one class. */
export interface ComparisonRow {
  /** Source-level name with its module path. */
  className: string;
  /** Objects only in the after dump. */
  newCount: number;
  /** Objects only in the before dump. */
  deletedCount: number;
  /** newCount − deletedCount. */
  countDelta: number;
  /** Sum of the shallow sizes of the new objects. */
  allocatedSize: number;
  /** Sum of the shallow sizes of the deleted objects. */
  freedSize: number;
  /** allocatedSize − freedSize. */
  sizeDelta: number;
  /** Order: new before deleted, then shallow size ↓, retained size ↓, address ↑. Created when first read. */
  readonly instances: ChangedInstance[];
  /** The same instances in the same order as columns. Not enumerable, so JSON and clones leave them out. */
  readonly instanceColumns: ChangedInstanceColumns;
}

/** One object that was created or deleted between two dumps. */
export interface ChangedInstance extends Instance {
  /**
   * `new`: only in the after dump, with its sizes there. `delete`: only in the before dump, with its sizes there.
   */
  changeKind: "new" | "delete";
}

/** Changed instances as columns of equal length: the first `newCount` are new, the others deleted. */
export interface ChangedInstanceColumns extends InstanceColumns {
  newCount: number;
}

/**
 * The graph in an answer to {@link Heap.unreachable} with `maxNodes`: the largest unreachable objects and unreferenced
 * raw blocks. If these are fewer than `maxNodes`, the largest live and static objects to which they refer are added.
 */
export interface UnreachableGraph {
  /** Size ↓, class name ↑, address ↑. */
  nodes: UnreachableNode[];
  /** All references between these objects; at most 16 per node of `maxNodes`. Raw blocks have none. */
  edges: UnreachableEdge[];
}

/** An object or a raw block. */
export interface UnreachableNode {
  /** Its payload. */
  address: number;
  /** The address as text: `0x9540`; of a heap snapshot of V8 the id of the object, `@38208`. */
  addressText: string;
  /** Null for a raw block. */
  className: string | null;
  /** Its kind. */
  state: ObjectState;
  /** The size of its block. */
  shallowSize: number;
  /**
   * The number of the object's cycle; null if it is in none. The cycles of the graph are numbered from 0, the largest
   * first.
   */
  cycle: number | null;
}

/** A reference between two nodes. */
export interface UnreachableEdge {
  /** The index in `nodes` of the object that has the reference. */
  from: number;
  /** The index in `nodes` of the object to which it refers. */
  to: number;
  /** The reference, with indexes and keys as `[*]`. */
  label: string;
}
