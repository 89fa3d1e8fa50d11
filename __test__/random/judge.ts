/**
 * `npm run judge`: judges as many random heaps, and builds of small programs, as it is asked to.
 * Each stream of operations that makes the analyzer and the runtime's collector disagree is made as
 * small as possible and written to a file, from which `--replay` runs it again. Of each build of a
 * small program that fails, the module and the dumps are written to files.
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";

import { BUILD_KINDS, type BuildKind, makeBuild } from "./builds.ts";
import { type CutTotals, noCuts } from "./cut_judge.ts";
import { judgeGrowths } from "./growth_judge.ts";
import { type Failure, judgeStream } from "./heap_judge.ts";
import { shrink } from "./shrink.ts";
import { judgeSmallBuilds, replaySmall } from "./small_command.ts";
import { FAILURES } from "./small_report.ts";
import { judgeSteadies } from "./steady_judge.ts";
import { describeStream, randomStream, type Step } from "./stream.ts";
import { JudgeThread } from "./thread.ts";

interface Options {
  heaps?: number;
  small?: number;
  unusual?: number;
  growth?: number;
  steady?: number;
  seed: number;
  cuts?: boolean;
  build?: string[];
  replay?: string;
}

/** A stream in a file. */
interface Replay {
  build: string;
  steps: Step[];
  answers: boolean;
}

interface FailedStream extends Failure {
  seed: number;
  build: string;
}

interface Totals {
  judged: number;
  cut: number;
  answers: CutTotals;
  judgedOfBuild: Map<string, number>;
  failures: FailedStream[];
}

const USUAL_HEAPS = 1000;
/** How many random heaps there are to one build of a small program. */
const HEAPS_PER_SMALL_BUILD = 20;
/** Reducing a stream takes a large number of runs, and a few reduced streams are enough. */
const MOST_SHRUNK = 3;

async function main(): Promise<void> {
  // Should the process end without a verdict, that is no success.
  process.exitCode = 1;
  const command = new Command("judge")
    .description("Compares the analyzer with the runtime's own collector on random heaps.")
    .option(
      "--heaps <number>",
      `judge at least this many heaps (${USUAL_HEAPS}, or none if --small is given)`,
      wholeNumber,
    )
    .option(
      "--small <number>",
      `judge this many builds of small programs (one for ${HEAPS_PER_SMALL_BUILD} heaps, or none if --build is given)`,
      wholeNumber,
    )
    .option(
      "--unusual <number>",
      "judge this many builds of small programs with libraries, other compilers and start functions, and nothing else (asc-packages installs them)",
      wholeNumber,
    )
    .option(
      "--growth <number>",
      "judge what growth says of this many programs, of which most leak, and of nothing else",
      wholeNumber,
    )
    .option(
      "--steady <number>",
      "judge expectNoLeak and check on this many steady programs and a quarter as many that leak, and nothing else",
      wholeNumber,
    )
    .option("--cuts", "ask about objects of each heap, and perform the cuts that answers propose")
    .option("--seed <number>", "the first seed", wholeNumber, 1)
    .addOption(
      new Option("--build <names...>", "only these builds").choices(
        BUILD_KINDS.map(({ name }) => name),
      ),
    )
    .option(
      "--replay <seed, file, small-seed or unusual-seed>",
      "run one stream, or one build of a small program, again and show it",
    )
    .parse();
  const options = command.opts<Options>();
  const kinds = BUILD_KINDS.filter(({ name }) => options.build?.includes(name) ?? true);
  const disagreements = await run(kinds, options);
  process.exitCode = disagreements > 0 ? 1 : 0;
}

async function run(kinds: BuildKind[], options: Options): Promise<number> {
  if (options.replay !== undefined) return replay(kinds, options.replay, options.cuts ?? false);
  if (options.growth !== undefined) return judgeGrowths(options.growth, options.seed);
  if (options.steady !== undefined) {
    const counts = { steady: options.steady, leaking: Math.ceil(options.steady / 4) };
    return judgeSteadies(counts, options.seed);
  }
  if (options.unusual !== undefined) return judgeUnusual(options.unusual, options.seed);
  const heaps = options.heaps ?? (options.small === undefined ? USUAL_HEAPS : 0);
  const small = options.small ?? (options.build ? 0 : Math.ceil(heaps / HEAPS_PER_SMALL_BUILD));
  const threads = Array.from({ length: availableParallelism() }, () => new JudgeThread());
  let disagreements = 0;
  if (heaps > 0) disagreements += await judge(threads, kinds, { ...options, heaps });
  if (small > 0)
    disagreements += await judgeSmallBuilds(threads, {
      count: small,
      seed: options.seed,
      isUnusual: false,
    });
  await Promise.all(threads.map((thread) => thread.close()));
  return disagreements;
}

async function judgeUnusual(count: number, seed: number): Promise<number> {
  const threads = Array.from({ length: availableParallelism() }, () => new JudgeThread());
  const disagreements = await judgeSmallBuilds(threads, { count, seed, isUnusual: true });
  await Promise.all(threads.map((thread) => thread.close()));
  return disagreements;
}

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}

