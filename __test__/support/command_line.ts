/** The command line as a process. */
import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { expect } from "vitest";

export const CLI = resolve(__dirname, "../../dist/heap_analyzer/cli.js");

/** Nothing about the terminal that the tests themselves run in. */
export const ENVIRONMENT = { PATH: process.env.PATH ?? "" };

type Result = Pick<SpawnSyncReturns<string>, "status" | "stderr" | "stdout">;

/** Runs the command line in a folder. */
export function runIn(folder: string, args: readonly string[]): SpawnSyncReturns<string> {
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
