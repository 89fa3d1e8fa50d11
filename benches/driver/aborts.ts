/**
 * `npm run bench -- aborts`: how soon an abort is answered, in every call of the API that takes a signal, and how soon
 * SIGINT ends every command. Each is aborted at random moments of its work. Prints a histogram. With `--only attach`, the
 * dumps are not read.
 *
 * usage: npm run bench -- aborts [--times <n>] [--seed <n>] [--only <part of a name>] <before> <after> [<wasm>]
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import * as analyzer from "@warpo/heap-analyzer";
import { attachCalls, attachCommands, startTarget } from "./abort_attach.js";
import { apiCalls, type Call, commands, type Inputs } from "./abort_calls.js";
import { random } from "./random.js";

const CLI = require.resolve("@warpo/heap-analyzer/dist/heap_analyzer/cli.js");
/** The upper bounds of the columns, in milliseconds. */
const BOUNDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, Number.POSITIVE_INFINITY];

/** Milliseconds from abort to answer; undefined if the work was done before. */
async function abortedAt(call: Call, moment: number): Promise<number | undefined> {
  const heaps = await call.open();
  try {
    const controller = new AbortController();
    const work = call.start(controller.signal, heaps).then(
      () => undefined,
      (error: { name: string }) => {
        if (error.name !== "AbortError") throw error;
        return performance.now();
      },
    );
    await sleep(moment);
    const asked = performance.now();
    controller.abort();
    const answered = await work;
    return answered === undefined ? undefined : answered - asked;
  } finally {
    for (const heap of heaps) heap.close();
  }
}

/** How long a call takes if nothing aborts it, in milliseconds. */
async function duration(call: Call): Promise<number> {
  const heaps = await call.open();
  const start = performance.now();
  await call.start(new AbortController().signal, heaps);
  const end = performance.now();
  for (const heap of heaps) heap.close();
  return end - start;
}

/** Milliseconds from SIGINT to the end of a command; undefined if it was done before. */
async function interruptedAt(args: string[], moment: number): Promise<number | undefined> {
  const child = spawn(process.execPath, [CLI, ...args], { stdio: "ignore" });
  const end = once(child, "exit").then(([, signal]) => [signal, performance.now()]);
  await sleep(moment);
  const asked = performance.now();
  child.kill("SIGINT");
  const [signal, ended] = (await end) as [string | null, number];
  return signal === null ? undefined : ended - asked;
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: {
      times: { type: "string", default: "50" },
      seed: { type: "string", default: "1" },
      only: { type: "string", default: "" },
    },
    allowPositionals: true,
  });
  const [before, after, wasm] = positionals;
  if (before === undefined || after === undefined) throw new Error("expected two dumps, a module");
  const inputs: Inputs = { before, after, wasm };
  const times = Number(values.times);
  const next = random(Number(values.seed));
  const all: number[] = [];
  const measure = async (
    name: string,
    whole: number,
    once: (at: number) => Promise<number | undefined>,
  ) => {
    const latencies: number[] = [];
    for (let nth = 0; nth < times; nth++) {
      const latency = await once(next() * whole);
      if (latency !== undefined) latencies.push(latency);
    }
    all.push(...latencies);
    console.log(line(name, latencies, whole));
  };
  console.log(line("aborted, below ms", undefined, 0));
  const folder = mkdtempSync(join(tmpdir(), "aborts-"));
  const isOfAttach = values.only.startsWith("attach");
  const target = await startTarget();
  try {
    const files = isOfAttach ? [] : apiCalls(analyzer, inputs, readFileSync);
    for (const call of [...attachCalls(target.url, folder), ...files]) {
      if (!call.name.includes(values.only)) continue;
      await measure(call.name, await duration(call), (at) => abortedAt(call, at));
    }
    const reading = isOfAttach ? [] : commands(inputs, folder);
    for (const args of [...attachCommands(target.url, folder), ...reading]) {
      const name = [
        "command",
        args[0],
        ...args.filter((arg) => /^(--list|pprof|parquet|heap\w+|heap-diff)$/.test(arg)),
      ];
      if (!name.join(" ").includes(values.only)) continue;
      const start = performance.now();
      await once(spawn(process.execPath, [CLI, ...args], { stdio: "ignore" }), "exit");
      await measure(name.join(" "), performance.now() - start, (at) => interruptedAt(args, at));
    }
  } finally {
    target.child.kill();
    rmSync(folder, { recursive: true });
  }
  console.log(line("all", all, 0));
}

/** One line of the histogram: its name, how many were aborted, the counts, the 99th percentile, the largest. */
function line(name: string, latencies: number[] | undefined, whole: number): string {
  const cells = (texts: (string | number)[]) =>
    texts.map((text) => String(text).padStart(6)).join("");
  if (latencies === undefined) {
    return `${name.padEnd(32)}${cells(["n", ...BOUNDS.map((bound) => (Number.isFinite(bound) ? bound : "more"))])}     p99     max   whole`;
  }
  const sorted = latencies.toSorted((one, other) => one - other);
  const counts = BOUNDS.map((bound, nth) => {
    const lowest = BOUNDS[nth - 1] ?? 0;
    return sorted.filter((latency) => latency >= lowest && latency < bound).length || "";
  });
  const ms = (value: number | undefined) => (value ?? 0).toFixed(1).padStart(8);
  const p99 = sorted[Math.ceil(sorted.length * 0.99) - 1];
  return `${name.padEnd(32)}${cells([sorted.length, ...counts])}${ms(p99)}${ms(sorted.at(-1))}${ms(whole)}`;
}

void main();
