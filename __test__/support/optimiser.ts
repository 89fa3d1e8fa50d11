/** Real Binaryen, run over finished modules with any of its settings. */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import binaryen from "binaryen";

import type { Random } from "../random/stream.ts";
import { CACHE, writeWhole } from "./compile.ts";

/** Sizes up to which functions are inlined, in Binaryen's units. */
interface InlineLimits {
  always: number;
  flexible: number;
  oneCaller: number;
  functionsWithLoops: boolean;
}

/** The largest number that Binaryen accepts. */
const UNLIMITED = 0x7fff_ffff;

const INLINE_LIMITS = {
  /** The defaults of Binaryen. */
  usual: { always: 2, flexible: 20, oneCaller: UNLIMITED, functionsWithLoops: false },
  none: { always: 0, flexible: 0, oneCaller: 0, functionsWithLoops: false },
  "one caller": { always: 0, flexible: 0, oneCaller: UNLIMITED, functionsWithLoops: true },
  some: { always: 30, flexible: 60, oneCaller: 100, functionsWithLoops: false },
  much: { always: 100, flexible: 200, oneCaller: UNLIMITED, functionsWithLoops: true },
  everything: {
    always: 500,
    flexible: UNLIMITED,
    oneCaller: UNLIMITED,
    functionsWithLoops: true,
  },
} satisfies Record<string, InlineLimits>;

export type Inlining = keyof typeof INLINE_LIMITS;

/** Functions that are not inlined, as if the optimiser had found it not worth it. The names are patterns. */
const KEPT_FUNCTIONS = {
  none: undefined,
  /** The visitor of one class, which the search for the collector's visitor must not take for that of all. */
  "visitor of views": "~lib/arraybuffer/ArrayBufferView~visit",
  "visitors of classes": "*~visit",
} satisfies Record<string, string | undefined>;

export type Kept = keyof typeof KEPT_FUNCTIONS;

/** Pipelines by their names in Binaryen: optimize level and shrink level. */
const LEVELS = { O1: [1, 0], O2: [2, 0], O3: [3, 0], O4: [4, 0], Os: [2, 1], Oz: [2, 2] } as const;

export type Level = keyof typeof LEVELS;

/** Lists of passes that are run instead of a pipeline. */
const PASSES = {
  inlining: ["inlining"],
  "inlining-optimizing": ["inlining-optimizing"],
  "dae-optimizing": ["dae-optimizing", "inlining", "dae-optimizing"],
  "merged functions": [
    "inlining-optimizing",
    "merge-similar-functions",
    "duplicate-function-elimination",
  ],
  flattened: ["flatten", "rereloop", "simplify-locals-notee-nostructure", "local-cse"],
  "inlined and flattened": ["inlining-optimizing", "flatten", "rereloop", "vacuum"],
  "globals simplified": [
    "simplify-globals-optimizing",
    "inlining-optimizing",
    "propagate-globals-globally",
    "remove-unused-module-elements",
    "reorder-globals",
  ],
  reordered: ["reorder-functions", "reorder-globals", "remove-unused-module-elements"],
  "constants hoisted": ["inlining-optimizing", "const-hoisting", "reorder-locals", "merge-locals"],
  monomorphized: ["monomorphize", "inlining-optimizing", "code-folding"],
  outlined: ["gufa-optimizing", "inlining-optimizing", "dae2"],
} as const;

export type PassList = keyof typeof PASSES;

/** The options for Binaryen. */
export interface Optimisation {
  run: Level | PassList;
  inlining: Inlining;
  kept: Kept;
  /** Whether it is done until the module no longer becomes smaller. */
  converge: boolean;
  /** Whether addresses below 1024 are unused, so that constants may be moved into offsets. */
  lowMemoryUnused: boolean;
}

export const LEVEL_NAMES = Object.keys(LEVELS) as Level[];
export const PASS_LIST_NAMES = Object.keys(PASSES) as PassList[];
export const INLINING_NAMES = Object.keys(INLINE_LIMITS) as Inlining[];
export const KEPT_NAMES = Object.keys(KEPT_FUNCTIONS) as Kept[];

