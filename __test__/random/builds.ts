/** The builds of the random program. */

import { exposeGlobals } from "@warpo/heap-analyzer/capture";

import type { DebugInfoDescription } from "../../dist/asc_transform/description.mjs";
import { compile, RANDOM_PROGRAMS } from "../support/compile.ts";
import {
  DEBUG_INFORMATION,
  type DebugInformation,
  withDebugInformation,
} from "../support/debug_information.ts";
import {
  INLINING_NAMES,
  KEPT_NAMES,
  type Optimisation,
  optimiseOnce,
} from "../support/optimiser.ts";
import {
  exportFunction,
  exportGlobals,
  functionNamed,
  type NamesLeft,
  readWasmModule,
  TYPE_I32,
  withNames,
} from "../support/wasm_module.ts";

/** Small steps in short intervals, so that most dumps are taken in the middle of a cycle. */
export const COLLECTOR_SETTINGS = [
  ["ASC_GC_GRANULARITY", 256],
  ["ASC_GC_MARKCOST", 64],
  ["ASC_GC_SWEEPCOST", 64],
  ["ASC_GC_IDLEFACTOR", 110],
].flatMap(([name, value]) => ["--use", `${name}=${value}`]);

export interface BuildKind {
  name: string;
  /** Options of `asc`. */
  flags: string[];
  /** The passes of Binaryen after that. */
  binaryen?: Optimisation;
  debugInformation: DebugInformation;
  names: NamesLeft;
  /** Whether `asc` is run without `--exportRuntime`, as it is by default. */
  keepsRuntimePrivate?: boolean;
}

const OPTIMISED = ["-O3"];

const binaryen = (
  run: Optimisation["run"],
  inlining: Optimisation["inlining"],
  { converge = false, kept = "none" }: Partial<Pick<Optimisation, "converge" | "kept">> = {},
) => ({
  name: [`Binaryen-${run}-${inlining}`, ...(kept === "none" ? [] : [`no-${kept}`])]
    .join("-")
    .replaceAll(" ", "-"),
  flags: [],
  binaryen: { run, inlining, kept, converge, lowMemoryUnused: false },
});

/** The output of `asc`. */
export const ASC_BUILD_KINDS: BuildKind[] = [
  { name: "unoptimised", flags: [], debugInformation: "transform", names: "all" },
  { name: "O3", flags: OPTIMISED, debugInformation: "transform", names: "all" },
  { name: "O3-sections", flags: OPTIMISED, debugInformation: "transform", names: "none" },
  { name: "unoptimised-names", flags: [], debugInformation: "none", names: "all" },
  { name: "O3-names", flags: OPTIMISED, debugInformation: "none", names: "all" },
  { name: "O3-stripped", flags: OPTIMISED, debugInformation: "none", names: "none" },
];

/** The output of Binaryen. */
export const INLINED_BUILD_KINDS: BuildKind[] = [
  { ...binaryen("O1", "much"), debugInformation: "located", names: "all" },
  { ...binaryen("O2", "some", { converge: true }), debugInformation: "older", names: "half" },
  { ...binaryen("O3", "much"), debugInformation: "located", names: "none" },
  { ...binaryen("O4", "usual"), debugInformation: "transform", names: "functions" },
  { ...binaryen("Os", "some"), debugInformation: "none", names: "all" },
  { ...binaryen("Oz", "one caller"), debugInformation: "located", names: "globals" },
  { ...binaryen("inlining", "one caller"), debugInformation: "none", names: "half" },
  { ...binaryen("merged functions", "some"), debugInformation: "transform", names: "none" },
  { ...binaryen("O3", "none"), debugInformation: "none", names: "none" },
];

/** -O1 with each inlining, and with visitors that are not inlined. */
export const O1_BUILD_KINDS: BuildKind[] = [
  ...INLINING_NAMES.filter((inlining) => inlining !== "much").map((inlining) =>
    binaryen("O1", inlining),
  ),
  ...KEPT_NAMES.filter((kept) => kept !== "none").map((kept) =>
    binaryen("O1", "everything", { kept }),
  ),
].map((kind, nth) => ({
  ...kind,
  debugInformation: DEBUG_INFORMATION[nth % DEBUG_INFORMATION.length] as DebugInformation,
  names: nth % 2 === 0 ? "none" : "all",
}));

