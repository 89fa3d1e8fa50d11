/**
 * `npm run judge`: judges as many random heaps as it is told to. Each stream of operations that
 * makes the analyzer and the runtime's collector disagree is made as small as possible and
 * written to a file, from which `--replay` runs it again.
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { Command, InvalidArgumentError, Option } from "commander";

import { BUILD_KINDS, type BuildKind, makeBuild } from "./builds.ts";
import { judgeStream } from "./heap_judge.ts";
import type { FailedStream, Report, Task } from "./messages.ts";
import { shrink } from "./shrink.ts";
import { describeStream, randomStream, type Step } from "./stream.ts";

interface Options {
  heaps: number;
  seed: number;
  build?: string[];
  replay?: string;
}

/** A stream in a file. */
interface Replay {
  build: string;
  seed?: number;
  steps: Step[];
}

const FAILURES = join("build", "judge", "failures");
const STREAMS_PER_TASK = 10;
const TASK_SECONDS = 60;
/** Making a stream small takes many runs, and a few small ones tell more than many. */
const MOST_SHRUNK = 3;

async function main(): Promise<void> {
  const command = new Command("judge")
    .description("Compares the analyzer with the runtime's own collector on random heaps.")
    .option("--heaps <number>", "judge at least this many heaps", wholeNumber, 1000)
    .option("--seed <number>", "the seed of the first stream of operations", wholeNumber, 1)
    .addOption(
      new Option("--build <names...>", "only these builds").choices(
        BUILD_KINDS.map(({ name }) => name),
      ),
    )
    .option("--replay <seed or file>", "run one stream again and show it")
    .parse();
  const options = command.opts<Options>();
  const kinds = BUILD_KINDS.filter(({ name }) => options.build?.includes(name) ?? true);
  const disagreements =
    options.replay === undefined
      ? await judge(kinds, options)
      : await replay(kinds, options.replay);
  process.exitCode = disagreements > 0 ? 1 : 0;
}

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}

/** What a worker reports about its task; nothing if it takes too long. */
function ask(worker: Worker, task: Task): Promise<Report | undefined> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      clearTimeout(timer);
      worker.off("message", onReport).off("error", onError);
    };
    const onReport = (report?: Report) => {
      settle();
      resolve(report);
    };
    const onError = (error: Error) => {
      settle();
      reject(error);
    };
    const timer = setTimeout(onReport, 1000 * TASK_SECONDS);
    worker.on("message", onReport).on("error", onError);
    worker.postMessage(task);
  });
}

async function judge(kinds: BuildKind[], { heaps, seed }: Options): Promise<number> {
  // Compiles what is not compiled yet, once for all workers.
  for (const kind of kinds) await makeBuild(kind);
  const totals: Report = { judged: 0, cut: 0, failures: [] };
  const started = performance.now();
  let next = seed;
  const start = () =>
    new Worker(new URL("./worker.mjs", import.meta.url), {
      workerData: kinds.map(({ name }) => name),
    });
  const judgeSome = async () => {
    let worker = start();
    while (totals.judged < heaps) {
      const task = { from: next, count: STREAMS_PER_TASK };
      next += task.count;
      const report = await ask(worker, task);
      if (report) {
        totals.judged += report.judged;
        totals.cut += report.cut;
        totals.failures.push(...report.failures);
      } else {
        await worker.terminate();
        worker = start();
        totals.failures.push({
          by: "program",
          seed: task.from,
          build: "",
          message: `one of the seeds ${task.from} to ${task.from + task.count - 1} is not done after ${TASK_SECONDS} s`,
        });
      }
      showProgress(totals, heaps, started);
    }
    await worker.terminate();
  };
  await Promise.all(Array.from({ length: availableParallelism() }, judgeSome));
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");

  // Making them small runs the same streams again, which may take forever.
  for (const { seed, message } of totals.failures) console.log(`seed ${seed}: ${message}\n`);
  for (const [nth, failed] of totals.failures.sort((a, b) => a.seed - b.seed).entries()) {
    if (nth < MOST_SHRUNK && failed.build !== "") await explain(failed);
    else console.log(`seed ${failed.seed}: ${failed.message}\n`);
  }
  console.log(`${totals.cut} retained sizes proven by deletion`);
  console.log(`${totals.judged} heaps judged, ${totals.failures.length} disagreements`);
  return totals.failures.length;
}

function showProgress({ judged, failures }: Report, heaps: number, started: number): void {
  if (!process.stderr.isTTY) return;
  const perSecond = (1000 * judged) / (performance.now() - started);
  const left = Math.max(0, heaps - judged) / perSecond;
  process.stderr.write(
    `\r\x1b[K${judged} of ${heaps} heaps judged, ${failures.length} disagreements, ` +
      `${perSecond.toFixed(0)} a second, ${left.toFixed(0)} s left`,
  );
}

/** Makes the stream small, shows it and writes it to a file. */
async function explain(failed: FailedStream): Promise<void> {
  const kind = BUILD_KINDS.find(({ name }) => name === failed.build) as BuildKind;
  const build = await makeBuild(kind);
  const fails = (steps: Step[]) => judgeStream(build, steps).failure?.by === failed.by;
  const steps = shrink(randomStream(failed.seed), fails);
  const small = judgeStream(build, steps).failure?.message ?? failed.message;
  const replay: Replay = { build: failed.build, seed: failed.seed, steps };
  const file = join(FAILURES, `${failed.build}-${failed.seed}.json`);
  mkdirSync(FAILURES, { recursive: true });
  writeFileSync(file, `${JSON.stringify(replay)}\n`);
  console.log(
    `seed ${failed.seed} fails with these ${steps.length} operations:\n${describeStream(steps)}\n` +
      `${small}\nRun it again with: npm run judge -- --replay ${file}\n`,
  );
}

async function replay(kinds: BuildKind[], what: string): Promise<number> {
  const { build: only, steps }: Partial<Replay> = /^\d+$/.test(what)
    ? { steps: randomStream(Number(what)) }
    : (JSON.parse(readFileSync(what, "utf8")) as Replay);
  let disagreements = 0;
  console.log(describeStream(steps ?? []));
  for (const kind of kinds.filter(({ name }) => only === undefined || name === only)) {
    const { judged, cut, failure } = judgeStream(await makeBuild(kind), steps ?? []);
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
  process.exitCode = 1;
});
