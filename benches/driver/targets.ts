/** The promises to users of the command line and the API. Each is measured in the way that users see it. */
import { closeSync, openSync, rmSync, statSync } from "node:fs";
import type { AgentTimes } from "./agents.js";
import { measureExplorer } from "./explorer_targets.js";
import { type BenchBinary, type Heap, type NodeRun, runCli, runNode } from "./processes.js";
import type { ProfilerTimes } from "./profiler.js";
import type { QuestionTimes } from "./questions.js";
import {
  isMemlabInstalled,
  type Reading,
  readByAnalyzer,
  readByCommand,
  readByDevTools,
  readByMemlab,
  type Sums,
} from "./readers.js";
import { hasChromium, type PageTimes } from "./report_page.js";
import { type Promised, type StageRow, sample, type TargetRow } from "./results.js";
import type { ShopHeaps } from "./stages.js";

/** The sizes that the promises are for: a million and ten million live objects. */
export const PROMISED_SIZES = [1_000_000, 10_000_000] as const;

const GIB = 2 ** 30;
const MIB = 2 ** 20;
/** What an analysis of scattered shapes may take at the large size, in ns per object. */
const SCATTERED = { shuffled: 250, classes: 200, hierarchy: 200 };
/** The dumps of a series, and how much longer than one alone each may take. */
const [SERIES, SERIES_SHARE] = [20, 1.2];
/** Output may add this much to the peak of memory, whatever its size: buffers, and one row's order. */
const JSON_MEMORY = 64 * MIB;

export class Targets {
  readonly rows: TargetRow[] = [];
  readonly #repetitions: number;
  /** Whether the sizes and the build are those that something is promised for. */
  readonly #judged: boolean;

  constructor(repetitions: number, judged: boolean) {
    this.#repetitions = repetitions;
    this.#judged = judged;
  }

  #add(promised: Promised, measured: number, detail: string): void {
    const { limit, better } = promised;
    const met = better === "less" ? measured <= limit : measured >= limit;
    this.rows.push({ ...promised, measured, met: this.#judged ? met : null, detail });
  }

  /** `analyze`, `diff`, JSON and the API, on the shop's heaps. */
  measureShop(
    binary: BenchBinary,
    [small, large]: [SizedShop, SizedShop],
    outputFile: string,
  ): void {
    const runs = {
      node: [] as NodeRun[],
      table: { small: [] as NodeRun[], large: [] as NodeRun[] },
      json: { small: [] as NodeRun[], large: [] as NodeRun[] },
      diff: [] as NodeRun[],
      wholeJson: [] as NodeRun[],
      engine: [] as number[],
      api: [] as number[],
      plain: [] as NodeRun[],
      plainDiff: [] as NodeRun[],
    };
    let jsonBytes = 0;
    // One of each in turn, so that a slow phase of the machine affects all of them.
    for (let repetition = 0; repetition < this.#repetitions; repetition++) {
      runs.node.push(runNode(["--eval", "0"]));
      for (const [name, { heaps }] of [
        ["small", small],
        ["large", large],
      ] as const) {
        runs.table[name].push(analyzeTop(heaps.after, "table"));
        runs.json[name].push(analyzeTop(heaps.after, "json"));
      }
      runs.diff.push(diffTop(large.heaps, "table"));
      runs.plain.push(analyzePlain(large.heaps.after));
      runs.plainDiff.push(diffTop(large.heaps, "json"));
      const whole = analyzeToFile(large.heaps.after, outputFile);
      runs.wholeJson.push(whole.run);
      jsonBytes = whole.bytes;
      runs.engine.push(binary.analyze(large.heaps.after, false).seconds);
      runs.api.push(callApi(large.heaps.after));
    }

    const node = seconds(runs.node);
    for (const format of ["table", "json"] as const) {
      const peakOfLarge = format === "table" ? 1.3 : 2;
      const limits = {
        small: { seconds: 0.25, peak: 3 },
        large: { seconds: 2.5, peak: peakOfLarge },
      };
      for (const [name, { title, heaps }] of [
        ["small", small],
        ["large", large],
      ] as const) {
        const work = `CLI analyze --top 20 --format ${format}, ${title}`;
        const measured = runs[format][name];
        this.#add(
          { work, unit: "s", limit: limits[name].seconds, better: "less" },
          seconds(measured) - node,
          `${digits(seconds(measured))} s, of which Node's start ${digits(node)} s`,
        );
        const dumpBytes = statSync(heaps.after.dump).size;
        this.#add(
          {
            work: `${work}: peak per dump byte`,
            unit: "×",
            limit: limits[name].peak,
            better: "less",
          },
          peak(measured) / dumpBytes,
          `${digits(peak(measured) / MIB)} MiB for a dump of ${digits(dumpBytes / MIB)} MiB`,
        );
      }
    }

