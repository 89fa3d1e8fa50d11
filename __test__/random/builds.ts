/** The builds of the random program. */

import { exposeGlobals } from "@warpo/heap-analyzer/capture";

import { build, type Evidence } from "../support/builds.ts";
import { RANDOM_PROGRAMS } from "../support/compile.ts";
import { exportGlobals, readWasmModule, TYPE_I32 } from "../support/wasm_module.ts";

/** Small steps in short intervals, so that most dumps are taken in the middle of a cycle. */
export const COLLECTOR_SETTINGS = [
  ["ASC_GC_GRANULARITY", 256],
  ["ASC_GC_MARKCOST", 64],
  ["ASC_GC_SWEEPCOST", 64],
  ["ASC_GC_IDLEFACTOR", 110],
].flatMap(([name, value]) => ["--use", `${name}=${value}`]);

export interface BuildKind {
  name: string;
  flags: string[];
  evidence: Evidence;
  /** Whether each class name must be the compiler's; otherwise it may be `Class#<id>`. */
  allNamesKnown: boolean;
}

const OPTIMISED = ["-O3"];

export const BUILD_KINDS: BuildKind[] = [
  { name: "unoptimised", flags: [], evidence: "sections and names", allNamesKnown: true },
  { name: "O3", flags: OPTIMISED, evidence: "sections and names", allNamesKnown: true },
  { name: "O3-sections", flags: OPTIMISED, evidence: "sections", allNamesKnown: true },
  { name: "unoptimised-names", flags: [], evidence: "names", allNamesKnown: true },
  { name: "O3-names", flags: OPTIMISED, evidence: "names", allNamesKnown: false },
  { name: "O3-stripped", flags: OPTIMISED, evidence: "nothing", allNamesKnown: false },
];

/** A build, ready to be instantiated many times. */
export interface RandomBuild extends BuildKind {
  /** What the analyzer is given. */
  wasm: Uint8Array;
  /** The same with all globals exported: for dumps, and once more for the truth. */
  module: WebAssembly.Module;
  /** Export names of the mutable i32 globals by their name in the source. */
  globals: Map<string, string>;
  classNames: Map<number, string>;
}

export async function makeBuild(kind: BuildKind): Promise<RandomBuild> {
  const flags = [...kind.flags, ...COLLECTOR_SETTINGS];
  const { program, wasm } = await build("heap", flags, kind.evidence, { folder: RANDOM_PROGRAMS });
  const mutable = readWasmModule(program.wasm).globals.filter(
    (global) => global.mutable && global.type === TYPE_I32,
  );
  const exported = new Map(mutable.map(({ index }) => [`judge:${index}`, index]));
  return {
    ...kind,
    wasm,
    module: new WebAssembly.Module(exportGlobals(exposeGlobals(wasm), exported)),
    globals: new Map(mutable.map(({ index, name }) => [name ?? `${index}`, `judge:${index}`])),
    classNames: program.classNames,
  };
}
