/**
 * Runs an allocating program as it is, with sampled allocations, with counted ones, and with recorded ones, in turn:
 * `node build/bench/profiler.js <wasm> <items> <rounds>` prints the seconds of each as JSON.
 */
import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { createProfiler, instrument, type Profiler } from "@warpo/heap-analyzer/profile";

/** The processor time of each round in seconds, in which other work on the machine counts little. */
export interface ProfilerTimes {
  plain: number[];
  sampled: number[];
  counted: number[];
  recorded: number[];
  /** The memory that a live sample takes in Node. */
  bytesPerSample: number;
}

interface Program {
  work(items: number): number;
  __collect(): void;
}

/** The items before the first round. */
const WARM_UP = 300_000;

const [file, items, rounds] = process.argv.slice(2) as [string, string, string];
const wasm = new Uint8Array(readFileSync(file));
const env = {
  abort: () => {
    throw new Error("the program aborted");
  },
};
const program = instrument(wasm);
const withContexts = instrument(wasm, { contexts: true });

async function started(profiler?: Profiler): Promise<Program> {
  const module = profiler === undefined ? wasm : profiler.program.wasm;
  const { instance } = await WebAssembly.instantiate(module, { env, ...profiler?.imports });
  profiler?.attach(instance.exports);
  return instance.exports as unknown as Program;
}

function seconds(work: () => unknown): number {
  const begin = process.cpuUsage();
  work();
  return process.cpuUsage(begin).user / 1e6;
}

async function main(): Promise<void> {
  const times: ProfilerTimes = {
    plain: [],
    sampled: [],
    counted: [],
    recorded: [],
    bytesPerSample: 0,
  };
  const programs = [
    ["plain", await started()],
    ["sampled", await started(createProfiler(program))],
    ["counted", await started(createProfiler(program, { interval: Number.POSITIVE_INFINITY }))],
    ["recorded", await started(createProfiler(withContexts, { interval: 1 }))],
  ] as const;
  // The engine compiles again what runs often, in threads of its own.
  for (const [, { work }] of programs) work(WARM_UP);
  await wait(500);
  for (let round = 0; round < Number(rounds); round++) {
    // Each of them runs as often after each other one.
    for (let nth = 0; nth < programs.length; nth++) {
      const [name, one] = programs[(round + nth) % programs.length] as (typeof programs)[number];
      times[name].push(seconds(() => one.work(Number(items))));
      one.__collect();
    }
  }
  times.bytesPerSample = await sampleSize();
  console.log(JSON.stringify(times));
}

/** The memory of a live sample: what the imports of a profiler keep for many blocks of one stack. */
async function sampleSize(): Promise<number> {
  const profiler = createProfiler(program, { interval: 1 });
  const { allocated, keep } = profiler.imports.warpo_heap_analyzer_profile;
  const count = 200_000;
  const used = () => {
    (globalThis as { gc?: () => void }).gc?.();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = used();
  const sample = (address: number) => {
    allocated(address, 48, 0);
    keep(address, 48);
  };
  for (let nth = 1; nth <= count; nth++) sample(16 * nth);
  const bytes = used() - before;
  // The samples are there until now.
  sample(16);
  return bytes / count;
}

void main();
