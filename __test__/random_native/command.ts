/**
 * `npm run judge -- native`: judges as many random heaps of a program of C as it is asked to, in builds of all compilers that
 * this machine has, at all levels of optimisation.
 */
import { Command, InvalidArgumentError } from "commander";
import { BUILD_KINDS, type Build, makeBuild } from "./builds.ts";
import { judgeHeap, stepsOf } from "./heap.ts";
import type { Judged } from "./judge.ts";
import { How } from "./log.ts";

interface Options {
  heaps: number;
  seed: number;
  explain?: boolean;
  build?: string[];
}

/** The sums of all dumps of a build. */
interface Totals {
  heaps: number;
  dumps: number;
  blocks: number;
  unreferenced: number;
  retained: number;
  /** Words behind objects, fields at the same offset of others, and dumps in which the former are weak. */
  slack: number;
  fields: number;
  withoutSlack: number;
  hidden: Map<string, number>;
  elsewhere: Map<string, number>;
  failures: string[];
}

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}

function main(): void {
  // Should the process end without a verdict, that is no success.
  process.exitCode = 1;
  const options = new Command("judge:native")
    .description("Compares the analyzer with the log of random programs of C.")
    .option("--heaps <number>", "make this many heaps with each build", wholeNumber, 1000)
    .option("--seed <number>", "the first seed", wholeNumber, 1)
    .option("--explain", "print the word that explains each difference")
    .option("--build <names...>", "only these builds")
    .parse()
    .opts<Options>();
  const kinds = BUILD_KINDS.filter(({ name }) => options.build?.includes(name) ?? true);
  let [failures, builds] = [0, 0];
  for (const kind of kinds) {
    const build = makeBuild(kind);
    if (typeof build === "string") {
      console.log(`${kind.name}: not judged: ${build}`);
      continue;
    }
    builds++;
    const totals = judgeBuild(build, options);
    failures += totals.failures.length;
    report(build.name, totals);
  }
  if (builds === 0) console.log("no build could be made: nothing was judged");
  process.exitCode = failures === 0 && builds > 0 ? 0 : 1;
}

function judgeBuild(build: Build, { heaps, seed: first, explain = false }: Options): Totals {
  const totals: Totals = {
    heaps: 0,
    dumps: 0,
    blocks: 0,
    unreferenced: 0,
    retained: 0,
    slack: 0,
    fields: 0,
    withoutSlack: 0,
    hidden: new Map(),
    elsewhere: new Map(),
    failures: [],
  };
  for (let seed = first; seed < first + heaps; seed++) {
    const { judged, failure } = judgeHeap(build, seed, stepsOf(seed));
    totals.heaps++;
    for (const one of judged) add(totals, one);
    if (explain) {
      for (const { explanations } of judged)
        for (const text of explanations) console.log(`${build.name}, seed ${seed}: ${text}`);
    }
    if (failure !== undefined) totals.failures.push(`seed ${seed}: ${failure}`);
  }
  return totals;
}

function add(totals: Totals, judged: Judged): void {
  totals.dumps++;
  totals.blocks += judged.blocks;
  totals.unreferenced += judged.unreferenced;
  totals.retained += judged.retained;
  totals.slack += judged.slack;
  totals.fields += judged.fields;
  totals.withoutSlack += Number(judged.isWithoutSlack);
  for (const [word, count] of judged.hidden) increase(totals.hidden, word, count);
  for (const [how, count] of judged.elsewhere) increase(totals.elsewhere, How[how], count);
}

function increase(counts: Map<string, number>, name: string, by: number): void {
  counts.set(name, by + (counts.get(name) ?? 0));
}

function report(name: string, totals: Totals): void {
  const list = (counts: Map<string, number>) =>
    [...counts].map(([what, count]) => `${what} ${count}`).join(", ") || "none";
  for (const failure of totals.failures.slice(0, 20)) console.log(`${name}: ${failure}`);
  console.log(
    `${name}: ${totals.heaps} heaps, ${totals.dumps} dumps, ${totals.blocks} blocks, of which ` +
      `${totals.unreferenced} unreferenced; ${totals.retained} retained sizes; ` +
      `${totals.failures.length} disagreements\n` +
      `  ${totals.slack} words behind objects, weak in ${totals.withoutSlack} dumps; ${totals.fields} fields like them, never weak\n` +
      `  lost, but referred to by a word: ${list(totals.hidden)}\n` +
      `  unreferenced, but not lost: ${list(totals.elsewhere)}`,
  );
}

main();
