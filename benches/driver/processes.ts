/** Every measurement runs in a separate process, so that its peak memory is its own and only the file is in a cache. */
import { execFileSync, type StdioOptions, spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Resources } from "./resources.js";

const ROOT = resolve(__dirname, "../..");

/** The output of the bench binary for one analysis (`crates/engine/benches/heap/analysis.rs`). */
export interface Analysis {
  /** Whether alive or not. */
  objects: number;
  live: number;
  references: number;
  dumpBytes: number;
  /** Name and seconds, in the order of the work. */
  stages: [string, number][];
  seconds: number;
  peakBytes: number | null;
  json: { bytes: number; seconds: number; peakBytes: number | null } | null;
}

/** The yardsticks (`crates/engine/benches/heap/yardsticks.rs`). */
export interface Yardsticks {
  threads: number;
  readSeconds: number;
  parallelReadSeconds: number;
  chaseSeconds: number;
  freshSeconds: number;
}

let isOptimised = true;
let built: string | undefined;

/** Builds the Rust side without optimisation, to try the benchmark itself out. To be called first. */
export function buildUnoptimised(): void {
  isOptimised = false;
}

/** The Rust side of the benchmark. It is built when it is first used. */
export function benchBinary(): string {
  built ??= build();
  return built;
}

function build(): string {
  const profile = isOptimised ? "bench" : "dev";
  const flags = ["build", "--bench", "heap", "--profile", profile, "--message-format", "json"];
  const messages = execFileSync("cargo", flags, {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 2 ** 28,
  });
  for (const line of messages.split("\n").filter((line) => line.startsWith("{"))) {
    const { executable, target } = JSON.parse(line) as Artifact;
    if (executable && target?.kind.includes("bench")) return executable;
  }
  throw new Error("cargo built no executable for the benchmark `heap`");
}

/** The commands of the Rust side. */
export class BenchBinary {
  shapes(): string[] {
    return this.#run("shapes") as string[];
  }

  /** Writes a heap; `size` is `--objects <n>` or `--memory <n>GiB`. Returns how many objects are alive in it. */
  forge(shape: string, size: string[], { dump, wasm }: Heap): number {
    const { truth } = this.#run("forge", shape, ...size, dump, wasm) as Forged;
    return truth.live.count;
  }

  analyze({ dump, wasm }: Heap, withJson: boolean): Analysis {
    const args = ["analyze", dump, wasm, ...(withJson ? ["--json"] : [])];
    return this.#run(...withMemory(benchBinary(), args)) as Analysis;
  }

  yardsticks({ dump }: Heap, objects: number): Yardsticks {
    return this.#run("yardsticks", dump, "--objects", String(objects)) as Yardsticks;
  }

  #run(...args: string[]): unknown {
    const stdio: StdioOptions = ["ignore", "pipe", "pipe"];
    return JSON.parse(execFileSync(benchBinary(), args, { encoding: "utf8", stdio }));
  }
}

interface Forged {
  truth: { live: { count: number } };
}

interface Artifact {
  executable?: string | null;
  target?: { kind: string[] };
}

/** A dump and its module, by path. */
export interface Heap {
  dump: string;
  wasm: string;
}

/** A run of Node. */
export interface NodeRun extends Resources {
  /** From start to end, the start of Node included. */
  seconds: number;
  stdout: string;
}

/** Runs Node with these arguments; `stdout` says where its output goes. */
export function runNode(args: string[], stdout: number | "pipe" | "ignore" = "pipe"): NodeRun {
  const hook = ["--require", join(__dirname, "resources.js")];
  const run = spawnSync(benchBinary(), withMemory(process.execPath, [...hook, ...args]), {
    stdio: ["ignore", stdout, "pipe", "pipe"],
    encoding: "utf8",
  });
  const stderr = run.stderr?.trimEnd() ?? "";
  if (run.status !== 0) throw new Error(`node ${args.join(" ")}: ${run.error?.message ?? stderr}`);
  const seconds = Number(stderr.slice(stderr.lastIndexOf("\n") + 1));
  const taken = JSON.parse(run.output[3] ?? "") as Resources;
  return { ...taken, seconds, stdout: run.stdout ?? "" };
}

/**
 * The arguments for the Rust side to run a program with memory that the host of a virtual machine has already
 * provided (`crates/engine/benches/heap/provided_memory.rs`): four bytes for each byte of the files among its arguments, which is
 * more than any measured process needs.
 */
function withMemory(program: string, args: string[]): string[] {
  const sizes = args.map((arg) => statSync(arg, { throwIfNoEntry: false })?.size ?? 0);
  const bytes = sizes.reduce((sum, size) => sum + size, 0) * 4;
  return ["provided-memory", `${Math.ceil(bytes / 2 ** 20)}MiB`, program, ...args];
}

/** The command line as users run it. */
export function runCli(args: string[], stdout: number | "pipe" | "ignore"): NodeRun {
  const cli = require.resolve("@warpo/heap-analyzer/dist/heap_analyzer/cli.js");
  return runNode([cli, ...args], stdout);
}
