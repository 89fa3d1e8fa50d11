/** Builds of small random programs, as optimisers leave them. The same seed gives the same build. */

import { type CompiledProgram, compileSource, isOlder } from "../support/compile.ts";
import {
  DEBUG_INFORMATION,
  type DebugInformation,
  withDebugInformation,
} from "../support/debug_information.ts";
import {
  describeOptimisation,
  INLINING_NAMES,
  type Optimisation,
  optimise,
  randomOptimisation,
} from "../support/optimiser.ts";
import { type NamesLeft, withNames } from "../support/wasm_module.ts";
import { COLLECTOR_SETTINGS } from "./builds.ts";
import { type Collection, FILLER, smallProgram, tinyProgram } from "./small_program.ts";
import { type Random, randomFrom } from "./stream.ts";
import { chooseUnusual, compilation, describeUnusual, type Unusual } from "./unusual.ts";

/** A number of a program and its build. */
export interface SmallSeed {
  seed: number;
  /** Whether the program has what others do not: it needs what is installed for `asc_packages`. */
  isUnusual: boolean;
}

/** How a build came about, as far as the analyzer may notice. */
export interface SmallBuildKind {
  size: "small" | "tiny";
  unusual?: Unusual;
  collection: Collection;
  /** Whether the module exports the runtime's functions. */
  exportRuntime: boolean;
  asc: string;
  /** The changes that Binaryen made to the output of `asc`. */
  binaryen?: Optimisation;
  debugInformation: DebugInformation;
  names: NamesLeft;
}

export interface SmallBuild extends SmallBuildKind, SmallSeed {
  source: string;
  /** With all names. */
  named: Uint8Array;
  /** The module for the analyzer. */
  wasm: Uint8Array;
  classNames: Map<number, string>;
  /** The class of the objects that the program makes while the collector judges. */
  filler: number | undefined;
}

/** Seeds of one program. The first is the output of `asc` alone. */
export const BUILDS_PER_PROGRAM = 8;

const COLLECTIONS: Collection[] = ["called", "exported", "by allocation"];
const NAMES: NamesLeft[] = ["all", "functions", "globals", "half", "none"];
const ASC_LEVELS = [
  [],
  [],
  [],
  ["-O1"],
  ["-O2"],
  ["-O3"],
  ["-O3", "--converge"],
  ["-Os"],
  ["-Oz"],
  ["-Oz", "--converge"],
];
/** Nothing is below this address: Binaryen assumes this if low memory is declared unused. */
const LOW_MEMORY_END = 1024;

/** The parameters of a seed, before anything is compiled. */
interface SmallBuildPlan extends SmallBuildKind {
  programSeed: number;
  /** Options of `asc`. */
  flags: string[];
  /** Whether the transform exports the boundaries of the memory, as newer WARPO does. */
  boundariesExported: boolean;
}

export function planSmallBuild({ seed, isUnusual }: SmallSeed): SmallBuildPlan {
  const programSeed = Math.floor(seed / BUILDS_PER_PROGRAM);
  const ofProgram = randomFrom(2 * programSeed);
  const level = ASC_LEVELS[ofProgram(ASC_LEVELS.length)] as string[];
  const lowMemoryUnused = ofProgram(2) === 0;
  const settings = ofProgram(2) === 0 ? COLLECTOR_SETTINGS : [];
  const boundariesExported = ofProgram(2) === 0;
  const size = programSeed % 2 === 0 ? "small" : "tiny";
  const collection = COLLECTIONS[ofProgram(COLLECTIONS.length)] as Collection;
  const exportRuntime =
    collection === "exported" || (collection === "called" && ofProgram(2) === 0);
  const unusual = isUnusual ? chooseUnusual(ofProgram) : undefined;
  const isDescribed = unusual === undefined || !isOlder(unusual.compiler);
  const random = randomFrom(2 * seed + 1);
  const binaryen = chooseOptimisation(
    { nth: seed % BUILDS_PER_PROGRAM, size, lowMemoryUnused },
    random,
  );
  return {
    programSeed,
    size,
    ...(unusual && { unusual }),
    collection,
    exportRuntime,
    asc: level.length === 0 ? "asc -O0" : `asc ${level.join(" ")}`,
    flags: [
      "--debug",
      ...level,
      ...(lowMemoryUnused ? ["--memoryBase", `${LOW_MEMORY_END}`] : []),
      ...settings,
    ],
    boundariesExported: boundariesExported && isDescribed,
    ...(binaryen && { binaryen }),
    debugInformation: isDescribed
      ? (DEBUG_INFORMATION[random(DEBUG_INFORMATION.length)] as DebugInformation)
      : "none",
    names: NAMES[random(NAMES.length)] as NamesLeft,
  };
}

/** The first build of a program is the compiler's output. Tiny programs have -O1 with each inlining. */
function chooseOptimisation(
  {
    nth,
    size,
    lowMemoryUnused,
  }: { nth: number; size: SmallBuildKind["size"]; lowMemoryUnused: boolean },
  random: Random,
): Optimisation | undefined {
  if (nth === 0) return undefined;
  const chosen = randomOptimisation(random, lowMemoryUnused);
  const inlining = INLINING_NAMES[nth - 1];
  return size === "tiny" && inlining ? { ...chosen, run: "O1", inlining } : chosen;
}

let latestProgram:
  | { seed: number; isUnusual: boolean; source: string; compiled: CompiledProgram }
  | undefined;

export async function smallBuild({ seed, isUnusual }: SmallSeed): Promise<SmallBuild> {
  const plan = planSmallBuild({ seed, isUnusual });
  const { programSeed, flags, boundariesExported: transform, ...kind } = plan;
  const { size, unusual, collection, exportRuntime, binaryen, debugInformation, names } = kind;
  if (latestProgram?.seed !== programSeed || latestProgram.isUnusual !== isUnusual) {
    const source = (size === "tiny" ? tinyProgram : smallProgram)(programSeed, collection, unusual);
    const { flags: more = [], ...needed } = unusual ? compilation(unusual) : {};
    const options = { transform, exportRuntime, ...needed };
    const compiled = await compileSource("small", source, [...flags, ...more], options);
    latestProgram = { seed: programSeed, isUnusual, source, compiled };
  }
  const { source, compiled } = latestProgram;
  const optimised = binaryen ? optimise(compiled.wasm, binaryen) : compiled.wasm;
  const named = withDebugInformation(optimised, compiled.description, debugInformation);
  return {
    ...kind,
    seed,
    isUnusual,
    source,
    named,
    wasm: withNames(named, names),
    classNames: compiled.classNames,
    filler: [...compiled.classNames].find(([, name]) => name === FILLER)?.[0],
  };
}

/** For people: one line. */
export function describeBuild(kind: SmallBuildKind): string {
  const { asc, binaryen, debugInformation, names } = kind;
  const optimised = binaryen ? `${asc}, ${describeOptimisation(binaryen)}` : asc;
  return `${describeProgram(kind)}; ${optimised}; debug information: ${debugInformation}; names: ${names}`;
}

/** What its program is like. */
export function describeProgram({
  size,
  unusual,
  collection,
  exportRuntime,
}: Pick<SmallBuildKind, "size" | "unusual" | "collection" | "exportRuntime">): string {
  const exported = exportRuntime ? "--exportRuntime" : "no --exportRuntime";
  const more = unusual ? `; ${describeUnusual(unusual)}` : "";
  return `${size}, ${exported}, collection ${collection}${more}`;
}