    const writing = seconds(runs.wholeJson) - seconds(runs.table.large);
    this.#add(
      { work: `full JSON, ${large.title}`, unit: "MB/s", limit: 300, better: "more" },
      jsonBytes / 1e6 / writing,
      `${digits(jsonBytes / 1e6)} MB into a file, in ${digits(writing)} s more than the table takes`,
    );
    this.#add(
      {
        work: `full JSON, ${large.title}: memory for it`,
        unit: "MiB",
        limit: JSON_MEMORY / MIB,
        better: "less",
      },
      (peak(runs.wholeJson) - peak(runs.table.large)) / MIB,
      `peak ${digits(peak(runs.wholeJson) / MIB)} MiB, with the table ${digits(peak(runs.table.large) / MIB)} MiB`,
    );

    const [engine, api] = [sample(runs.engine).min, sample(runs.api).min];
    this.#add(
      {
        work: `analyzeFile() and constructor rows beyond the engine, ${large.title}`,
        unit: "ms",
        limit: 300,
        better: "less",
      },
      (api - engine) * 1000,
      `fastest of each: ${digits(api)} s, engine alone ${digits(engine)} s`,
    );
    const ratio = (work: string, limit: number, one: NodeRun[], other: NodeRun[]) => {
      const [numerator, denominator] = [seconds(one) - node, seconds(other) - node];
      this.#add(
        { work: `CLI ${work}, ${large.title}`, unit: "×", limit, better: "less" },
        numerator / denominator,
        `${digits(numerator)} s to ${digits(denominator)} s, without Node's start`,
      );
    };
    ratio("diff as JSON without instances to one such analyze", 2.2, runs.plainDiff, runs.plain);
    ratio("diff as a table to JSON without instances", 2.2, runs.diff, runs.plainDiff);
    ratio("analyze as a table to JSON without instances", 1.15, runs.table.large, runs.plain);
  }

  /** The growth of a series, against one analysis of a dump. */
  measureSeries({ title, heaps: { before, after } }: SizedShop): void {
    const runs = { node: [] as NodeRun[], analyze: [] as NodeRun[], series: [] as NodeRun[] };
    const dumps = Array.from({ length: SERIES }, (_, nth) => (nth % 2 ? after : before).dump);
    for (let repetition = 0; repetition < this.#repetitions; repetition++) {
      runs.node.push(runNode(["--eval", "0"]));
      runs.analyze.push(analyzeTop(after, "table"));
      runs.series.push(runCli(["growth", ...dumps, "--wasm", after.wasm], "ignore"));
    }
    const node = seconds(runs.node);
    const [series, analyze] = [seconds(runs.series) - node, seconds(runs.analyze) - node];
    const work = `CLI growth of ${SERIES} dumps to one analyze, ${title}`;
    this.#add(
      { work, unit: "×", limit: SERIES * SERIES_SHARE, better: "less" },
      series / analyze,
      `${digits(series)} s to ${digits(analyze)} s, without Node's start; peak ${digits(peak(runs.series) / MIB)} MiB to ${digits(peak(runs.analyze) / MIB)} MiB`,
    );
  }

  /** Opening a heap, and the first questions, against one analysis of the same dump. */
  measureQuestions({ title, heaps }: SizedShop): void {
    const analyses: number[] = [];
    const opened: NodeRun[] = [];
    const asked: NodeRun[] = [];
    for (let repetition = 0; repetition < this.#repetitions; repetition++) {
      analyses.push(callApi(heaps.after));
      opened.push(askQuestions(heaps.after, []));
      asked.push(askQuestions(heaps.after, ["ask"]));
    }
    const times = asked.map(({ stdout }) => JSON.parse(stdout) as QuestionTimes);
    const analyze = sample(analyses).min;
    const fastest = (key: keyof QuestionTimes) => sample(times.map((time) => time[key])).min;
    const promise = (work: string, key: keyof QuestionTimes, limit: number) =>
      this.#add(
        { work: `${work} to one analyze, ${title}`, unit: "×", limit, better: "less" },
        fastest(key) / analyze,
        `${digits(fastest(key))} s to ${digits(analyze)} s`,
      );
    promise("open with all indexes", "open", 1.7);
    const dumpBytes = statSync(heaps.after.dump).size;
    for (const [work, runs] of [
      ["open with all indexes", opened],
      ["open with all indexes, and every question", asked],
    ] as const) {
      const promised = { unit: "×", limit: 2.6, better: "less" } as const;
      this.#add(
        { work: `${work}, ${title}: peak per dump byte`, ...promised },
        peak(runs) / dumpBytes,
        `${digits(peak(runs) / MIB)} MiB for a dump of ${digits(dumpBytes / MIB)} MiB`,
      );
    }
    for (const [key, work] of [
      ["page", "a page of 20 rows"],
      ["object", "an object"],
      ["path", "a path"],
    ] as const) {
      const promised = { work: `${work}, ${title}`, unit: "ms", limit: 5, better: "less" } as const;
      this.#add(promised, fastest(key) * 1000, "the slowest of 20, in a heap with all indexes");
    }
    promise("the first search of a class", "find", 0.5);
    promise("the first merged paths of a class", "merged", 0.5);
    promise("the first suspects", "suspects", 0.5);
    promise("the first waste report", "waste", 0.5);
    promise("unreachable memory", "unreachable", 0.5);
    promise("a place table", "placeTable", 0.5);
    for (const [key, work, limit] of [
      ["whereNumber", "a number", 5],
      ["whereReference", "a reference", 5],
      ["whereText", "a string", 1],
    ] as const) {
      this.#add(
        {
          work: `find --where with ${work}, ${title}`,
          unit: "M objects/s",
          limit,
          better: "more",
        },
        Math.max(...times.map((time) => time[key])),
        "the objects of one class",
      );
    }
  }

  /** The server for agents, from a client's request to the answer. */
  measureAgents({ title, heaps: { after } }: SizedShop): void {
    const times: AgentTimes[] = [];
    for (let repetition = 0; repetition < this.#repetitions; repetition++) {
      const script = require.resolve("./agents.js");
      times.push(JSON.parse(runNode([script, after.dump, after.wasm]).stdout));
    }
    const fastest = (key: keyof AgentTimes) => sample(times.map((time) => time[key])).min * 1000;
    const ready = `with the hash of the contents; ${fastest("ready").toFixed(0)} ms to the first answers about an object`;
    for (const [key, work, limit, detail] of [
      ["open", "open_heaps", 2000, ready],
      ["object", "an answer about an object", 50, "the slowest of 60"],
      ["repeated", "a repeated answer", 50, "the slowest of all questions"],
    ] as const) {
      this.#add(
        { work: `agents: ${work}, ${title}`, unit: "ms", limit, better: "less" },
        fastest(key),
        detail,
      );
    }
  }

  /** Each export into a file, beside what reads the same dumps. */
  measureExports({ title, heaps: { before, after } }: SizedShop, outputFile: string): void {
    const exported = (dumps: string[], format: string) =>
      toFile(["export", ...dumps, "--wasm", after.wasm, "--to", format], outputFile);
    const node: NodeRun[] = [];
    const runs = {
      analyze: [] as NodeRun[],
      diff: [] as NodeRun[],
      snapshot: [] as NodeRun[],
      profile: [] as NodeRun[],
      heapDiff: [] as NodeRun[],
    };
    let snapshotBytes = 0;
    for (let repetition = 0; repetition < this.#repetitions; repetition++) {
      node.push(runNode(["--eval", "0"]));
      runs.analyze.push(analyzeTop(after, "table"));
      runs.diff.push(diffTop({ objects: 0, before, after }, "table"));
      const snapshot = exported([after.dump], "heapsnapshot");
      runs.snapshot.push(snapshot.run);
      snapshotBytes = snapshot.bytes;
      runs.profile.push(exported([after.dump], "pprof").run);
      runs.heapDiff.push(exported([before.dump, after.dump], "heap-diff").run);
    }
    const writing = seconds(runs.snapshot) - seconds(runs.analyze);
    this.#add(
      { work: `export --to heapsnapshot, ${title}`, unit: "MB/s", limit: 300, better: "more" },
      snapshotBytes / 1e6 / writing,
      `${digits(snapshotBytes / 1e6)} MB into a file, in ${digits(writing)} s more than the table takes`,
    );
    this.#add(
      {
        work: `export --to heapsnapshot, ${title}: memory for it`,
        unit: "MiB",
        limit: 64,
        better: "less",
      },
      (peak(runs.snapshot) - peak(runs.analyze)) / MIB,
      `peak ${digits(peak(runs.snapshot) / MIB)} MiB, with the table ${digits(peak(runs.analyze) / MIB)} MiB`,
    );
    for (const [format, one, work, other, limit] of [
      ["pprof", runs.profile, "analyze", runs.analyze, 2.5],
      ["heap-diff", runs.heapDiff, "diff", runs.diff, 2],
    ] as const) {
      const [numerator, denominator] = [one, other].map(
        (runs) => seconds(runs) - seconds(node),
      ) as [number, number];
      const promised = { unit: "×", limit, better: "less" } as const;
      this.#add(
        { work: `export --to ${format} to one ${work} as a table, ${title}`, ...promised },
        numerator / denominator,
        `${digits(numerator)} s to ${digits(denominator)} s, without Node's start`,
      );
    }
  }

  /** A program that allocates, with a profiler, against the same without one. */
  measureProfiler(wasm: string): void {
    const [items, rounds, processes] = this.#judged ? [50_000, 100, 7] : [1000, 5, 1];
    const args = ["--expose-gc", require.resolve("./profiler.js"), wasm, `${items}`, `${rounds}`];
    // Where the engine places the code is worth some per cent, and is the same for a whole process.
    const runs = Array.from(
      { length: processes },
      () => JSON.parse(runNode(args).stdout) as ProfilerTimes,
    );
    const plain = digits(sample(runs.flatMap((times) => times.plain)).median);
    for (const [name, work, limit] of [
      ["sampled", "allocations sampled every 512 KiB", 1.05],
      ["counted", "allocations counted", 1.15],
      ["recorded", "every allocation recorded with its stack", 3],
    ] as const) {
      const ratios = runs.map((times) =>
        times[name].map((time, round) => time / (times.plain[round] as number)),
      );
      this.#add(
        { work: `profiler: ${work}, to the plain program`, unit: "×", limit, better: "less" },
        sample(ratios.map((pairs) => sample(pairs).median)).median,
        `median of ${processes} processes with ${rounds} pairs in turn, processor time; ${plain} s without a profiler`,
      );
    }
    this.#add(
      { work: "profiler: memory of a live sample", unit: "bytes", limit: 200, better: "less" },
      sample(runs.map((times) => times.bytesPerSample)).median,
      "in Node, of 200,000 samples",
    );
  }

  /**
   * A heap snapshot of V8, beside the readers that people know. `analyze` is measured for a large one: the start of the
   * command line is a part of it.
   */
  measureSnapshot(title: string, file: string, isLarge: boolean): void {
    const usual = { cpu: 10, memory: 2 };
    const own = { analyze: [] as Reading[], "opening it": [] as Reading[] };
    const devTools: Reading[] = [];
    const memlab: Reading[] = [];
    for (let repetition = 0; repetition < this.#repetitions; repetition++) {
      if (isLarge) own.analyze.push(readByCommand(file));
      own["opening it"].push(readByAnalyzer(file));
      devTools.push(readByDevTools(file));
      if (isMemlabInstalled()) memlab.push(readByMemlab(file));
    }
    const fastest = (readings: Reading[], of: "seconds" | "cpuSeconds") =>
      sample(readings.map((reading) => reading[of])).min;
    const most = (readings: Reading[]) => Math.max(...readings.map(({ peakBytes }) => peakBytes));
    for (const [name, other, command, limits] of [
      ["DevTools' code", devTools, "analyze", { cpu: 20, memory: 3 }],
      ["DevTools' code", devTools, "opening it", usual],
      ["memlab", memlab, "opening it", usual],
    ] as const) {
      const readings = own[command];
      if (readings.length === 0 || other.length === 0) continue;
      requireSameSums(`snapshot, ${title}: ${name}`, readings[0]?.sums, other[0]?.sums);
      const work = `snapshot of ${title} nodes: ${name} to ${command}`;
      const [theirs, ours] = [fastest(other, "cpuSeconds"), fastest(readings, "cpuSeconds")];
      this.#add(
        { work: `${work}, CPU time`, unit: "×", limit: limits.cpu, better: "more" },
        theirs / ours,
        `${digits(theirs)} s to ${digits(ours)} s; by the clock ${digits(fastest(other, "seconds"))} s to ${digits(fastest(readings, "seconds"))} s`,
      );
      this.#add(
        { work: `${work}, peak memory`, unit: "×", limit: limits.memory, better: "more" },
        most(other) / most(readings),
        `${digits(most(other) / MIB)} MiB to ${digits(most(readings) / MIB)} MiB`,
      );
    }
  }

  /** The report as a page, alone and with a comparison, against one analysis, and its size. */
  measureReport({ title, heaps }: SizedShop, outputFile: string): void {
    const runs = { node: [] as NodeRun[], plain: [] as NodeRun[] };
    const reports = { alone: [] as NodeRun[], compared: [] as NodeRun[] };
    const pages: PageTimes[] = [];
    let bytes = 0;
    for (let repetition = 0; repetition < this.#repetitions; repetition++) {
      runs.node.push(runNode(["--eval", "0"]));
      runs.plain.push(analyzePlain(heaps.after));
      reports.alone.push(writeReport(heaps.after, [], outputFile));
      reports.compared.push(writeReport(heaps.after, ["--before", heaps.before.dump], outputFile));
      bytes = statSync(outputFile).size;
      if (hasChromium()) {
        const script = require.resolve("./report_page.js");
        pages.push(JSON.parse(runNode([script, outputFile]).stdout));
      }
      rmSync(outputFile);
    }
    const node = seconds(runs.node);
    const analyze = seconds(runs.plain) - node;
    for (const [work, limit, measured] of [
      ["report", 3, reports.alone],
      ["report --before", 5, reports.compared],
    ] as const) {
      const time = seconds(measured) - node;
      this.#add(
        { work: `CLI ${work} to one analyze, ${title}`, unit: "×", limit, better: "less" },
        time / analyze,
        `${digits(time)} s to ${digits(analyze)} s, without Node's start`,
      );
    }
    this.#add(
      { work: `report --before, ${title}: size`, unit: "MiB", limit: 0.95, better: "less" },
      bytes / MIB,
      "one HTML file; 0.95 MiB are 1 MB",
    );
    if (pages.length === 0) return;
    const slowest = pages.map(({ actions }) =>
      actions.reduce((slow, one) => (one.seconds > slow.seconds ? one : slow)),
    );
    const fastestRun = slowest.reduce((one, other) => (other.seconds < one.seconds ? other : one));
    for (const [work, seconds, detail] of [
      [
        "opened in Chromium",
        sample(pages.map(({ open }) => open)).min,
        "from the file to the page",
      ],
      ["slowest action", fastestRun.seconds, `${fastestRun.action}, until it is drawn`],
    ] as const) {
      this.#add(
        { work: `report --before, ${title}: ${work}`, unit: "ms", limit: 100, better: "less" },
        seconds * 1000,
        detail,
      );
    }
  }

  /** The page of the explorer, in Chromium. */
  measureExplorer({ title, heaps }: SizedShop): void {
    if (!hasChromium()) return;
    for (const measured of measureExplorer(title, heaps, this.#repetitions)) this.#add(...measured);
  }

  /** Time per object at the large size to that at the small one, of the shape where it is worst; fastest runs. */
  judgeGrowth(rows: StageRow[], [small, large]: [string, string]): void {
    const growth = rows
      .filter((row) => row.size === large)
      .flatMap((row) => {
        const before = rows.find(({ shape, size }) => shape === row.shape && size === small);
        return before ? [{ shape: row.shape, ratio: row.total.min / before.total.min }] : [];
      })
      .sort((left, right) => right.ratio - left.ratio);
    const promised = { unit: "×", limit: 3, better: "less" } as const;
    const [worst] = growth;
    if (worst === undefined) return;
    const beyond = growth.filter(({ ratio }) => ratio > promised.limit);
    const shown = beyond.length > 0 ? beyond : growth.slice(0, 3);
    this.#add(
      { work: `every shape: ns per object at ${large} to that at ${small} objects`, ...promised },
      worst.ratio,
      shown.map(({ shape, ratio }) => `${shape} ${digits(ratio)}×`).join(", "),
    );
  }

  /** Time per object at the large size, of shapes where no access is near the previous one; fastest runs. */
  judgeScattered(rows: StageRow[], large: string): void {
    for (const [shape, limit] of Object.entries(SCATTERED)) {
      const row = rows.find((row) => row.shape === shape && row.size === large);
      if (row === undefined) continue;
      this.#add(
        {
          work: `${shape}, ${large} objects: an analysis, per object`,
          unit: "ns",
          limit,
          better: "less",
        },
        row.total.min,
        `following one pointer takes ${digits(row.yardsticks.chase)} ns`,
      );
    }
  }

  /** A memory as large as there can be, to one of the same shape and the large size. */
  measureFull(full: Heap, row: StageRow, reference: StageRow): void {
    const run = analyzeTop(full, "table");
    const work = `CLI analyze --top 20 --format table, 4 GiB, ${(row.objects / 1e6).toFixed(0)} M objects`;
    this.#add(
      { work: `${work}: peak`, unit: "GiB", limit: 16, better: "less" },
      run.peakBytes / GIB,
      `in ${digits(run.seconds)} s`,
    );
    // A memory that caches and page tables cover less of is slower to access for anybody: linear is
    // what does not grow much more than following one pointer does.
    const chase = row.yardsticks.chase / reference.yardsticks.chase;
    this.#add(
      {
        work: `engine, 4 GiB: ns per object to that at ${reference.size} objects`,
        unit: "×",
        limit: 2,
        better: "less",
      },
      row.total.min / reference.total.min,
      `fastest of each: ${digits(row.total.min)} ns to ${digits(reference.total.min)} ns; following one pointer takes ${digits(chase)}× as long`,
    );
  }
}

