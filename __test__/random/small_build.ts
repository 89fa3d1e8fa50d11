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
  /** What Binaryen did to what `asc` made. */
  binaryen?: Optimisation;
  debugInformation: DebugInformation;
  names: NamesLeft;
}

export interface SmallBuild extends SmallBuildKind {
  seed: number;
  source: string;
  /** With all names. */
  named: Uint8Array;
  /** What the analyzer is given. */
  wasm: Uint8Array;
  classNames: Map<number, string>;
}

/** Seeds of one program; the first of them is what `asc` makes alone. */
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
/** Below it lies nothing: what Binaryen takes for granted if low memory is said to be unused. */
const LOW_MEMORY_END = 1024;

interface Program {
  seed: number;
  asc: string;
  source: string;
  lowMemoryUnused: boolean;
  compiled: CompiledProgram;
}

let latestProgram: Program | undefined;

export async function smallBuild(seed: number): Promise<SmallBuild> {
  const programSeed = Math.floor(seed / BUILDS_PER_PROGRAM);
  if (latestProgram?.seed !== programSeed) latestProgram = await compileProgram(programSeed);
  const { asc, source, compiled, lowMemoryUnused } = latestProgram;
  const random = randomFrom(2 * seed + 1);
  const binaryen =
    seed % BUILDS_PER_PROGRAM === 0 ? undefined : randomOptimisation(random, lowMemoryUnused);
  const optimised = binaryen ? optimise(compiled.wasm, binaryen) : compiled.wasm;
  const debugInformation = DEBUG_INFORMATION[random(DEBUG_INFORMATION.length)] as DebugInformation;
  const names = NAMES[random(NAMES.length)] as NamesLeft;
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

async function compileProgram(seed: number): Promise<Program> {
  const random = randomFrom(2 * seed);
  const level = ASC_LEVELS[random(ASC_LEVELS.length)] as string[];
  const lowMemoryUnused = random(2) === 0;
  const flags = [
    "--debug",
    ...level,
    ...(lowMemoryUnused ? ["--memoryBase", `${LOW_MEMORY_END}`] : []),
    ...(random(2) === 0 ? COLLECTOR_SETTINGS : []),
  ];
  const source = smallProgram(seed);
  // The transform exports the boundaries of the memory, as newer WARPO does.
  const compiled = await compileSource("small", source, flags, { transform: random(2) === 0 });
  return {
    seed,
    asc: level.length === 0 ? "asc -O0" : `asc ${level.join(" ")}`,
    source,
    lowMemoryUnused,
    compiled,
  };
}

/** For people: one line. */
export function describeBuild({ asc, binaryen, debugInformation, names }: SmallBuildKind): string {
  const optimised = binaryen ? `${asc}, ${describeOptimisation(binaryen)}` : asc;
  return `${optimised}; debug information: ${debugInformation}; names: ${names}`;
}