/** Chooses settings; pipelines more often than passes. */
export function randomOptimisation(random: Random, lowMemoryUnused: boolean): Optimisation {
  const pick = <T>(choices: readonly T[]) => choices[random(choices.length)] as T;
  return {
    run: random(3) === 0 ? pick(PASS_LIST_NAMES) : pick(LEVEL_NAMES),
    inlining: pick(INLINING_NAMES),
    converge: random(4) === 0,
    lowMemoryUnused,
    kept: pick(KEPT_NAMES),
  };
}

export function describeOptimisation({ run, inlining, kept, converge }: Optimisation): string {
  const what = run in LEVELS ? `-${run}` : run;
  const but = kept === "none" ? "" : `, but no ${kept}`;
  return `Binaryen ${what}${converge ? " --converge" : ""}, inlining: ${inlining}${but}`;
}

/** The features that AssemblyScript enables. */
const FEATURES =
  binaryen.Features.MutableGlobals |
  binaryen.Features.SignExt |
  binaryen.Features.NontrappingFPToInt |
  binaryen.Features.BulkMemory |
  binaryen.Features.BulkMemoryOpt;

const MOST_ROUNDS = 10;

/** The module as Binaryen leaves it, with names. */
export function optimise(wasm: Uint8Array, optimisation: Optimisation): Uint8Array<ArrayBuffer> {
  const { run, inlining, kept, converge, lowMemoryUnused } = optimisation;
  const [optimizeLevel, shrinkLevel] = run in LEVELS ? LEVELS[run as Level] : [3, 0];
  const limits: InlineLimits = INLINE_LIMITS[inlining];
  binaryen.setOptimizeLevel(optimizeLevel);
  binaryen.setShrinkLevel(shrinkLevel);
  binaryen.setAlwaysInlineMaxSize(limits.always);
  binaryen.setFlexibleInlineMaxSize(limits.flexible);
  binaryen.setOneCallerInlineMaxSize(limits.oneCaller);
  binaryen.setAllowInliningFunctionsWithLoops(limits.functionsWithLoops);
  binaryen.setDebugInfo(true);
  binaryen.setLowMemoryUnused(lowMemoryUnused);
  binaryen.setZeroFilledMemory(true);
  const module = binaryen.readBinary(wasm);
  module.setFeatures(FEATURES);
  try {
    const keptFunctions = KEPT_FUNCTIONS[kept];
    if (keptFunctions) {
      binaryen.setPassArgument("no-inline", keptFunctions);
      module.runPasses(["no-inline"]);
    }
    let size = wasm.length;
    for (let round = 0; round < MOST_ROUNDS; round++) {
      // Binaryen's own -O1 inlines nothing, WARPO's does.
      if (run === "O1") module.runPasses(["inlining-optimizing"]);
      if (run in LEVELS) module.optimize();
      else module.runPasses(PASSES[run as PassList]);
      const smaller = converge ? module.emitBinary().length : size;
      if (smaller >= size) break;
      size = smaller;
    }
    if (!module.validate()) throw new Error("Binaryen made an invalid module");
    return new Uint8Array(module.emitBinary());
  } finally {
    module.dispose();
  }
}

/** As {@link optimise}, but results are cached in a file. */
export function optimiseOnce(wasm: Uint8Array, optimisation: Optimisation): Uint8Array {
  const key = createHash("sha256")
    .update(wasm)
    .update(JSON.stringify([optimisation, INLINE_LIMITS, KEPT_FUNCTIONS, PASSES]))
    .update(optimise.toString())
    .digest("hex")
    .slice(0, 16);
  const cached = join(CACHE, `optimised-${key}.wasm`);
  try {
    return readFileSync(cached);
  } catch {
    // Not optimised yet.
  }
  const optimised = optimise(wasm, optimisation);
  writeWhole(cached, optimised);
  return optimised;
}
