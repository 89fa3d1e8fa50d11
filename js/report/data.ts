/** What the page shows: the shapes of the engine's answer, and how they come out of the file. */
import type {
  Branch,
  Cut,
  CycleGroup,
  Edge,
  FieldValue,
  MergedPathsAnswer,
  ObjectName,
  Root,
  SizeParts,
  Step,
  SummaryAnswer,
  Suspect,
  SuspectsAnswer,
  UnreachableAnswer,
  UnreachableGraph,
  WasteAnswer,
} from "../../answers.js";
import type { Accounting, Warning } from "../../index.js";
import { useShortNames } from "./format.ts";

type Body<Answer> = Omit<Answer, "schemaVersion" | "partial" | "warnings">;

export type Summary = Body<SummaryAnswer>;
export type Suspects = Body<SuspectsAnswer>;
export type Waste = Body<WasteAnswer>;
export type MergedPaths = Body<MergedPathsAnswer>;
export type {
  Accounting,
  Branch,
  Cut,
  CycleGroup,
  Edge,
  FieldValue,
  ObjectName,
  Root,
  Step,
  Suspect,
};

export interface ClassRow {
  className: string;
  count: number;
  shallowSize: number;
  /** Of heaps that were joined: these bytes by heap, here and below. */
  shallowParts?: SizeParts;
  retainedSize: number;
  retainedSetSize: number;
  retainedSetParts?: SizeParts;
}

export type CellKind = "heap" | "object" | "chain" | "class" | "rest";

/** The cells of the dominator tree, as columns. The first is the whole heap. */
export interface CellColumns {
  parent: number[];
  kind: CellKind[];
  className: (string | null)[];
  /** What the class is used for. */
  classUse: ("program" | "container" | "contents" | null)[];
  address: (number | null)[];
  addressText: (string | null)[];
  count: number[];
  shallowSize: number[];
  retainedSize: number[];
  /** Of heaps that were joined: the bytes of WebAssembly among the retained size. */
  wasmSize?: number[];
}

/** A path without its middle. */
export interface ShortPath {
  root: Root;
  steps: Step[];
  leftOutAfter: number;
  leftOut: number;
  fingerprint: string;
  stable: boolean;
}

/** Why the object of a cell is alive. */
export interface Detail {
  cell: number;
  preview: string | null;
  path: ShortPath | null;
  cut: Cut | null;
  referrerCount: number;
  referrers: Edge[];
}

export interface Changes {
  newCount: number;
  deletedCount: number;
  allocatedSize: number;
  freedSize: number;
}

export interface Comparison {
  before: Summary;
  growth: Suspects;
  total: Changes;
  rows: (Changes & { className: string })[];
  restClasses: number;
  rest: Changes;
  newPaths: MergedPaths;
}

export type Unreachable = Body<UnreachableAnswer> &
  UnreachableGraph & { fields: { total: number; fields: FieldValue[] }[] };

export interface Report {
  version: string;
  partial: boolean;
  warnings: Warning[];
  moreWarnings: number;
  dump: string;
  before: string | null;
  summary: Summary;
  suspects: Suspects;
  classes: {
    rows: ClassRow[];
    rest: { classes: number; count: number; shallowSize: number; shallowParts?: SizeParts };
  };
  cells: CellColumns;
  details: Detail[];
  comparison: Comparison | null;
  /** Null if the heap does not say what objects contain: blocks of C and Rust. */
  waste: Waste | null;
  /** Null for a heap snapshot of V8, which contains only what is alive, and for blocks of C and Rust. */
  unreachable: Unreachable | null;
}

/** Reads the data of this file. */
export async function readReport(base64: string): Promise<Report> {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return unpackReport(JSON.parse(await new Response(unpacked).text()));
}

/** The data in which texts stand once. */
interface Packed {
  strings: string[];
  shortNames: [number, string][];
  body: unknown;
}

/** The data with its texts in their places. */
export function unpackReport(packed: unknown): Report {
  const { strings, shortNames, body, ...rest } = packed as Packed;
  const names = shortNames.map(([nth, name]) => [strings[nth] as string, name] as const);
  useShortNames(new Map(names));
  return { ...rest, ...(withTexts(body, strings) as object) } as Report;
}

/** The value with the numbers of texts replaced by the texts. */
function withTexts(value: unknown, strings: string[]): unknown {
  if (typeof value === "string") return strings[Number(value)];
  if (Array.isArray(value)) return value.map((one) => withTexts(one, strings));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, one]) => [key, withTexts(one, strings)]);
  return Object.fromEntries(entries);
}
