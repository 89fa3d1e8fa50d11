// `expectNoLeak` in the runners that people use, without configuration: what they print when a test fails.

import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { runCompiler } from "../support/compile.ts";
import { node, npm, project } from "./machine.ts";
import { ROOT } from "./packages.ts";

let folder: string;

beforeAll(async () => {
  folder = project({});
  npm(["install", "@warpo/heap-analyzer"], { cwd: folder });
  const { wasm } = await runCompiler(["leak.ts", "--debug"], {
    baseDir: join(ROOT, "__test__/programs"),
    transform: true,
  });
  writeFileSync(join(folder, "leak.wasm"), wasm);
  for (const runner of ["vitest", "jest", "mocha"]) {
    const installed = join(folder, "node_modules", runner);
    symlinkSync(join(ROOT, "node_modules", runner), installed, "junction");
  }
});

const ESM = `
  import { readFileSync } from "node:fs";
  import { exposeGlobals } from "@warpo/heap-analyzer/capture";
  import { expectNoLeak } from "@warpo/heap-analyzer/testing";`;
const COMMON_JS = `
  const { readFileSync } = require("node:fs");
  const { exposeGlobals } = require("@warpo/heap-analyzer/capture");
  const { expectNoLeak } = require("@warpo/heap-analyzer/testing");`;

/** A test that passes, with the module's file as it is, and one that fails, with the exposed bytes. */
const TESTS = `
  async function start() {
    const bytes = exposeGlobals(readFileSync("leak.wasm"));
    return (await WebAssembly.instantiate(bytes, { env: { abort() {} } })).instance;
  }
  test("steady work leaves nothing", async () => {
    const { exports } = await start();
    await expectNoLeak({ instance: exports, wasm: "leak.wasm", run: () => exports.work(100) });
  });
  test("leaking work is found", async () => {
    const instance = await start();
    const wasm = exposeGlobals(readFileSync("leak.wasm"));
    const run = () => {
      instance.exports.work(100);
      instance.exports.leak(25);
    };
    await expectNoLeak({ instance, wasm, run });
  });`;

const VITEST = ["node_modules/vitest/vitest.mjs", "run"];
const JEST = ["node_modules/jest/bin/jest.js", "--rootDir", "."];
const MOCHA = ["node_modules/mocha/bin/mocha.js"];

/** By runner: the name of the test's file, what is imported, and the command. */
const runners: [string, string, string, string[]][] = [
  ["vitest", "test.test.mjs", `import { test } from "vitest"; ${ESM}`, VITEST],
  ["jest", "test.test.cjs", COMMON_JS, JEST],
  ["jest, ESM", "test.test.mjs", ESM, ["--experimental-vm-modules", ...JEST]],
  ["node:test, ESM", "test.mjs", `import { test } from "node:test"; ${ESM}`, ["--test"]],
  ["node:test", "test.cjs", `const { test } = require("node:test"); ${COMMON_JS}`, ["--test"]],
  ["mocha", "test.cjs", `const test = it; ${COMMON_JS}`, MOCHA],
  ["mocha, ESM", "test.mjs", `const test = it; ${ESM}`, MOCHA],
];

test.each(runners)(
  "%s passes the steady test and fails the leaking one",
  (name, file, head, command) => {
    const subfolder = name.replaceAll(/\W+/g, "-");
    const path = join(folder, subfolder);
    mkdirSync(path);
    writeFileSync(join(path, file), head + TESTS);
    const { status, stdout, stderr } = node([...command, join(subfolder, file)], { cwd: folder });
    const printed = stripVTControlCharacters(stdout + stderr);
    expect(status, printed).toBe(1);
    expect(printed).toMatch(/1 passed|1 passing|pass 1/);
    expect(printed).toMatch(/1 failed|1 failing|fail 1/);
    expect(printed).toContain("LeakError");
    for (const line of [
      "+25 objects, +2.0 KiB retained per interval: leak/Entry",
      "global leak/kept",
      "Array<leak/Entry>[*]",
    ]) {
      expect(printed).toContain(line);
    }
  },
);
