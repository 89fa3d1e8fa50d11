/**
 * Dumps from hosts other than Node, with the code of the pages in docs/hosts. The judge is the dump that Node writes at the
 * same moment, byte for byte. An engine that is not installed is skipped:
 *
 * - wasmtime for Python: `python3 -m pip install wasmtime`;
 * - the command line of wasmtime: `WASMTIME` names it, or it is on the PATH;
 * - the crate wasmtime: `WASMTIME_HOST` names the program of `__test__/hosts/wasmtime`, which is built at night;
 * - wasmer for Python: `WASMER_PYTHON` names a Python 3.10 with `wasmer` and `wasmer-compiler-cranelift`.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { analyzeFile, openHeapFile } from "@warpo/heap-analyzer";
import { captureDump, exposeGlobals } from "@warpo/heap-analyzer/capture";
import asc from "assemblyscript/asc";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const PROGRAMS = join(import.meta.dirname, "programs/coredump");
const COMMAND_LINE = join(import.meta.dirname, "../dist/heap_analyzer/cli.js");
const WASMTIME = process.env.WASMTIME ?? "wasmtime";
const WASMER_PYTHON = process.env.WASMER_PYTHON ?? "python3.10";
const WASMTIME_HOST = process.env.WASMTIME_HOST ?? "";
const FLAGS = [["--debug"], ["-O3", "--exportRuntime"]];

const runs = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;
const noWasmtimePython = !runs("python3", "-c", "import wasmtime");
const noWasmtime = !runs(WASMTIME, "--version");
const noWasmer = !runs(WASMER_PYTHON, "-c", "import wasmer, wasmer_compiler_cranelift");

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "other-hosts-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The first block of a page in docs/hosts with this info string. */
function block(page: string, info: string): string {
  const text = readFileSync(join(import.meta.dirname, "../docs/hosts", `${page}.md`), "utf8");
  const [, start] = text.split(`\`\`\`${info}\n`);
  if (start === undefined) throw new Error(`docs/hosts/${page}.md has no block ${info}`);
  return start.slice(0, start.indexOf("```"));
}

async function compiled(name: string, source: string, flags: string[]): Promise<string> {
  const file = join(folder, `${name}${flags.join("")}.wasm`);
  const { error } = await asc.main(["program.ts", "--outFile", "out.wasm", ...flags], {
    readFile: (path) => (path === "program.ts" ? source : null),
    writeFile: (path, contents) => {
      if (path === "out.wasm") writeFileSync(file, contents);
    },
    listFiles: () => [],
  });
  if (error) throw error;
  return file;
}

const PROGRAM = readFileSync(join(PROGRAMS, "prog.ts"), "utf8");

/** The dump that Node writes after `step(200)` and the trap in `fail(3)`. */
async function dumpOfNode(exposed: Uint8Array): Promise<Uint8Array> {
  const { instance } = await WebAssembly.instantiate(exposed as BufferSource, {
    env: { abort() {} },
  });
  const { step, fail } = instance.exports as Record<string, (n: number) => void>;
  step?.(200);
  expect(() => fail?.(3)).toThrow(WebAssembly.RuntimeError);
  return captureDump(instance.exports);
}

interface Engine {
  title: string;
  page: string;
  isMissing: boolean;
  python: string;
  /** The host, after the code of the page. It takes the module and the dump. */
  host: string;
}

const ENGINES: Engine[] = [
  {
    title: "wasmtime for Python (skipped if it is not installed)",
    page: "wasmtime",
    isMissing: noWasmtimePython,
    python: "python3",
    host: `
import sys, wasmtime as w
store = w.Store()
linker = w.Linker(store.engine)
i32 = w.ValType.i32()
linker.define_func("env", "abort", w.FuncType([i32] * 4, []), lambda *_: None)
module = w.Module.from_file(store.engine, sys.argv[1])
exports = linker.instantiate(store, module).exports(store)
exports["step"](store, 200)
try:
    exports["fail"](store, 3)
except w.Trap:
    write_dump(store, exports, sys.argv[2])
`,
  },
  {
    title: "wasmer for Python (skipped if WASMER_PYTHON names none)",
    page: "wasmer",
    isMissing: noWasmer,
    python: WASMER_PYTHON,
    host: `
import sys, wasmer as w
from wasmer_compiler_cranelift import Compiler
store = w.Store(w.engine.JIT(Compiler))
def abort(a: int, b: int, c: int, d: int): pass
imports = w.ImportObject()
abort = w.Function(store, abort, w.FunctionType([w.Type.I32] * 4, []))
imports.register("env", {"abort": abort})
module = w.Module(store, open(sys.argv[1], "rb").read())
exports = w.Instance(module, imports).exports
exports.step(200)
try:
    exports.fail(3)
except RuntimeError:
    write_dump(exports, sys.argv[2])
`,
  },
];

describe.each(ENGINES)("$title", ({ page, isMissing, python, host }) => {
  test.skipIf(isMissing).for(FLAGS)("writes the dump of Node, with %j", async (flags) => {
    const wasm = await compiled("prog", PROGRAM, flags);
    const exposed = exposeGlobals(readFileSync(wasm));
    writeFileSync(join(folder, "exposed.wasm"), exposed);
    const code = block(page, `python ${page}`);
    // What the page promises.
    expect(code.trim().split("\n").length).toBeLessThanOrEqual(20);
    writeFileSync(join(folder, "host.py"), code + host);
    const dump = join(folder, `${page}.dump`);
    execFileSync(python, [join(folder, "host.py"), join(folder, "exposed.wasm"), dump]);
    const expected = await dumpOfNode(exposed);
    expect(readFileSync(dump).equals(expected)).toBe(true);
    const [row] = analyzeFile(dump, wasm).constructors;
    expect(row?.count).toBeGreaterThan(0);
  });
});

