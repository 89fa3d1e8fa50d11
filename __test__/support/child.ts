/** Runs scripts in separate processes, with the built package and the files of the example server. */
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import type { LeakyServer } from "./leaky_server.ts";

export interface ChildOptions {
  /** Options of Node. */
  flags?: string[];
  env?: Record<string, string>;
  /** The most address space, in KiB. */
  addressSpace?: number;
  /** Whether the script loads the package itself, or not at all. */
  bare?: boolean;
}

export interface ChildResult {
  stdout: string;
  stderr: string;
  status: number | null;
  signal: string | null;
}

const PACKAGE = resolve(__dirname, "../../dist/index.js");

/** The beginning of a script, also in a worker thread. */
export function preamble({ before, after, wasm }: LeakyServer): string {
  return `
    const { analyze, analyzeAsync, analyzeFile, analyzeFileAsync, diffFile, diffFileAsync } =
      require(${JSON.stringify(PACKAGE)});
    const [before, after, wasm] = ${JSON.stringify([before, after, wasm])};`;
}

export function runScript(
  files: LeakyServer,
  script: string,
  { flags = [], env = {}, addressSpace, bare = false }: ChildOptions = {},
): ChildResult {
  const node = [process.execPath, ...flags, "-e", `${bare ? "" : preamble(files)}${script}`];
  const limited = ["sh", "-c", `ulimit -v ${addressSpace}; exec "$@"`, "sh", ...node];
  const [command = "", ...args] = addressSpace === undefined ? node : limited;
  const { stdout, stderr, status, signal } = spawnSync(command, args, {
    encoding: "utf8",
    env: { ...process.env, ...env },
  });
  return { stdout, stderr, status, signal };
}
