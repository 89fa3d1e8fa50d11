/** The command line. */
import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { MessageChannel, receiveMessageOnPort, Worker } from "node:worker_threads";
import { expect } from "vitest";

export const CLI = resolve(__dirname, "../../dist/heap_analyzer/cli.js");
const MAIN = resolve(CLI, "../main.js");

/** Nothing about the terminal that the tests themselves run in. */
export const ENVIRONMENT = { PATH: process.env.PATH ?? "" };

export type Result = Pick<SpawnSyncReturns<string>, "status" | "stderr" | "stdout">;

/** The commands that run a program or a server: what these write goes to the streams of the process. */
const IN_A_PROCESS = ["attach", "open", "profile", "serve", "watch"];
/** To stop a test that hangs, in milliseconds. */
const LONGEST = 240_000;

/** Answers one message at a time with what a command wrote. */
const THREAD = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { run } = require(workerData);
  parentPort.on("message", async ({ args, port, isDone }) => {
    port.postMessage(await run(args));
    Atomics.store(isDone, 0, 1);
    Atomics.notify(isDone, 0);
  });`;
let thread: Worker | undefined;

/** Runs the command line in a folder: in a thread of this process, which has loaded it once. */
export function runIn(folder: string, args: readonly string[]): Result {
  if (IN_A_PROCESS.includes(args[0] ?? "")) return spawnIn(folder, args);
  if (thread === undefined) {
    thread = new Worker(THREAD, { eval: true, workerData: MAIN, env: ENVIRONMENT });
    thread.unref();
  }
  const here = process.cwd();
  process.chdir(folder);
  try {
    const { port1, port2 } = new MessageChannel();
    const isDone = new Int32Array(new SharedArrayBuffer(4));
    thread.postMessage({ args, port: port2, isDone }, [port2]);
    if (Atomics.wait(isDone, 0, 0, LONGEST) === "timed-out") throw new Error(`hangs: ${args}`);
    return receiveMessageOnPort(port1)?.message as Result;
  } finally {
    process.chdir(here);
  }
}

/** Runs the command line in a folder, as a process. */
export function spawnIn(folder: string, args: readonly string[]): Result {
  return spawnSync(process.execPath, [CLI, ...args], {
    cwd: folder,
    env: ENVIRONMENT,
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
}

/** The output of a run that succeeded without messages on stderr. */
export function outputOf({ status, stderr, stdout }: Result): string {
  expect(stderr).toBe("");
  expect(status).toBe(0);
  return stdout;
}

/** The one line that a run failed with. */
export function failureOf({ status, stderr, stdout }: Result): string {
  expect(stdout).toBe("");
  expect(status).toBe(1);
  expect(stderr).toMatch(/^[^\n]+\n$/);
  return stderr.trimEnd();
}
