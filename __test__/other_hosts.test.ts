/**
 * Dumps from hosts other than Node, with the code of docs/capture.md. The judge is the dump that Node writes at the
 * same moment, byte for byte. `npm run test:full -- other-hosts` installs the engines into build/hosts, and fails without them; in
 * other runs, what is not installed there is skipped.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { analyze, analyzeFile, openHeapFile } from "@warpo/heap-analyzer";
import { captureDump, exposeGlobals } from "@warpo/heap-analyzer/capture";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { outputOf, runIn } from "./support/command_line.ts";
import { runCompiler } from "./support/compile.ts";
import { dataOfReport } from "./support/report_data.ts";

const PROGRAMS = join(import.meta.dirname, "programs/coredump");
const INSTALLED = join(import.meta.dirname, "../build/hosts");
const FLAGS = [["--debug"], ["-O3", "--exportRuntime"], ["-O3", "--debug", "--exportRuntime"]];
/** The versions of the package wasmtime for Python and of the command line. */
const AGES = ["newest", "oldest"];

const installed = (path: string) => join(INSTALLED, path);
const WASMTIME_HOST = installed("target/debug/wasmtime-host");

/** Whether the tests of a host are skipped: if it is not installed, and `TEST_OTHER_HOSTS` is not set. */
function isMissing(path: string): boolean {
  return process.env.TEST_OTHER_HOSTS === undefined && !existsSync(path);
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "other-hosts-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The first block of docs/capture.md with this info string. */
function block(info: string): string {
  const text = readFileSync(join(import.meta.dirname, "../docs/capture.md"), "utf8");
  const [, start] = text.split(`\`\`\`${info}\n`);
  if (start === undefined) throw new Error(`docs/capture.md has no block ${info}`);
  return start.slice(0, start.indexOf("```"));
}

async function compiled(name: string, source: string, flags: string[]): Promise<string> {
  const file = join(folder, `${name}${flags.join("")}.wasm`);
  const sources = { "program.ts": source };
  const { wasm } = await runCompiler(["program.ts", ...flags], { sources, exportRuntime: false });
  writeFileSync(file, wasm);
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
  python: string;
  /** The host, after the code of the page. It takes the module and the dump. */
  host: string;
}

const ENGINES: Engine[] = [
  ...AGES.map((age) => ({
    title: `wasmtime for Python, the ${age} (skipped if it is not installed)`,
    page: "wasmtime",
    python: installed(`wasmtime-${age}/bin/python`),
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
  })),
  {
    title: "wasmer for Python (skipped if it is not installed)",
    page: "wasmer",
    python: installed("wasmer/bin/python"),
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

/** The program and its exposed module in files, and the dump of Node. */
async function program(flags: string[]) {
  const wasm = await compiled("prog", PROGRAM, flags);
  const bytes = exposeGlobals(readFileSync(wasm));
  const exposed = join(folder, "exposed.wasm");
  writeFileSync(exposed, bytes);
  return { wasm, exposed, expected: await dumpOfNode(bytes) };
}

/** A block of a page, which is as short as a page can show. */
function shortBlock(info: string): string {
  const code = block(info);
  expect(code.trim().split("\n").length).toBeLessThanOrEqual(20);
  return code;
}

describe.each(ENGINES)("$title", ({ page, python, host }) => {
  test.skipIf(isMissing(python)).for(FLAGS)("writes the dump of Node, with %j", async (flags) => {
    const { wasm, exposed, expected } = await program(flags);
    const script = join(folder, "host.py");
    writeFileSync(script, shortBlock(`python ${page}`) + host);
    const dump = join(folder, `${page}.dump`);
    execFileSync(python, [script, exposed, dump]);
    expect(readFileSync(dump).equals(expected)).toBe(true);
    const [row] = analyzeFile(dump, wasm).constructors;
    expect(row?.count).toBeGreaterThan(0);
  });
});

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
/** The functions that run when it aborts. */
const RUNNING = ["program/check", "program/add", "program/addAll"];

/** Compares what is said about a coredump of an abort in `addAll(9)` with the program. */
function expectAbort(core: string, wasm: string): void {
  const heap = openHeapFile(core, wasm);
  const { trap } = heap.summary();
  expect(trap?.frames.map((frame) => frame.function)).toEqual(RUNNING);
  // Orders with 0, 1, 2 and 3 lines.
  expect(heap.find({ class: "program/Order" }).total).toBe(4);
  expect(dataOfReport(heap.report()).body.summary.trap.total).toBe(RUNNING.length);
  heap.close();
  const run = (command: string) => outputOf(runIn(folder, [command, core, "--wasm", wasm]));
  expect(run("summary")).toMatch(/trap: 3 frame\(s\), the innermost first\n {2}at program\/check /);
  expect(run("suspects")).toContain("program/Order");
}

describe.each(AGES)("the %s command line of wasmtime (skipped if it is not installed)", (age) => {
  const wasmtime = installed(`wasmtime-${age}/bin/wasmtime`);

  /** Ends a program with a trap. `abort` is a function of another module, which ends by `unreachable`. */
  function coredump(wasm: string, ...call: string[]): string {
    const core = `${wasm}.core`;
    const abort = join(folder, "abort.wat");
    writeFileSync(abort, '(module (func (export "abort") (param i32 i32 i32 i32) unreachable))');
    const args = ["run", "-D", `coredump=${core}`, "--preload", `env=${abort}`];
    const [name = "", ...values] = call;
    const { stderr } = spawnSync(wasmtime, [...args, "--invoke", name, wasm, ...values]);
    expect(String(stderr)).toContain("core dumped at");
    return core;
  }

  test.skipIf(isMissing(wasmtime))("at an abort, every command names the frames", async () => {
    const wasm = await compiled("aborts", ABORTS, ["--debug"]);
    expectAbort(coredump(wasm, "addAll", "9"), wasm);
  });

  test.skipIf(isMissing(wasmtime)).for(FLAGS)(
    "a coredump of a trap is the dump of Node, with %j",
    async (flags) => {
      // The command line calls one function.
      const source = `${PROGRAM}\nexport function both(): void { step(200); fail(3); }`;
      const wasm = await compiled("both", source, flags);
      const core = coredump(wasm, "both");
      const exposed = exposeGlobals(readFileSync(wasm));
      const { instance } = await WebAssembly.instantiate(exposed as BufferSource, {
        env: { abort() {} },
      });
      const { both } = instance.exports as Record<string, () => void>;
      expect(() => both?.()).toThrow(WebAssembly.RuntimeError);
      const ofNode = analyze(captureDump(instance.exports), readFileSync(wasm));
      expect(JSON.stringify(analyzeFile(core, wasm))).toBe(JSON.stringify(ofNode));
    },
  );
});

describe("the crate wasmtime (skipped if it is not installed)", () => {
  const CALLS = ["step:200", "fail:3"];

  /** Runs the host, whose last call traps, and returns what it printed. */
  function runHost(way: string, wasm: string, path: string, ...calls: string[]): string {
    return execFileSync(WASMTIME_HOST, [way, wasm, path, ...calls], { encoding: "utf8" });
  }

  test.skipIf(isMissing(WASMTIME_HOST)).for(FLAGS)(
    "writes dumps in three ways, with %j",
    async (flags) => {
      const { wasm, exposed, expected } = await program(flags);
      const file = (name: string) => join(folder, name);
      runHost("exposed", exposed, file("dump"), ...CALLS);
      expect(readFileSync(file("dump")).equals(expected)).toBe(true);
      const ofNode = JSON.stringify(analyzeFile(file("dump"), wasm));
      runHost("coredump", wasm, file("core"), ...CALLS);
      expect(JSON.stringify(analyzeFile(file("core"), wasm))).toBe(ofNode);
      const options = runHost("unprepared", wasm, file("raw"), ...CALLS)
        .trim()
        .split("\n");
      // With the warnings, of names that an optimised module does not have.
      const shown = (name: string, ...others: string[]) => {
        const run = runIn(folder, ["analyze", file(name), "--wasm", wasm, ...others]);
        return { status: run.status, stdout: run.stdout, stderr: run.stderr };
      };
      expect(shown("raw", ...options)).toEqual({ ...shown("dump"), status: 0 });
    },
  );

  test.skipIf(isMissing(WASMTIME_HOST))("at an abort, every command names the frames", async () => {
    const wasm = await compiled("aborts", ABORTS, ["--debug"]);
    const core = join(folder, "abort.core");
    runHost("coredump", wasm, core, "addAll:9");
    expectAbort(core, wasm);
  });

  test.skipIf(isMissing(WASMTIME_HOST))("of two instances, one is chosen", async () => {
    const { wasm, expected } = await program(["--debug"]);
    const core = join(folder, "two.core");
    runHost("coredump", wasm, core, "step:10", "again", ...CALLS);
    const read = (coredumpInstance?: number) =>
      JSON.stringify(analyzeFile(core, wasm, { coredumpInstance }));
    expect(() => read()).toThrow(/2 instance\(s\) .* none was chosen/);
    const ofNode = JSON.stringify(analyze(expected, readFileSync(wasm)));
    expect(read(1)).toBe(ofNode);
    expect(read(0)).not.toBe(ofNode);
    expect(() => read(2)).toThrow("instance 2 is not one of them");
  });

  test("its program has the code of the page", () => {
    const source = readFileSync(join(import.meta.dirname, "hosts/wasmtime/src/main.rs"), "utf8");
    for (const info of ["rust coredump", "rust exposed", "rust unprepared"]) {
      expect(source).toContain(shortBlock(info));
    }
  });
});