/** Without `--exportRuntime`, the default of `asc` and WARPO. */
export const PRIVATE_BUILD_KINDS: BuildKind[] = [
  { name: "unoptimised", flags: [], debugInformation: "transform" as const, names: "all" as const },
  { name: "O1", flags: ["-O1"], debugInformation: "located" as const, names: "all" as const },
  { name: "O3", flags: OPTIMISED, debugInformation: "transform" as const, names: "none" as const },
  {
    name: "O3-stripped",
    flags: OPTIMISED,
    debugInformation: "none" as const,
    names: "none" as const,
  },
  { ...binaryen("O1", "much"), debugInformation: "older" as const, names: "none" as const },
  // With more inlining, no function may be left that collects: the judge has such builds of small programs only.
].map((kind) => ({ ...kind, name: `${kind.name}-private`, keepsRuntimePrivate: true }));

export const BUILD_KINDS = [
  ...ASC_BUILD_KINDS,
  ...INLINED_BUILD_KINDS,
  ...O1_BUILD_KINDS,
  ...PRIVATE_BUILD_KINDS,
];

/** Whether the analyzer can read the state of the collector. */
export function isStateNamed({ names }: Pick<BuildKind, "names">): boolean {
  return names === "all" || names === "globals";
}

/** The only warnings that an undamaged heap may have: about missing names. */
export function isExpectedWarning(
  build: Pick<BuildKind, "debugInformation" | "names">,
  code: string,
): boolean {
  return build.debugInformation === "none" && code.startsWith("WARN_NAMES_");
}

/** A build, ready to be instantiated many times. */
export interface RandomBuild extends BuildKind {
  /** The module for the analyzer. */
  wasm: Uint8Array;
  /** The same code with all globals, and the collector, exported: for dumps, and once more for the truth. */
  module: WebAssembly.Module;
  /** Export names of the mutable i32 globals by their name in the source. */
  globals: Map<string, string>;
  classNames: Map<number, string>;
  description: DebugInfoDescription;
  /** The address of the run-time type flags. */
  typeInfo: number;
  /** Modules with the same code and more or less names and debug information, by these. */
  sameCode: [evidence: string, wasm: Uint8Array][];
}

/** Exports the functions that cuts call, as far as the optimiser left them. The code stays the same. */
function exportCollector(wasm: Uint8Array, named: Uint8Array): Uint8Array<ArrayBuffer> {
  let exported = new Uint8Array(wasm);
  for (const name of ["__collect", "__unpin"]) {
    const index = functionNamed(named, `~lib/rt/itcms/${name}`);
    if (index !== undefined) exported = exportFunction(exported, name, index);
  }
  return exported;
}

export async function makeBuild(kind: BuildKind): Promise<RandomBuild> {
  const { debugInformation, names, keepsRuntimePrivate = false } = kind;
  const flags = [...kind.flags, ...COLLECTOR_SETTINGS, "--debug"];
  const transform = debugInformation !== "none";
  const exportRuntime = !keepsRuntimePrivate;
  const program = await compile("heap", flags, {
    folder: RANDOM_PROGRAMS,
    transform,
    exportRuntime,
  });
  const optimised = kind.binaryen ? optimiseOnce(program.wasm, kind.binaryen) : program.wasm;
  const named = withDebugInformation(optimised, program.description, debugInformation);
  const wasm = withNames(named, names);
  const mutable = readWasmModule(named).globals.filter(
    (global) => global.mutable && global.type === TYPE_I32,
  );
  const exported = new Map(mutable.map(({ index }) => [`judge:${index}`, index]));
  const judged = exportGlobals(exposeGlobals(wasm), exported);
  return {
    ...kind,
    wasm,
    module: new WebAssembly.Module(keepsRuntimePrivate ? exportCollector(judged, named) : judged),
    globals: new Map(mutable.map(({ index, name }) => [name ?? `${index}`, `judge:${index}`])),
    classNames: program.classNames,
    description: program.description,
    typeInfo: program.typeInfo,
    sameCode: [
      ["all evidence", withDebugInformation(named, program.description, "transform")],
      [
        "nothing but code",
        withNames(withDebugInformation(named, program.description, "none"), "none"),
      ],
    ],
  };
}
