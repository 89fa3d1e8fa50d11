// Leak tests of the JavaScript heap in every runner: many times without a leak, and each kind of leak alone. Only if it
// is asked for: `npm run test:full -- runners` (TEST_RUNNERS is the number of tests without a leak for each runner).

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LEAKS, leakingFile, namedClasses, RUNNERS, type Runner, steadyFile } from "./programs.ts";

const ROOT = join(import.meta.dirname, "../..");

/** Tests without a leak for each runner, and how many of them are in a process. */
const RUNS = Number(process.env.TEST_RUNNERS ?? 200);
const IN_A_FILE = 20;

/** As many as `expectNoLeak` takes by default. */
const ROUNDS = 8;

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "heap-analyzer-runners-"));
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, "@warpo"), { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "name": "runners", "private": true }');
  symlinkSync(ROOT, join(modules, "@warpo/heap-analyzer"), "junction");
  for (const runner of ["vitest", "jest", "@jest", "mocha"]) {
    symlinkSync(join(ROOT, "node_modules", runner), join(modules, runner), "junction");
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a file of tests, and counts those that passed and failed. */
function ran(runner: Runner, name: string, text: string) {
  const subfolder = `${runner.name}-${name}`.replaceAll(/\W+/g, "-");
  mkdirSync(join(folder, subfolder));
  writeFileSync(join(folder, subfolder, runner.file), text);
  const command = [...runner.command, join(subfolder, runner.file)];
  const { stdout, stderr } = spawnSync(process.execPath, command, {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  const printed = stripVTControlCharacters(stdout + stderr);
  const count = (words: RegExp) => Number(printed.match(words)?.slice(1).find(Boolean) ?? 0);
  return {
    printed,
    passed: count(/Tests:? .*?(\d+) passed|(\d+) passing|# pass (\d+)|ℹ pass (\d+)/),
    failed: count(/Tests:? .*?(\d+) failed|(\d+) failing|# fail (\d+)|ℹ fail (\d+)/),
  };
}

test.each(RUNNERS)("$name: no alarm without a leak", (runner) => {
  let [passed, failed] = [0, 0];
  const alarms: string[] = [];
  const others: string[] = [];
  for (let nth = 0; passed + failed < RUNS; nth++) {
    const tests = Math.min(IN_A_FILE, RUNS - passed - failed);
    const found = ran(runner, `steady-${nth}`, steadyFile(runner, { rounds: ROUNDS, tests }));
    expect(found.passed + found.failed, found.printed).toBe(tests);
    passed += found.passed;
    failed += found.failed;
    alarms.push(...found.printed.split("\n").filter((line) => /a leak: /.test(line)));
    if (found.failed > 0) others.push(found.printed);
  }
  console.log(`${runner.name}: ${failed} alarms in ${passed + failed} tests without a leak`);
  expect(alarms).toEqual([]);
  expect(failed, others.join("\n")).toBe(0);
});

test.each(RUNNERS)("$name: each kind of leak is found and named", (runner) => {
  const kinds = Object.keys(LEAKS);
  const alone = kinds.map((kind) => [kind]);
  const { printed, failed } = ran(
    runner,
    "leaking",
    leakingFile(runner, alone, { rounds: ROUNDS }),
  );
  console.log(`${runner.name}: ${failed} of ${kinds.length} kinds of leaks found`);
  expect(failed, printed).toBe(kinds.length);
  const classes = namedClasses(printed);
  for (const [kind, { named }] of Object.entries(LEAKS)) expect(classes, kind).toContain(named);
});