/** A time for a wrong result would be meaningless. */
function requireSameSums(reader: string, own: Sums | undefined, other: Sums | undefined): void {
  const isSame = (sum: keyof Sums) =>
    own?.[sum] === undefined || other?.[sum] === undefined || own[sum] === other[sum];
  if (!(["classes", "size", "retained"] as const).every(isSame)) {
    throw new Error(`${reader} found ${JSON.stringify(other)}, the engine ${JSON.stringify(own)}`);
  }
}

/** The shop's heaps of one size. */
export interface SizedShop {
  /** Such as `1 M live`. */
  title: string;
  heaps: ShopHeaps;
}

/** JSON with every instance of the listed rows, without a reader. */
function analyzeTop({ dump, wasm }: Heap, format: "table" | "json"): NodeRun {
  return runCli(["analyze", dump, "--wasm", wasm, "--top", "20", "--format", format], "ignore");
}

/** Only the rows, as JSON: the plain analysis. */
const PLAIN = ["--format", "json", "--instances", "0"];

function analyzePlain({ dump, wasm }: Heap): NodeRun {
  return runCli(["analyze", dump, "--wasm", wasm, "--top", "20", ...PLAIN], "ignore");
}

function diffTop({ before: { dump, wasm }, after }: ShopHeaps, format: "table" | "json"): NodeRun {
  const dumps = [dump, after.dump, "--wasm", wasm];
  const options = format === "table" ? ["--format", "table"] : PLAIN;
  return runCli(["diff", ...dumps, "--top", "20", ...options], "ignore");
}

