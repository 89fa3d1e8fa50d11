// `expectNoLeak` on the JavaScript heap, in the runners that people use and from the packed package: ten kinds of leaks
// are found, and what the runner keeps is no leak. Here in the runner of Node; `npm run test:full -- runners` runs this file in
// vitest, jest and mocha too, and then each leak alone, and many times.

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { beforeAll, expect, test } from "vitest";
import {
  LEAKS,
  leakingFile,
  namedClasses,
  RUNNERS,
  type Runner,
  steadyFile,
} from "../runners/programs.ts";
import { node, nodeOutput, npm, project } from "./machine.ts";
import { ROOT } from "./packages.ts";

/** Chance grows in some rounds, so that work which must pass takes more of them than leaks that must be found. */
const STEADY_ROUNDS = 8;
const LEAKING_ROUNDS = 3;

const runners = RUNNERS.filter(
  ({ name }) => process.env.TEST_RUNNERS !== undefined || name === "node:test",
);

let folder: string;

beforeAll(() => {
  folder = project({});
  npm(["install", "@warpo/heap-analyzer"], { cwd: folder });
  for (const runner of ["vitest", "jest", "@jest", "mocha"]) {
    const installed = join(folder, "node_modules", runner);
    symlinkSync(join(ROOT, "node_modules", runner), installed, "junction");
  }
});

/** Runs a file of tests, and returns the exit code and what is printed. */
function ran(runner: Runner, name: string, text: string) {
  const subfolder = `${runner.name}-${name}`.replaceAll(/\W+/g, "-");
  mkdirSync(join(folder, subfolder));
  writeFileSync(join(folder, subfolder, runner.file), text);
  const command = [...runner.command, join(subfolder, runner.file)];
  const { status, stdout, stderr } = node(command, { cwd: folder });
  return { status, printed: stripVTControlCharacters(stdout + stderr) };
}

test.each(runners)("$name: ten kinds of leaks are found at once", (runner) => {
  const together = Object.keys(LEAKS).filter((kind) => kind !== "context");
  const text = leakingFile(runner, [together, ["context"]], { rounds: LEAKING_ROUNDS });
  const { status, printed } = ran(runner, "leaking", text);
  // The exit code of mocha is the number of failed tests.
  expect(status, printed).toBeGreaterThan(0);
  expect(printed).toMatch(/2 failed|2 failing|fail 2/);
  expect(printed).toContain("LeakError");
  const classes = namedClasses(printed);
  for (const [kind, { named }] of Object.entries(LEAKS)) expect(classes, kind).toContain(named);
});

test.each(runners)("$name: what mocks, spies and the console keep is no leak", (runner) => {
  const { status, printed } = ran(runner, "steady", steadyFile(runner, { rounds: STEADY_ROUNDS }));
  expect(status, printed).toBe(0);
});

test("the test on the page passes", () => {
  const page = readFileSync(join(ROOT, "docs/test-for-leaks.md"), "utf8");
  const [, chapter = ""] = page.split("### JavaScript\n");
  const [, code = ""] = /^```js\n([\s\S]*?)^```$/m.exec(chapter) ?? [];
  writeFileSync(join(folder, "guide.mjs"), code);
  expect(nodeOutput(["--test", "guide.mjs"], { cwd: folder })).toContain("pass 1");
});
