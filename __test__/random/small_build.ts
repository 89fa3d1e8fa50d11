/** Builds of small random programs, as optimisers leave them. The same seed gives the same build. */

import { type CompiledProgram, compileSource } from "../support/compile.ts";
import {
  DEBUG_INFORMATION,
  type DebugInformation,
  withDebugInformation,
} from "../support/debug_information.ts";
import {
  describeOptimisation,
  type Optimisation,
  optimise,
  randomOptimisation,
} from "../support/optimiser.ts";
import { type NamesLeft, withNames } from "../support/wasm_module.ts";
import { COLLECTOR_SETTINGS } from "./builds.ts";
import { smallProgram } from "./small_program.ts";
import { randomFrom } from "./stream.ts";

/** How a build came about, as far as the analyzer may notice. */
export interface SmallBuildKind {
  asc: string;
  /** The changes that Binaryen made to the output of `asc`. */
  binaryen?: Optimisation;
  debugInformation: DebugInformation;
  names: NamesLeft;
}

export interface SmallBuild extends SmallBuildKind {
  seed: number;
  source: string;
  /** With all names. */
  named: Uint8Array;
  /** The module for the analyzer. */
  wasm: Uint8Array;
  classNames: Map<number, string>;
}

/** Seeds of one program. The first is the output of `asc` alone. */
export const BUILDS_PER_PROGRAM = 8;

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

export function planSmallBuild(seed: number): SmallBuildPlan {
  const programSeed = Math.floor(seed / BUILDS_PER_PROGRAM);
  const ofProgram = randomFrom(2 * programSeed);
  const level = ASC_LEVELS[ofProgram(ASC_LEVELS.length)] as string[];
  const lowMemoryUnused = ofProgram(2) === 0;
  const random = randomFrom(2 * seed + 1);
  const binaryen =
    seed % BUILDS_PER_PROGRAM === 0 ? undefined : randomOptimisation(random, lowMemoryUnused);
  return {
    programSeed,
    asc: level.length === 0 ? "asc -O0" : `asc ${level.join(" ")}`,
    flags: [
      "--debug",
      ...level,
      ...(lowMemoryUnused ? ["--memoryBase", `${LOW_MEMORY_END}`] : []),
      ...(ofProgram(2) === 0 ? COLLECTOR_SETTINGS : []),
    ],
    boundariesExported: ofProgram(2) === 0,
    ...(binaryen && { binaryen }),
    debugInformation: DEBUG_INFORMATION[random(DEBUG_INFORMATION.length)] as DebugInformation,
    names: NAMES[random(NAMES.length)] as NamesLeft,
  };
}

let latestProgram: { seed: number; source: string; compiled: CompiledProgram } | undefined;

export async function smallBuild(seed: number): Promise<SmallBuild> {
  const plan = planSmallBuild(seed);
  const { programSeed, flags, boundariesExported, asc, binaryen, debugInformation, names } = plan;
  if (latestProgram?.seed !== programSeed) {
    const source = smallProgram(programSeed);
    const compiled = await compileSource("small", source, flags, { transform: boundariesExported });
    latestProgram = { seed: programSeed, source, compiled };
  }
  const { source, compiled } = latestProgram;
  const optimised = binaryen ? optimise(compiled.wasm, binaryen) : compiled.wasm;
  const named = withDebugInformation(optimised, compiled.description, debugInformation);
  return {
    seed,
    asc,
    ...(binaryen && { binaryen }),
    debugInformation,
    names,
    source,
    named,
    wasm: withNames(named, names),
    classNames: compiled.classNames,
  };
}

/** For people: one line. */
export function describeBuild({ asc, binaryen, debugInformation, names }: SmallBuildKind): string {
  const optimised = binaryen ? `${asc}, ${describeOptimisation(binaryen)}` : asc;
  return `${optimised}; debug information: ${debugInformation}; names: ${names}`;
}
