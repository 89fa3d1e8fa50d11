/**
 * `npm run bench -- watch`: what `watch` costs the program that it watches. The program is the shop, which serves customers
 * as fast as it can; of its requests in a second, those with `watch` are compared with those without.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { sample } from "./results.js";
import type { ShopReading } from "./watched_shop.js";

const USAGE = `usage: npm run bench -- watch [options]

  --objects <n>    live objects of the shop (1000000)
  --dumps <n>      dumps of each time with watch (10)
  --rounds <n>     times with watch, each between two times without (5)
  --every <time>   as for watch (1ms: as often as --cost allows)
  --cost <percent> as for watch (5)`;

/** The seconds before the first measurement, in which the engine compiles what runs often. */
const WARM_UP = 5;
/** The seconds without \`watch\` before the first time with it. */
const FIRST = 10;

interface WatchCostOptions {
  objects: string;
  dumps: number;
  rounds: number;
  every: string;
  cost: string;
}

/** What the shop did in a time. */
interface ShopWork {
  seconds: number;
  perSecond: number;
  /** Requests per second of the processor time of its process. */
  perProcessorSecond: number;
}

async function main(options: WatchCostOptions): Promise<void> {
  const folder = mkdtempSync(join(__dirname, "watched-"));
  const script = [require.resolve("./watched_shop.js"), compileShop(folder), options.objects];
  const program = spawn(process.execPath, ["--inspect=127.0.0.1:0", ...script]);
  try {
    const [announced] = await once(program.stderr, "data");
    const url = /ws:\/\/\S+/.exec(String(announced))?.[0] ?? "";
    const lines = createInterface({ input: program.stdout });
    await once(lines, "line");
    const shop = new WatchedShop(lines, () => program.stdin.write("\n"));
    await setTimeout(WARM_UP * 1000);
    await compare(shop, url, options);
  } finally {
    program.kill();
    rmSync(folder, { recursive: true });
  }
}

/** The module is as a program has it that was not prepared. */
function compileShop(folder: string): string {
  const wasm = join(folder, "shop.wasm");
  const asc = join(require.resolve("assemblyscript/package.json"), "..", "bin", "asc.js");
  const flags = ["-O3", "--debug", "--exportRuntime"];
  execFileSync(process.execPath, [asc, "assembly/index.ts", "-o", wasm, ...flags], {
    cwd: resolve(__dirname, "../../benches/shop"),
    stdio: "inherit",
  });
  return wasm;
}

class WatchedShop {
  readonly #lines: Interface;
  readonly #ask: () => void;

  constructor(lines: Interface, ask: () => void) {
    this.#lines = lines;
    this.#ask = ask;
  }

  async read(): Promise<ShopReading> {
    this.#ask();
    const [line] = await once(this.#lines, "line");
    return JSON.parse(line);
  }

  /** What it does until something has ended. */
  async workDuring(wait: () => Promise<unknown>): Promise<ShopWork> {
    const before = await this.read();
    await wait();
    const after = await this.read();
    const requests = after.requests - before.requests;
    const seconds = after.time - before.time;
    return {
      seconds,
      perSecond: requests / seconds,
      perProcessorSecond: requests / (after.processorTime - before.processorTime),
    };
  }
}

/** Prints a line for each round, and the medians. */
async function compare(shop: WatchedShop, url: string, options: WatchCostOptions): Promise<void> {
  const { memorySize } = await shop.read();
  console.log(`${options.objects} objects, ${Math.round(memorySize / 2 ** 20)} MiB of memory`);
  const alone = (seconds: number) => shop.workDuring(() => setTimeout(seconds * 1000));
  const lost = { time: [] as number[], processorTime: [] as number[] };
  let before = await alone(FIRST);
  for (let round = 1; round <= options.rounds; round++) {
    const watched = await workWithWatch(shop, url, options);
    const after = await alone(watched.seconds);
    // What changes slowly counts equally on both sides.
    const share = (key: "perSecond" | "perProcessorSecond") =>
      100 - (100 * watched[key]) / ((before[key] + after[key]) / 2);
    lost.time.push(share("perSecond"));
    lost.processorTime.push(share("perProcessorSecond"));
    console.log(
      `round ${round}: ${options.dumps} dumps in ${watched.seconds.toFixed(1)} s: ` +
        `${watched.perSecond.toFixed(0)} requests per second, ${before.perSecond.toFixed(0)} before, ` +
        `${after.perSecond.toFixed(0)} after: ${share("perSecond").toFixed(1)} % less, ` +
        `${share("perProcessorSecond").toFixed(1)} % less per processor time`,
    );
    before = after;
  }
  console.log(
    `watch costs ${sample(lost.time).median.toFixed(1)} % of the throughput ` +
      `(${sample(lost.processorTime).median.toFixed(1)} % per processor time), median of ${options.rounds}`,
  );
}

/** From one dump to another, so that each dump counts with the time after it. */
async function workWithWatch(
  shop: WatchedShop,
  url: string,
  { dumps, every, cost }: WatchCostOptions,
): Promise<ShopWork> {
  const cli = require.resolve("@warpo/heap-analyzer/dist/heap_analyzer/cli.js");
  const words = [cli, "watch", "--every", every, "--cost", cost, url];
  const watch = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: watch.stdout });
  const ended = once(watch, "exit");
  try {
    await printed(lines, watch, 1);
    return await shop.workDuring(() => printed(lines, watch, dumps + 1));
  } finally {
    watch.kill();
    await ended;
  }
}

/** Waits until `watch` has printed the line of a dump. */
async function printed(lines: Interface, watch: ChildProcess, dump: number): Promise<void> {
  const failed = once(watch, "exit").then(([code]) => {
    throw new Error(`watch ended with ${code} before dump ${dump}`);
  });
  const found = new Promise<void>((resolve) => {
    const look = (line: string) => {
      if (!line.includes(`  dump ${dump}  `)) return;
      lines.off("line", look);
      resolve();
    };
    lines.on("line", look);
  });
  failed.catch(() => {});
  await Promise.race([found, failed]);
}

function readOptions(): WatchCostOptions {
  const { values } = parseArgs({
    options: {
      objects: { type: "string", default: "1000000" },
      dumps: { type: "string", default: "10" },
      rounds: { type: "string", default: "5" },
      every: { type: "string", default: "1ms" },
      cost: { type: "string", default: "5" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    process.exit();
  }
  return { ...values, dumps: Number(values.dumps), rounds: Number(values.rounds) };
}

main(readOptions()).catch((error: Error) => {
  console.error(`error: ${error.message}`);
  process.exitCode = 1;
});
