// Dumps of a program of C that was not prepared, with and without names: by register, and by attach.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { attach } from "@warpo/heap-analyzer/attach";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { captureDump, exposeGlobals } from "../dist/capture.js";
import { openHeap } from "../dist/index.js";
import { clang, hasClang, PROGRAMS, stripped } from "./support/native_program.ts";

let folder: string;
const running: ChildProcess[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "native-capture-"));
});
afterAll(() => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(folder, { recursive: true });
});

const HOST = join(PROGRAMS, "host.mjs");
const ROOT = join(import.meta.dirname, "..");

/** The number of blocks in a dump. */
const blocksOf = (dump: string, file: string) => {
  const heap = openHeap(readFileSync(dump), readFileSync(file));
  const { live } = heap.summary().objects;
  heap.close();
  return live;
};

const aliveIn = (output: string) => Number(/alive: (\d+)/.exec(output)?.[1]);

describe.skipIf(!hasClang).each([
  { title: "with names", change: (file: string) => file },
  { title: "without names", change: stripped },
])("a module $title", ({ title, change }) => {
  let file: string;
  beforeAll(() => {
    const output = join(folder, `guest-${title.replaceAll(" ", "-")}.wasm`);
    expect(clang(output, "guest", "-O2")).toMatchObject({ status: 0 });
    file = change(output);
  });

  test("is captured after register was loaded", () => {
    const dump = join(folder, `${title}.registered.dump`);
    const args = ["--import", "@warpo/heap-analyzer/register", HOST, file, dump];
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: "utf8" });
    const alive = aliveIn(stdout);
    expect(alive, stderr).toBeGreaterThan(1000);
    expect(blocksOf(dump, file)).toBe(alive);
  });

  test("is captured by attach", async () => {
    const child = spawn(process.execPath, ["--inspect=127.0.0.1:0", HOST, file], { cwd: ROOT });
    running.push(child);
    let errors = "";
    child.stderr.on("data", (text) => {
      errors += String(text);
    });
    let output = "";
    for await (const text of child.stdout) {
      output += String(text);
      if (output.includes("alive: ")) break;
    }
    const target = await attach(/ws:\/\/\S+/.exec(errors)?.[0] as string);
    const dump = join(folder, `${title}.attached.dump`);
    const wasmOutput = join(folder, `${title}.attached.wasm`);
    await target.writeDump(dump, { wasmOutput });
    target.close();
    expect(blocksOf(dump, wasmOutput)).toBe(aliveIn(output));
  });
});

/** Compiles `stores.c`, which allocates at each call of `step`. */
const compileStores = (name: string, ...options: string[]) => {
  const file = join(folder, `${name}.wasm`);
  const args = ["--target=wasm32-wasi", "-g", "-O1", ...options, "stores.c", "-o", file];
  const { status, stderr } = spawnSync("clang", args, { cwd: PROGRAMS, encoding: "utf8" });
  expect(status, stderr).toBe(0);
  return readFileSync(file);
};
const REACTOR = "-mexec-model=reactor";

const sideModule = () => {
  const file = join(folder, "side.wasm");
  const target = ["--target=wasm32-unknown-emscripten", "-fPIC", "-nostdlib"];
  const link = "-Wl,-shared,--experimental-pic,--no-entry";
  const input = "int value; int *step(void) { return &value; }";
  const args = [...target, link, "-xc", "-", "-o", file];
  const { status, stderr } = spawnSync("clang", args, { input, encoding: "utf8" });
  expect(status, stderr).toBe(0);
  return readFileSync(file);
};

describe.skipIf(!hasClang)("a memory that the host makes", () => {
  test("has the blocks of one that the module makes", () => {
    const found = [[], ["-Wl,--import-memory"]].map((options) => {
      const wasm = compileStores(`memory${options.length}`, REACTOR, ...options);
      const module = new WebAssembly.Module(exposeGlobals(wasm));
      const env = { memory: new WebAssembly.Memory({ initial: 2 }) };
      const { exports } = new WebAssembly.Instance(module, { env });
      (exports._initialize as () => void)();
      for (let nth = 0; nth < 500; nth++) (exports.step as () => void)();
      const heap = openHeap(captureDump(exports), wasm);
      const blocks = heap.find({ limit: 100_000 }).objects.map(({ shallowSize, address }) => {
        return { shallowSize, path: heap.paths(address).path?.text };
      });
      heap.close();
      return blocks;
    });
    expect(found[0]?.length).toBeGreaterThan(20);
    expect(found[1]).toEqual(found[0]);
  });
});

describe.skipIf(!hasClang)("a side module", () => {
  test("is refused, because its addresses are not in it", () => {
    const side = sideModule();
    const main = compileStores("main", REACTOR);
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(exposeGlobals(main)));
    (exports._initialize as () => void)();
    (exports.step as () => void)();
    const dump = captureDump(exports);
    // The memory is the same, and the main module knows its addresses.
    openHeap(dump, main).close();
    expect(() => openHeap(dump, side)).toThrow(
      expect.objectContaining({
        code: "ERR_MODULE_KIND",
        message: expect.stringContaining("it imports __memory_base"),
      }),
    );
  });
});
