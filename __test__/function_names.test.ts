// Which function a function object stands for. What a call of it does is the truth.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { captureDump, exposeGlobals } from "../dist/capture.js";
import { openHeap } from "../dist/index.js";
import type { FieldValue, Heap } from "../index.js";
import { connect } from "./mcp/client.ts";
import { runCompiler } from "./support/compile.ts";
import { type NamesLeft, withNames } from "./support/wasm_module.ts";

interface Exports extends WebAssembly.Exports {
  start(): void;
  handlerOf(button: number): number;
  environmentOf(button: number): number;
  press(button: number): number;
}

/** The functions by what they add to the clicks. */
const FUNCTIONS: Record<number, string> = {
  1: "handlers/idle",
  10: "handlers/buy",
  100: "handlers/sell",
  1000: "handlers/start~anonymous|0",
};
const BUTTONS = [0, 1, 2, 3, 4];
/** The button whose handler has an environment. */
const BOUND = 4;

interface Program {
  exports: Exports;
  dump: Uint8Array;
  wasm: Uint8Array;
  heap: Heap;
}

async function run(flags: string[], names: NamesLeft = "all"): Promise<Program> {
  const compiled = await runCompiler(["handlers.ts", "--debug", ...flags], {
    baseDir: `${__dirname}/programs`,
    transform: true,
  });
  const wasm = withNames(compiled.wasm, names);
  const module = await WebAssembly.compile(exposeGlobals(wasm));
  const table = new WebAssembly.Table({ initial: 100, element: "anyfunc" });
  const instance = await WebAssembly.instantiate(module, { env: { abort() {}, table } });
  const exports = instance.exports as Exports;
  exports.start();
  const dump = captureDump(exports);
  return { exports, dump, wasm, heap: openHeap(dump, wasm) };
}

function indexField({ exports, heap }: Program, button: number): FieldValue {
  const { fields } = heap.object(exports.handlerOf(button));
  const field = fields.find(({ name }) => name === "_index");
  if (!field) throw new Error(`the handler of button ${button} has no _index`);
  return field;
}

describe.each([
  { build: "unoptimised", flags: [] },
  { build: "-O1", flags: ["-O1"] },
  { build: "-O3", flags: ["-O3"] },
  { build: "-Oz --converge", flags: ["-Oz", "--converge"] },
])("$build", ({ flags }) => {
  let program: Program;
  beforeAll(async () => {
    program = await run(flags);
  });

  test("the index of a function object is named after the function that a call runs", () => {
    const { exports } = program;
    const expected = BUTTONS.map((button) => FUNCTIONS[exports.press(button)]);
    expect(BUTTONS.map((button) => indexField(program, button).functionName)).toEqual(expected);
    expect(new Set(expected)).toEqual(new Set(Object.values(FUNCTIONS)));
  });

  test("the step of a path to a function object has the function beside the class", () => {
    const { exports, heap } = program;
    const { path } = heap.object(exports.environmentOf(BOUND));
    const step = path?.steps.find(({ className }) => className.startsWith("~lib/function/"));
    expect(step).toMatchObject({
      label: "onClick",
      className: "~lib/function/Function<()=>void>",
      functionName: "handlers/sell",
    });
    expect(path?.text).not.toContain("sell");
    const others = path?.steps.filter((other) => other !== step);
    expect(others?.map(({ functionName }) => functionName)).toEqual(others?.map(() => undefined));
  });

  test("only the index of a function object has a function", () => {
    const { exports, heap } = program;
    const { fields, preview } = heap.object(exports.handlerOf(1));
    expect(fields.map((field) => Object.hasOwn(field, "functionName"))).toEqual(
      fields.map(({ name }) => name === "_index"),
    );
    expect(preview).toMatch(/^\{_index: \d+ \(handlers\/buy\), _env: null\}$/);
  });
});

test("the tools for agents show functions, and their output schemas allow them", async () => {
  const { exports, dump, wasm } = await run([]);
  const folder = mkdtempSync(join(tmpdir(), "heap-analyzer-functions-"));
  writeFileSync(join(folder, "program.wasm"), wasm);
  writeFileSync(join(folder, "program.dump"), dump);
  const session = await connect(["--root", folder]);
  const opened = { dumps: ["program.dump"], wasm: "program.wasm" };
  const [{ heap }] = (await session.call("open_heaps", opened)).heaps;
  const { fields } = await session.call("object", { heap, address: exports.handlerOf(1) });
  expect(fields[0]).toMatchObject({ name: "_index", functionName: "handlers/buy" });
  const answer = await session.call("paths", { heap, address: exports.environmentOf(BOUND) });
  expect(JSON.stringify(answer)).toContain('"functionName":"handlers/sell"');
  await session.close();
  rmSync(folder, { recursive: true });
});

test.each([
  { build: "without names", flags: [], names: "none" as const },
  { build: "optimised, with the names of globals only", flags: ["-O3"], names: "globals" as const },
  { build: "with an exported table", flags: ["--exportTable"], names: "all" as const },
  { build: "with an imported table", flags: ["--importTable"], names: "all" as const },
])("a build $build names no function", async ({ flags, names }) => {
  const program = await run(flags, names);
  for (const button of BUTTONS) {
    expect(indexField(program, button)).not.toHaveProperty("functionName");
  }
  const { path } = program.heap.object(program.exports.environmentOf(BOUND));
  expect(path?.steps.some((step) => "functionName" in step)).toBe(false);
});
