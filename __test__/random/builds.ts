/**
 * The builds of the random program. Only two are compiled: what debug sections, names and exports
 * add to a module can be taken away again, and leaves what the compiler makes without them
 * (`builds.test.ts` compares).
 */

import { exposeGlobals } from "@warpo/heap-analyzer/capture";

import { compile, OPTIMISED, RANDOM_PROGRAMS, UNOPTIMISED } from "../support/compile.ts";
import { exportGlobals, readWasmModule, TYPE_I32, without } from "../support/wasm_module.ts";

/** Small steps in short intervals, so that most dumps are taken in the middle of a cycle. */
const COLLECTOR_SETTINGS = [
  ["ASC_GC_GRANULARITY", 256],
  ["ASC_GC_MARKCOST", 64],
  ["ASC_GC_SWEEPCOST", 64],
  ["ASC_GC_IDLEFACTOR", 110],
].flatMap(([name, value]) => ["--use", `${name}=${value}`]);

/** What a module says about itself, and so what its class names can be. */
export type Evidence = "debug sections" | "names" | "code alone";

export interface BuildKind {
  name: string;
  flags: string[];
  evidence: Evidence;
  /** Whether each class name must be the compiler's; otherwise it may be `Class#<id>`. */
  allNamesKnown: boolean;
}

export const BUILD_KINDS: BuildKind[] = [
  {
    name: "unoptimised",
    flags: UNOPTIMISED,
    evidence: "debug sections",
    allNamesKnown: true,
  },
  { name: "O3", flags: OPTIMISED, evidence: "debug sections", allNamesKnown: true },
  { name: "unoptimised-names", flags: UNOPTIMISED, evidence: "names", allNamesKnown: true },
  { name: "O3-names", flags: OPTIMISED, evidence: "names", allNamesKnown: false },
  { name: "O3-stripped", flags: OPTIMISED, evidence: "code alone", allNamesKnown: false },
];

/** A build, ready to be instantiated many times. */
export interface Build extends BuildKind {
  /** What the analyzer is given. */
  wasm: Uint8Array;
  /** The same with all globals exported: for dumps, and once more for the truth. */
  module: WebAssembly.Module;
  /** Export names of the mutable i32 globals by their name in the source. */
  globals: Map<string, string>;
  classNames: Map<number, string>;
}

const BOUNDARIES = ["__data_end", "__heap_base", "__stack_pointer"];

/** The module as the compiler makes it without the transform, or without `--debug` either. */
export function reduceTo(evidence: Evidence, wasm: Uint8Array): Uint8Array {
  if (evidence === "debug sections") return wasm;
  return without(wasm, {
    customSection: (name) =>
      evidence === "code alone" ||
      name.startsWith("debug_") ||
      // Stock builds get one only if they are asked for it.
      name === "sourceMappingURL",
    export: (name) => BOUNDARIES.includes(name),
  });
}

export async function makeBuild(kind: BuildKind): Promise<Build> {
  const compiled = await compile("heap", [...kind.flags, ...COLLECTOR_SETTINGS], RANDOM_PROGRAMS);
  const wasm = reduceTo(kind.evidence, compiled.wasm);
  // The names are those of the richest build; the globals are the same in all.
  const mutable = readWasmModule(compiled.wasm).globals.filter(
    (global) => global.mutable && global.type === TYPE_I32,
  );
  const exported = new Map(mutable.map(({ index }) => [`judge:${index}`, index]));
  return {
    ...kind,
    wasm,
    module: new WebAssembly.Module(exportGlobals(exposeGlobals(wasm), exported)),
    globals: new Map(mutable.map(({ index, name }) => [name ?? `${index}`, `judge:${index}`])),
    classNames: compiled.classNames,
  };
}