describe("the command line of wasmtime (skipped if WASMTIME names none)", () => {
  /** Ends a program with a trap. `abort` is a function of another module, which ends by `unreachable`. */
  function coredump(wasm: string, ...call: string[]): string {
    const core = `${wasm}.core`;
    const abort = join(folder, "abort.wat");
    writeFileSync(abort, '(module (func (export "abort") (param i32 i32 i32 i32) unreachable))');
    const args = ["run", "-D", `coredump=${core}`, "--preload", `env=${abort}`];
    const [name = "", ...values] = call;
    const { stderr } = spawnSync(WASMTIME, [...args, "--invoke", name, wasm, ...values]);
    expect(String(stderr)).toContain("core dumped at");
    return core;
  }

  const ABORTS = `
    class Order { constructor(public lines: i32[]) {} }
    const orders: Order[] = [];
    function check(order: Order): void { assert(order.lines.length < 3, "too many lines"); }
    export function add(lines: i32): void {
      const order = new Order(new Array<i32>(lines));
      orders.push(order);
      check(order);
    }
    export function addAll(most: i32): void { for (let i = 0; i <= most; i++) add(i); }`;

  test.skipIf(noWasmtime)("at an abort, every command names the frames", async () => {
    const wasm = await compiled("aborts", ABORTS, ["--debug"]);
    const core = coredump(wasm, "addAll", "9");
    const heap = openHeapFile(core, wasm);
    const functions = heap.summary().trap?.frames.map((frame) => frame.function);
    expect(functions).toEqual(["program/check", "program/add", "program/addAll"]);
    const orders = heap.find({ class: "program/Order" });
    // Orders with 0, 1, 2 and 3 lines.
    expect(orders.total).toBe(4);
    heap.close();
    const run = (...args: string[]) =>
      execFileSync(process.execPath, [COMMAND_LINE, ...args, "--wasm", wasm], { encoding: "utf8" });
    expect(run("summary", core)).toMatch(
      /trap: 3 frame\(s\), the innermost first\n {2}at program\/check /,
    );
    expect(run("suspects", core)).toContain("program/Order");
    const report = join(folder, "report.html");
    run("report", core, "--output", report);
    expect(readFileSync(report, "utf8")).toContain("<!doctype html>");
  });

  test.skipIf(noWasmtime)("a coredump of a trap is the dump of Node", async () => {
    // The command line calls one function.
    const source = `${PROGRAM}\nexport function both(): void { step(200); fail(3); }`;
    for (const flags of FLAGS) {
      const wasm = await compiled("both", source, flags);
      const core = coredump(wasm, "both");
      const exposed = exposeGlobals(readFileSync(wasm));
      const { instance } = await WebAssembly.instantiate(exposed as BufferSource, {
        env: { abort() {} },
      });
      const { both } = instance.exports as Record<string, () => void>;
      expect(() => both?.()).toThrow(WebAssembly.RuntimeError);
      const reference = join(folder, "reference.dump");
      writeFileSync(reference, captureDump(instance.exports));
      const [ofCore, ofNode] = [core, reference].map((dump) => analyzeFile(dump, wasm));
      expect(JSON.stringify(ofCore)).toBe(JSON.stringify(ofNode));
    }
  });
});

describe("the crate wasmtime (skipped if WASMTIME_HOST names no program)", () => {
  test.skipIf(WASMTIME_HOST === "").for(FLAGS)(
    "writes dumps in three ways, with %j",
    async (flags) => {
      const wasm = await compiled("prog", PROGRAM, flags);
      const exposed = exposeGlobals(readFileSync(wasm));
      const changed = join(folder, "exposed.wasm");
      writeFileSync(changed, exposed);
      const reference = join(folder, "reference.dump");
      writeFileSync(reference, await dumpOfNode(exposed));
      const run = (way: string, module: string) =>
        execFileSync(WASMTIME_HOST, [way, module, join(folder, way)], { encoding: "utf8" });
      run("exposed", changed);
      expect(readFileSync(join(folder, "exposed")).equals(readFileSync(reference))).toBe(true);
      const analyze = (...args: string[]) =>
        execFileSync(process.execPath, [COMMAND_LINE, "analyze", ...args, "--wasm", wasm]);
      const expected = analyze(reference);
      run("coredump", wasm);
      expect(analyze(join(folder, "coredump")).equals(expected)).toBe(true);
      const options = run("unprepared", wasm).trim().split("\n");
      expect(analyze(join(folder, "unprepared"), ...options).equals(expected)).toBe(true);
    },
  );

  test("its program has the code of the page", () => {
    const source = readFileSync(join(import.meta.dirname, "hosts/wasmtime/src/main.rs"), "utf8");
    for (const info of ["rust coredump", "rust exposed", "rust unprepared"]) {
      const code = block("wasmtime", info);
      expect(source).toContain(code);
      expect(code.trim().split("\n").length).toBeLessThanOrEqual(20);
    }
  });
});
