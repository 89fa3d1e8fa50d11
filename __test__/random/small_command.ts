/** `npm run judge -- --small`: judges builds of small programs and lists what is wrong. */

import { join } from "node:path";

import {
  BUILDS_PER_PROGRAM,
  describeBuild,
  describeProgram,
  planSmallBuild,
  type SmallSeed,
} from "./small_build.ts";
import type { Verdict } from "./small_judge.ts";
import { FAILURES, nameOf, replaySmallBuild, type SmallReport } from "./small_report.ts";
import type { JudgeThread } from "./thread.ts";

/** The compiler and Binaryen never give memory back: a thread ends after this number of programs. */
const PROGRAMS_OF_A_THREAD = 10;

/** Judges this many builds on these threads; gives back how many of them failed. */
export async function judgeSmallBuilds(
  threads: JudgeThread[],
  { count, seed, isUnusual }: SmallSeed & { count: number },
): Promise<number> {
  const reports: SmallReport[] = [];
  const started = performance.now();
  let next = seed;
  const judgeSome = async (thread: JudgeThread) => {
    let programs = 0;
    while (next < seed + count) {
      // A thread takes all builds of a program, which is then compiled once.
      const from = next;
      const end = BUILDS_PER_PROGRAM * (Math.floor(from / BUILDS_PER_PROGRAM) + 1);
      next = Math.min(end, seed + count);
      for (let at = from; at < Math.min(end, seed + count); at++) {
        const one = { seed: at, isUnusual };
        reports.push((await thread.judgeSmall(one)) ?? endless(one));
        showProgress(reports, count, started);
      }
      if (++programs % PROGRAMS_OF_A_THREAD === 0) await thread.close();
    }
  };
  await Promise.all(threads.map(judgeSome));
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");

  const failed = reports.filter(({ failure }) => failure).sort((a, b) => a.seed - b.seed);
  for (const report of failed) console.log(describeFailure(report));
  if (failed.length > 0)
    console.log(
      `\nTheir programs, modules, dumps and truths are ${join(FAILURES, "<name>.*")}. ` +
        "Judge one again with: npm run judge -- --replay <name>",
    );
  console.log(`\n${summary(reports)}`);
  return failed.length;
}

function endless(seed: SmallSeed): SmallReport {
  const {
    programSeed: _program,
    flags: _flags,
    boundariesExported: _exported,
    ...kind
  } = planSmallBuild(seed);
  const failure = {
    verdict: "endless" as const,
    message: "the build or its analysis takes minutes; --replay keeps its files",
  };
  return { ...kind, ...seed, dumps: 0, failure };
}

function showProgress(reports: SmallReport[], count: number, started: number): void {
  if (!process.stderr.isTTY) return;
  const failures = reports.filter(({ failure }) => failure).length;
  const perSecond = (1000 * reports.length) / (performance.now() - started);
  process.stderr.write(
    `\r\x1b[K${reports.length} of ${count} builds of small programs judged, ${failures} failures, ` +
      `${perSecond.toFixed(1)} a second`,
  );
}

function describeFailure(report: SmallReport): string {
  const { failure } = report;
  const where = failure?.dump === undefined ? "" : ` dump ${failure.dump}:`;
  return `${nameOf(report)}: ${failure?.verdict}:${where} ${failure?.message}\n  ${describeBuild(report)}`;
}

/** How many builds of each kind there were, and how many of them failed. */
function summary(reports: SmallReport[]): string {
  const dumps = reports.reduce((sum, report) => sum + report.dumps, 0);
  const verdicts = new Map<Verdict | "right", number>();
  for (const { failure } of reports) {
    const verdict = failure?.verdict ?? "right";
    verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
  }
  const ofVerdicts = [...verdicts].map(([verdict, number]) => `${verdict} ${number}`);
  return [
    `${reports.length} builds of small programs, ${dumps} dumps: ${ofVerdicts.join(", ")}`,
    ...programs(reports),
    `  compiler: ${count(reports, ({ asc }) => asc)}`,
    ...unusual(reports),
    `  Binaryen: ${count(reports, ({ binaryen }) => binaryen?.run ?? "not run")}`,
    `  inlining: ${count(reports, ({ binaryen }) => binaryen?.inlining ?? "as asc does it")}`,
    `  debug information: ${count(reports, ({ debugInformation }) => debugInformation)}`,
    `  names: ${count(reports, ({ names }) => names)}`,
  ].join("\n");
}

/** What unusual programs have. */
function unusual(reports: SmallReport[]): string[] {
  if (reports.every(({ isUnusual }) => !isUnusual)) return [];
  return [
    `  version: ${count(reports, ({ unusual }) => unusual?.compiler ?? "")}`,
    `  library: ${count(reports, ({ unusual }) => unusual?.library ?? "")}`,
    `  start: ${count(reports, ({ unusual }) => unusual?.start ?? "")}`,
  ];
}

/** For each kind of program: its builds, dumps, and what was wrong. */
function programs(reports: SmallReport[]): string[] {
  const kindOf = ({ unusual: _, ...report }: SmallReport) => describeProgram(report);
  const kinds = [...new Set(reports.map(kindOf))].sort();
  return kinds.map((kind) => {
    const those = reports.filter((report) => kindOf(report) === kind);
    const dumps = those.reduce((sum, { dumps }) => sum + dumps, 0);
    const failed = those.filter(({ failure }) => failure);
    const alarms = failed.filter(({ failure }) => failure?.verdict === "false alarm").length;
    return (
      `  ${kind}: ${those.length} builds, ${dumps} dumps, ${failed.length} disagreements, ` +
      `${alarms} of them false alarms`
    );
  });
}

function count(reports: SmallReport[], kindOf: (report: SmallReport) => string): string {
  const kinds = new Map<string, { all: number; failed: number }>();
  for (const report of reports) {
    const kind = kindOf(report);
    const counts = kinds.get(kind) ?? { all: 0, failed: 0 };
    counts.all++;
    if (report.failure) counts.failed++;
    kinds.set(kind, counts);
  }
  return [...kinds]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([kind, { all, failed }]) => {
      const wrong = failed > 0 ? ` (${failed} failed)` : "";
      return `${kind} ${all}${wrong}`;
    })
    .join(", ");
}

/** Judges one build again, and keeps its files. */
export async function replaySmall(seed: SmallSeed): Promise<number> {
  console.log(`Its files are ${join(FAILURES, `${nameOf(seed)}.*`)}.`);
  const report = await replaySmallBuild(seed);
  console.log(
    report.failure ? describeFailure(report) : `${describeBuild(report)}: no disagreement`,
  );
  return report.failure ? 1 : 0;
}
