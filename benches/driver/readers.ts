/**
 * The readers of heap snapshots, each in a process of its own: the analyzer, the code of Chrome's DevTools, and memlab.
 * A heap that is opened for questions and DevTools do the same work: load, classes with retained sizes, distances.
 * `analyze` keeps no distances. memlab loads and computes retained sizes only.
 */
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import type { ConstructorView } from "@warpo/heap-analyzer";
import { runCli, runNode } from "./processes.js";

const ROOT = resolve(__dirname, "../..");
const MEMLAB = join(ROOT, "__test__/memlab/package.json");
/** For the heap of a reader that is written in JavaScript. */
const LARGE_HEAP = "--max-old-space-size=16000";

/** What a reader found. */
export interface Sums {
  classes: number;
  /** Bytes of all objects. */
  size: number;
  /** Bytes that the classes retain, one by one; `analyze` does not say them. */
  retained?: number;
}

/** How a reader did. */
export interface Reading {
  /** From the file to the result, without the start of Node. */
  seconds: number;
  /** The CPU time of all threads. */
  cpuSeconds: number;
  /** Of the whole process. */
  peakBytes: number;
  /** Of memlab, which has no classes, undefined. */
  sums?: Sums;
}

export function readByAnalyzer(file: string): Reading {
  return reading([__filename, "analyzer", file]);
}

/** By the command line, as a table of classes. */
export function readByCommand(file: string): Reading {
  const node = runNode(["--eval", "0"]);
  const run = runCli(["analyze", file, "--instances", "0"], "pipe");
  const { constructors, totalLiveSize } = JSON.parse(run.stdout) as ConstructorView;
  return {
    seconds: run.seconds - node.seconds,
    cpuSeconds: run.cpuSeconds - node.cpuSeconds,
    peakBytes: run.peakBytes,
    sums: { classes: constructors.length, size: totalLiveSize },
  };
}

/** {@link bundleDevTools} comes first. */
export function readByDevTools(file: string): Reading {
  return reading([LARGE_HEAP, join(ROOT, "build/devtools/load.mjs"), file]);
}

export function readByMemlab(file: string): Reading {
  return reading([LARGE_HEAP, __filename, "memlab", file]);
}

/** Whether `npm ci --prefix __test__/memlab --ignore-scripts` was run. */
export function isMemlabInstalled(): boolean {
  return memlab() !== undefined;
}

/** Makes one file of DevTools' modules, which come as TypeScript. */
export function bundleDevTools(): void {
  const vite = join(require.resolve("vite/package.json"), "..", "bin", "vite.js");
  const config = join(ROOT, "__test__/devtools/vite.config.mts");
  execFileSync(process.execPath, [vite, "build", "--config", config], {
    cwd: ROOT,
    stdio: "inherit",
  });
}

/** As much of memlab as is needed. */
interface Memlab {
  config: { muteConsole: boolean };
  utils: { getSnapshotFromFile(file: string, options: object): Promise<unknown> };
  analysis: { preparePathFinder(snapshot: unknown): unknown };
}

function memlab(): string | undefined {
  try {
    return createRequire(MEMLAB).resolve("@memlab/core");
  } catch {
    return undefined;
  }
}

function reading(args: string[]): Reading {
  const { stdout, peakBytes } = runNode(args);
  const line = stdout.trim().split("\n").at(-1) ?? "";
  const { seconds, cpuSeconds, ...sums } = JSON.parse(line) as Reading & Partial<Sums>;
  const times = { seconds, cpuSeconds, peakBytes };
  return sums.classes === undefined ? times : { ...times, sums: sums as Sums };
}

/** In the process of a reader. */
async function read(reader: string, file: string): Promise<void> {
  const [begin, cpu] = [performance.now(), process.cpuUsage()];
  const print = (sums: Partial<Sums>) => {
    const seconds = (performance.now() - begin) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    console.log(JSON.stringify({ seconds, cpuSeconds: (user + system) / 1e6, ...sums }));
  };
  if (reader === "memlab") {
    const { analysis, config, utils } = require(memlab() as string) as Memlab;
    config.muteConsole = true;
    analysis.preparePathFinder(await utils.getSnapshotFromFile(file, {}));
    print({});
  } else {
    const { openHeapFile } =
      require("@warpo/heap-analyzer") as typeof import("@warpo/heap-analyzer");
    const { constructors, totalLiveSize } = openHeapFile(file).constructors({ instances: 0 });
    const retained = constructors.reduce((sum, row) => sum + (row.retainedSetSize ?? 0), 0);
    print({ classes: constructors.length, size: totalLiveSize, retained });
  }
}

if (require.main === module) {
  const [reader, file] = process.argv.slice(2) as [string, string];
  void read(reader, file);
}