function writeReport({ dump, wasm }: Heap, options: string[], output: string): NodeRun {
  return runCli(["report", dump, "--wasm", wasm, ...options, "--output", output], "ignore");
}

function askQuestions({ dump, wasm }: Heap, words: string[]): NodeRun {
  return runNode([require.resolve("./questions.js"), dump, wasm, ...words]);
}

function analyzeToFile({ dump, wasm }: Heap, file: string): { run: NodeRun; bytes: number } {
  return toFile(["analyze", dump, "--wasm", wasm], file);
}

/** Runs the command line with a file as its stdout. */
function toFile(args: string[], file: string): { run: NodeRun; bytes: number } {
  const output = openSync(file, "w");
  try {
    const run = runCli(args, output);
    return { run, bytes: statSync(file).size };
  } finally {
    closeSync(output);
    rmSync(file);
  }
}

function callApi({ dump, wasm }: Heap): number {
  return Number(runNode([require.resolve("./api.js"), dump, wasm]).stdout);
}

/** The fastest run: what else the machine does only adds time. */
function seconds(runs: NodeRun[]): number {
  return sample(runs.map((run) => run.seconds)).min;
}

function peak(runs: NodeRun[]): number {
  return Math.max(...runs.map((run) => run.peakBytes));
}

function digits(number: number): string {
  return number.toLocaleString("en", { maximumSignificantDigits: 3 });
}
