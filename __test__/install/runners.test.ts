// `expectNoLeak` in the runners that people use, without configuration: what it prints when a test fails.

import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import AscTransform from "../../dist/asc_transform.mjs";
import { runCompiler } from "../support/compile.ts";
import { node, npm, project } from "./machine.ts";
import { ROOT } from "./packages.ts";

let folder: string;

beforeAll(async () => {
  folder = project({});
  npm(["install", "@warpo/heap-analyzer"], { cwd: folder });
  const { wasm } = await runCompiler(["leak.ts", "--debug"], {
    baseDir: join(ROOT, "__test__/programs"),
    transforms: [AscTransform],
  });
  writeFileSync(join(folder, "leak.wasm"), wasm);
  for (const runner of ["vitest", "jest", "mocha"]) {
    symlinkSync(join(ROOT, "node_modules", runner), join(folder, "node_modules", runner), "junction");
  }
});

const ESM = (imports: string) => `
  ${imports}
  import { readFileSync } from "node:fs";
  import { exposeGlobals } from "@warpo/heap-analyzer/capture";
  import { expectNoLeak } from "@warpo/heap-analyzer/testing";`;
const COMMON_JS = (imports: string) => `
  ${imports}
  const { readFileSync } = require("node:fs");
  const { exposeGlobals } = require("@warpo/heap-analyzer/capture");
  const { expectNoLeak } = require("@warpo/heap-analyzer/testing");`;

/** A test that passes and one that fails. */
const TESTS = `
  async function start() {
    const bytes = exposeGlobals(readFileSync("leak.wasm"));
    return (await WebAssembly.instantiate(bytes, { env: { abort() {} } })).instance;
  }
  test("steady work leaves nothing behind", async () => {
    const instance = await start();
    await expectNoLeak({ instance, wasm: "leak.wasm", run: () => instance.exports.work(100) });
  });
  test("leaking work is found", async () => {
    const instance = await start();
    const wasm = exposeGlobals(readFileSync("leak.wasm"));
    await expectNoLeak({ instance, wasm, run: () => { instance.exports.work(100); instance.exports.leak(25); } });
  });`;

const VITEST = ["node_modules/vitest/vitest.mjs", "run"];
const JEST = ["node_modules/jest/bin/jest.js", "--runTestsByPath"];
const MOCHA = ["node_modules/mocha/bin/mocha.js"];

/** By runner: the file, its text before the tests, and the command. */
const runners: [string, string, string, string[]][] = [
  ["vitest, ESM", "esm.test.mjs", ESM('import { test } from "vitest";'), VITEST],
  ["vitest, CommonJS", "common.test.cjs", `const { test } = globalThis;`, VITEST],
];