async function judge(
  threads: JudgeThread[],
  kinds: BuildKind[],
  { heaps, seed, cuts: answers = false }: { heaps: number; seed: number; cuts?: boolean },
): Promise<number> {
  // Compiles missing builds, once for all threads.
  for (const kind of kinds) {
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[Kcompiling ${kind.name}`);
    await makeBuild(kind);
  }
  const totals: Totals = {
    judged: 0,
    cut: 0,
    answers: noCuts(),
    judgedOfBuild: new Map(),
    failures: [],
  };
  const started = performance.now();
  let next = seed;
  const judgeSome = async (thread: JudgeThread) => {
    while (totals.judged < heaps) {
      const at = next++;
      const build = (kinds[at % kinds.length] as BuildKind).name;
      const { judged, cut, failure, ...outcome } = await thread.judge({
        build,
        steps: randomStream(at),
        answers,
      });
      totals.judged += judged;
      totals.cut += cut;
      for (const name of Object.keys(totals.answers) as (keyof CutTotals)[])
        totals.answers[name] += outcome.answers[name];
      totals.judgedOfBuild.set(build, (totals.judgedOfBuild.get(build) ?? 0) + judged);
      if (failure) totals.failures.push({ ...failure, seed: at, build });
      showProgress(totals, heaps, started);
    }
  };
  await Promise.all(threads.map(judgeSome));
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");

  totals.failures.sort((left, right) => left.seed - right.seed);
  for (const { seed, message } of totals.failures) console.log(`seed ${seed}: ${message}\n`);
  for (const failed of totals.failures.slice(0, MOST_SHRUNK)) await explain(failed, answers);
  console.log(`${totals.cut} retained sizes proven by deletion`);
  if (answers) {
    const { cuts, impossible, uncollectable, steps, compared } = totals.answers;
    console.log(
      `${cuts} cuts of answers performed (${impossible} cannot be, ${uncollectable} need a collector that the ` +
        `build does not have), ${steps} steps of paths found in memory, ${compared} answers compared between builds`,
    );
  }
  const alarms = totals.failures.filter(({ isFalseAlarm }) => isFalseAlarm).length;
  const sum = `${totals.failures.length} disagreements, ${alarms} of them false alarms`;
  console.log(`${totals.judged} heaps judged, ${sum}:`);
  for (const { name } of kinds) {
    const failures = totals.failures.filter(({ build }) => build === name);
    const alarms = failures.filter(({ isFalseAlarm }) => isFalseAlarm).length;
    console.log(
      `  ${name}: ${totals.judgedOfBuild.get(name) ?? 0} heaps, ${failures.length} disagreements, ` +
        `${alarms} of them false alarms`,
    );
  }
  return totals.failures.length;
}

function showProgress({ judged, failures }: Totals, heaps: number, started: number): void {
  if (!process.stderr.isTTY) return;
  const perSecond = (1000 * judged) / (performance.now() - started);
  const left = Math.max(0, heaps - judged) / perSecond;
  process.stderr.write(
    `\r\x1b[K${judged} of ${heaps} heaps judged, ${failures.length} disagreements, ` +
      `${perSecond.toFixed(0)} a second, ${left.toFixed(0)} s left`,
  );
}

/** Reduces the stream, prints it and writes it to a file. */
async function explain({ seed, build, by }: FailedStream, answers: boolean): Promise<void> {
  const thread = new JudgeThread();
  const failureOf = async (steps: Step[]) =>
    (await thread.judge({ build, steps, answers })).failure;
  const fails = async (steps: Step[]) => (await failureOf(steps))?.by === by;
  const steps = await shrink(randomStream(seed), fails);
  const failure = await failureOf(steps);
  await thread.close();
  const replay: Replay = { build, steps, answers };
  const file = join(FAILURES, `${build}-${seed}.json`);
  mkdirSync(FAILURES, { recursive: true });
  writeFileSync(file, `${JSON.stringify(replay)}\n`);
  console.log(
    `seed ${seed} fails with these ${steps.length} operations:\n${describeStream(steps)}\n` +
      `${failure?.message}\nRun it again with: npm run judge -- --replay ${file}\n`,
  );
}

async function replay(kinds: BuildKind[], what: string, cuts: boolean): Promise<number> {
  const small = /^(small|unusual)-(\d+)$/.exec(what);
  if (small !== null)
    return replaySmall({ seed: Number(small[2]), isUnusual: small[1] === "unusual" });
  const {
    build: only,
    steps,
    answers = cuts,
  }: Partial<Replay> = /^\d+$/.test(what)
    ? { steps: randomStream(Number(what)) }
    : (JSON.parse(readFileSync(what, "utf8")) as Replay);
  let disagreements = 0;
  console.log(describeStream(steps ?? []));
  for (const kind of kinds.filter(({ name }) => only === undefined || name === only)) {
    const { judged, cut, failure } = judgeStream(await makeBuild(kind), steps ?? [], { answers });
    if (failure) disagreements++;
    console.log(
      failure?.message ??
        `${kind.name}: ${judged} heaps judged, ${cut} references cut, no disagreement`,
    );
  }
  return disagreements;
}

main().catch((error: unknown) => {
  console.error(error);
  // The other threads would keep the process alive.
  process.exit(1);
});
