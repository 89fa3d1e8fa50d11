/**
 * `npm run bench`: measures the engine, the command line and the API on heaps of many shapes and
 * sizes, and compares the results with the promised figures. See BENCHMARKS.md.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { gate } from "./instructions.js";
import { thisMachine } from "./machine.js";
import { BenchBinary, buildUnoptimised } from "./processes.js";
import { bundleDevTools } from "./readers.js";
import { comparison, report } from "./report.js";
import type { Results, StageRow } from "./results.js";
import { writeSnapshot } from "./snapshot.js";
import { measureStages, openShop } from "./stages.js";
import { PROMISED_SIZES, type SizedShop, Targets } from "./targets.js";

const USAGE = `usage: npm run bench -- [options]

  --quick              100,000 and 1,000,000 objects instead of ten times as many
  --full               a memory of 4 GiB as well (needs 5 GB of disk)
  --objects <a>,<b>    any two sizes
  --shapes <a>,<b>,…   some shapes only
  --repeat <n>         repetitions of each measurement (5)
  --output <file>      where the results go as JSON (build/bench/results.json)
  --tables <file>      where the tables go as text; those in benches/results are written with it
  --compare <file>     show the ratios to the results in that file
  --gate               count instructions of small heaps with valgrind instead, and fail if there are more than in
                       benches/results/instructions.json
  --update             with --gate: write that file
  --unoptimised        build the Rust side without optimisation, to try the benchmark itself out`;

interface Options {
  sizes: [number, number];
  full: boolean;
  shapes: string[] | undefined;
  repetitions: number;
  output: string;
  tables: string | undefined;
  compare: string | undefined;
  gate: boolean;
  update: boolean;
  optimised: boolean;
}

const FULL_SIZE = "4GiB";
/** The shape for a full memory: the one that is most like a program. */
const FULL_SHAPE = "mix";
const SHOP = "shop";
const EXPLORER = "explorer";
const PROFILER = "profiler";
const SNAPSHOTS = "snapshots";
/** What is not a shape of the forge. */
const PROGRAMS = [SHOP, EXPLORER, PROFILER, SNAPSHOTS];

