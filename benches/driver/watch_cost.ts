/**
 * What `watch` costs the program that it watches: `node build/bench/watch_cost.js <wasm> <objects> <pairs> <seconds>`
 * prints ratios as JSON, one for each pair of measurements: the trades that a program makes in this many seconds with
 * `watch`, divided by those without.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface, type Interface } from "node:readline";
import { setTimeout } from "node:timers/promises";

/** Of the watched time to the time alone. */
export interface WatchCost {
  /** How often the program worked. */
  throughput: number;
  /** The same per second of its processor time. */
  perProcessorTime: number;
  /** Dumps that were taken. */
  dumps: number;
}

interface Reading {
  trades: number;
  cpu: number;
}

async function main([wasm, objects, pairs, length]: string[]): Promise<void> {
  if (wasm === undefined || objects === undefined || length === undefined) {
    throw new Error("usage: watch_cost <wasm> <objects> <pairs> <seconds>");
  }
  const script = [require.resolve("./watched_shop.js"), wasm, objects];
  const program = spawn(process.execPath, ["--inspect=127.0.0.1:0", ...script]);
  try {
    const [announced] = await once(program.stderr, "data");
    const url = /ws:\/\/\S+/.exec(String(announced))?.[0] ?? "";
    const lines = createInterface({ input: program.stdout });
    await once(lines, "line");
    const costs: WatchCost[] = [];
    for (let pair = 0; pair < Number(pairs); pair++) {
      costs.push(await compared(program, lines, url, Number(length) * 1000));
    }
    console.log(JSON.stringify(costs));
  } finally {
    program.kill();
  }
}

/** One time alone, and one with `watch`. */
async function compared(
  program: ChildProcessWithoutNullStreams,
  lines: Interface,
  url: string,
  length: number,
): Promise<WatchCost> {
  const read = async (): Promise<Reading> => {
    program.stdin.write("\n");
    const [line] = await once(lines, "line");
    return JSON.parse(line);
  };
  const measured = async () => {
    const before = await read();
    const begin = performance.now();
    await setTimeout(length);
    const after = await read();
    const trades = after.trades - before.trades;
    return {
      rate: trades / (performance.now() - begin),
      perCpu: trades / (after.cpu - before.cpu),
    };
  };
  const alone = await measured();
  const cli = require.resolve("@warpo/heap-analyzer/dist/heap_analyzer/cli.js");
  const watch = spawn(process.execPath, [cli, "watch", "--every", "1s", url]);
  let printed = "";
  watch.stdout.on("data", (text) => {
    printed += text;
  });
  watch.stderr.resume();
  const ended = once(watch, "exit");
  const watched = await measured();
  watch.kill();
  await ended;
  return {
    throughput: watched.rate / alone.rate,
    perProcessorTime: watched.perCpu / alone.perCpu,
    dumps: printed.match(/dump \d+ /g)?.length ?? 0,
  };
}

if (require.main === module) void main(process.argv.slice(2));
