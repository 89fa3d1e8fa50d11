/** The report about a build of a small program: a line, and files if it failed. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { type SmallBuild, type SmallBuildKind, type SmallSeed, smallBuild } from "./small_build.ts";
import { judgeDumps, runSmallBuild, type SmallDump, type SmallFailure } from "./small_judge.ts";

export interface SmallReport extends SmallBuildKind, SmallSeed {
  dumps: number;
  failure?: SmallFailure;
}

/** How the files of a build, and the build itself, are called. */
export function nameOf({ seed, isUnusual }: SmallSeed): string {
  return `${isUnusual ? "unusual" : "small"}-${seed}`;
}

export const FAILURES = join("build", "judge", "failures");

/** Compiles and judges a build, and keeps its files if the analyzer is wrong. */
export async function reportSmallBuild(seed: SmallSeed): Promise<SmallReport> {
  return report(await smallBuild(seed), "failure");
}

/** The same, but keeps the files beforehand, so that they are there if the analysis does not end. */
export async function replaySmallBuild(seed: SmallSeed): Promise<SmallReport> {
  return report(await smallBuild(seed), "always");
}

function report(build: SmallBuild, keep: "failure" | "always"): SmallReport {
  const {
    source: _source,
    named: _named,
    wasm: _wasm,
    classNames: _names,
    filler: _filler,
    ...kind
  } = build;
  let dumps: SmallDump[];
  try {
    dumps = runSmallBuild(build);
  } catch (error) {
    keepFiles(build, []);
    const message = error instanceof Error ? error.message : String(error);
    return { ...kind, dumps: 0, failure: { verdict: "program", message } };
  }
  if (keep === "always") keepFiles(build, dumps);
  const failure = judgeDumps(build, dumps);
  if (failure) keepFiles(build, dumps);
  return { ...kind, dumps: dumps.length, ...(failure && { failure }) };
}

/**
 * `small-<seed>.ts` or `unusual-<seed>.ts` (the program), `.wasm` (what the analyzer is given), `.named.wasm` (the same
 * with all names), and for each dump `.<n>.dump` and `.<n>.truth.json`: the collector's objects as
 * `{ "<address>": [class id, block bytes, class name] }`.
 */
function keepFiles(build: SmallBuild, dumps: SmallDump[]): void {
  mkdirSync(FAILURES, { recursive: true });
  const write = (suffix: string, contents: Uint8Array | string) =>
    writeFileSync(join(FAILURES, `${nameOf(build)}.${suffix}`), contents);
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
