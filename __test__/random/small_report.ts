/** What there is to say about a build of a small program: a line, and files of what went wrong. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { type SmallBuild, type SmallBuildKind, smallBuild } from "./small_build.ts";
import { judgeSmallBuild, type SmallFailure, type SmallOutcome } from "./small_judge.ts";

export interface SmallReport extends SmallBuildKind {
  seed: number;
  dumps: number;
  failure?: SmallFailure;
}

export const FAILURES = join("build", "judge", "failures");

/** Makes and judges a build, and keeps its files if the analyzer is wrong. */
export async function reportSmallBuild(seed: number): Promise<SmallReport> {
  const build = await smallBuild(seed);
  const outcome = judgeSmallBuild(build);
  if (outcome.failure) keepFiles(build, outcome);
  const { asc, binaryen, debugInformation, names } = build;
  return {
    seed,
    asc,
    ...(binaryen && { binaryen }),
    debugInformation,
    names,
    dumps: outcome.dumps.length,
    ...(outcome.failure && { failure: outcome.failure }),
  };
}

/**
 * `small-<seed>.ts` (the program), `.wasm` (what the analyzer is given), `.named.wasm` (the same
 * with all names), and for each dump `.<n>.dump` and `.<n>.truth.json`: the collector's objects as
 * `{ "<address>": [class id, block bytes, class name] }`.
 */
export function keepFiles(build: SmallBuild, { dumps }: SmallOutcome): void {
  mkdirSync(FAILURES, { recursive: true });
  const write = (suffix: string, contents: Uint8Array | string) =>
    writeFileSync(join(FAILURES, `small-${build.seed}.${suffix}`), contents);
  write("ts", build.source);
  write("wasm", build.wasm);
  write("named.wasm", build.named);
  for (const [at, { bytes, truth }] of dumps.entries()) {
    write(`${at}.dump`, bytes);
    const objects = [...truth].map(([address, { rtId, blockBytes }]) => [
      address,
      [rtId, blockBytes, build.classNames.get(rtId)],
    ]);
    write(`${at}.truth.json`, JSON.stringify(Object.fromEntries(objects)));
  }
}