function main(): void {
  const options = readOptions();
  // Read first, so that it may also be the file that is written.
  const earlier = options.compare === undefined ? undefined : readResults(options.compare);
  const folder = mkdtempSync(join(__dirname, "heaps-"));
  // Ctrl-C ends the measurement that is running, which ends this; but not before tidying up.
  process.on("SIGINT", () => {});
  try {
    if (options.gate) {
      if (!gate(new BenchBinary(), folder, options.update)) process.exitCode = 1;
      return;
    }
    const results = measure(options, folder);
    mkdirSync(dirname(resolve(options.output)), { recursive: true });
    writeFileSync(options.output, `${JSON.stringify(results, null, 2)}\n`);
    const tables = report(results);
    console.log(tables);
    if (options.tables !== undefined) writeFileSync(options.tables, `${tables}\n`);
    if (earlier !== undefined) console.log(comparison(results, earlier));
    console.log(`As JSON: ${options.output}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function measure(options: Options, folder: string): Results {
  const { sizes, repetitions, optimised } = options;
  if (!optimised) buildUnoptimised();
  const binary = new BenchBinary();
  const machine = thisMachine();
  const shapes = options.shapes ?? [...binary.shapes(), ...PROGRAMS];
  const others = shapes.filter((shape) => !PROGRAMS.includes(shape));
  const known = others.length > 0 ? binary.shapes() : [];
  const unknown = others.find((shape) => !known.includes(shape));
  if (unknown !== undefined) {
    throw new Error(
      `there is no shape ${unknown}; there are ${[...known, ...PROGRAMS].join(", ")}`,
    );
  }
  const isPromised = sizes.every((size, nth) => size === PROMISED_SIZES[nth]);
  const targets = new Targets(repetitions, isPromised && optimised);
  const rows: StageRow[] = [];
  const heap = { dump: join(folder, "forged.dump"), wasm: join(folder, "forged.wasm") };
  const forgeAndMeasure = (shape: string, size: string, flags: string[]): StageRow => {
    progress(`${shape}, ${size}`);
    const live = binary.forge(shape, flags, heap);
    const row = measureStages(binary, heap, { shape, size, repetitions });
    // A time for a wrong result would be meaningless.
    if (row.live !== live) {
      throw new Error(`${shape}, ${size}: ${live} objects are alive, the engine found ${row.live}`);
    }
    rows.push(row);
    return row;
  };

  for (const shape of others) {
    for (const objects of sizes) {
      forgeAndMeasure(shape, title(objects), ["--objects", String(objects)]);
    }
  }
  if (options.full) {
    const large = title(sizes[1]);
    const isReference = ({ shape, size }: StageRow) => shape === FULL_SHAPE && size === large;
    const reference =
      rows.find(isReference) ?? forgeAndMeasure(FULL_SHAPE, large, ["--objects", String(sizes[1])]);
    const full = forgeAndMeasure(FULL_SHAPE, FULL_SIZE, ["--memory", FULL_SIZE]);
    targets.measureFull(heap, full, reference);
  }
  rmSync(heap.dump, { force: true });

  if (shapes.includes(SHOP)) {
    progress(SHOP);
    const shops = openShop(sizes, folder).map((heaps) => {
      const size = title(heaps.objects);
      rows.push(measureStages(binary, heaps.after, { shape: SHOP, size, repetitions }));
      return { title: `${size} live`, heaps };
    });
    progress("command line and API");
    const [small, large] = shops as [SizedShop, SizedShop];
    targets.measureShop(binary, [small, large], join(folder, "output.json"));
    progress("a series of dumps");
    targets.measureSeries(small);
    progress("questions");
    targets.measureQuestions(large);
    progress("agents");
    targets.measureAgents(large);
    progress("report");
    targets.measureReport(large, join(folder, "report.html"));
    progress("exports");
    targets.measureExports(large, join(folder, "exported"));
  }
  if (shapes.includes(EXPLORER)) {
    progress(EXPLORER);
    const [heaps] = openShop([sizes[1]], folder);
    if (heaps !== undefined) {
      targets.measureExplorer({ title: `${title(heaps.objects)} live`, heaps });
    }
  }
  if (shapes.includes(PROFILER)) {
    progress(PROFILER);
    targets.measureProfiler(compileProfiled(folder));
  }
  if (shapes.includes(SNAPSHOTS)) {
    progress(SNAPSHOTS);
    bundleDevTools();
    const file = join(folder, "app.heapsnapshot");
    // DevTools and memlab take minutes at the larger size.
    for (const size of [sizes[0], sizes[1] / 2]) {
      writeSnapshot(size, file);
      targets.measureSnapshot(title(size), file, size > sizes[0]);
    }
    rmSync(file);
  }
  targets.judgeGrowth(rows, [title(sizes[0]), title(sizes[1])]);
  targets.judgeScattered(rows, title(sizes[1]));
  return {
    format: 1,
    date: new Date().toISOString(),
    machine,
    optimised,
    repetitions,
    stages: rows,
    targets: targets.rows,
  };
}

/** Compiles the program that the profiler is measured with. */
function compileProfiled(folder: string): string {
  const wasm = join(folder, "profiled.wasm");
  const asc = join(require.resolve("assemblyscript/package.json"), "..", "bin", "asc.js");
  const flags = ["-O3", "--debug", "--exportRuntime"];
  execFileSync(process.execPath, [asc, "assembly/index.ts", "-o", wasm, ...flags], {
    cwd: resolve(__dirname, "../../benches/profiler"),
    stdio: "inherit",
  });
  return wasm;
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean", default: false },
      full: { type: "boolean", default: false },
      objects: { type: "string" },
      shapes: { type: "string" },
      repeat: { type: "string", default: "5" },
      output: { type: "string", default: join(__dirname, "results.json") },
      tables: { type: "string" },
      compare: { type: "string" },
      gate: { type: "boolean", default: false },
      update: { type: "boolean", default: false },
      unoptimised: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    process.exit();
  }
  const [small, large, ...more] = values.objects?.split(",").map(wholeNumber) ?? [
    PROMISED_SIZES[0] / (values.quick ? 10 : 1),
    PROMISED_SIZES[1] / (values.quick ? 10 : 1),
  ];
  if (small === undefined || large === undefined || more.length > 0) {
    throw new Error("--objects takes two numbers, such as 1000,10000");
  }
  return {
    sizes: [small, large],
    full: values.full,
    shapes: values.shapes?.split(","),
    repetitions: wholeNumber(values.repeat),
    output: values.output,
    tables: values.tables,
    compare: values.compare,
    gate: values.gate,
    update: values.update,
    optimised: !values.unoptimised,
  };
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`not a whole number ≥ 1: ${text}`);
  return Number(text);
}

function readResults(file: string): Results {
  const results = JSON.parse(readFileSync(file, "utf8")) as Results;
  if (results.format !== 1) throw new Error(`${file} holds no results of this benchmark`);
  return results;
}

/** `1 M` and `10 M`, or the number. */
function title(objects: number): string {
  return objects % 1_000_000 === 0 ? `${objects / 1_000_000} M` : String(objects);
}

function progress(what: string): void {
  process.stderr.write(`measuring ${what}\n`);
}

try {
  main();
} catch (error) {
  console.error(`error: ${(error as Error).message}`);
  process.exitCode = 1;
}
