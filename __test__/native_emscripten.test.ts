// Heaps of C and C++ programs that emscripten compiles here, with both of its allocators. Without it, they are skipped.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openHeap } from "../dist/index.js";
import { dumped, expectBlocksOfLog, PATH, PROGRAMS } from "./support/native_program.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "native-emscripten-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const hasEmcc = spawnSync("emcc", ["--version"]).status === 0;

const OVERHEAD = { dlmalloc: 4, emmalloc: 8 };
type Malloc = keyof typeof OVERHEAD;

/** Compiles a program with the log of its blocks, and runs it until it asks for a dump. */
const run = (source: string, malloc: Malloc, ...options: string[]) => {
  const name = [source, malloc, ...options].join("").replaceAll(/[^\w]/g, "");
  const file = join(folder, `${name}.wasm`);
  const compiler = source.endsWith(".cpp") ? "em++" : "emcc";
  const wraps = ["malloc", "calloc", "realloc", "free"].map((name) => `-Wl,--wrap=${name}`);
  const settings = [
    "-sSTANDALONE_WASM",
    `-sMALLOC=${malloc}`,
    "-sALLOW_MEMORY_GROWTH",
    "-sERROR_ON_UNDEFINED_SYMBOLS=0",
  ];
  const object = join(folder, "wrap.o");
  const wrap = spawnSync("emcc", ["-c", "-O1", "-fno-builtin-malloc", "wrap.c", "-o", object], {
    cwd: PROGRAMS,
    env: { ...process.env, PATH },
    encoding: "utf8",
  });
  expect(wrap.status, wrap.stderr).toBe(0);
  const args = [source, object, ...settings, ...wraps, ...options, "-o", file];
  const { status, stderr } = spawnSync(compiler, args, {
    cwd: PROGRAMS,
    env: { ...process.env, PATH },
    encoding: "utf8",
  });
  expect(status, stderr).toBe(0);
  return dumped(file);
};

const codesOf = (guest: ReturnType<typeof run>) => {
  const heap = openHeap(readFileSync(guest.dump), guest.wasm);
  const codes = heap.warnings.map(({ code }) => code);
  heap.close();
  return codes;
};

/** With `npm run test:full -- native`: Emscripten takes two seconds for each module. */
const isRun = hasEmcc && process.env.TEST_NATIVE !== undefined;

describe.skipIf(!isRun).each(["dlmalloc", "emmalloc"] as const)("emcc, %s", (malloc) => {
  test.each([["-O0", "-g"], ["-O2", "-g"], ["-O2"]])(
    "%s %s: the blocks are those of the log",
    (...options) => {
      const guest = run("guest.c", malloc, ...options);
      expectBlocksOfLog(guest, OVERHEAD[malloc]);
      // With debug information a type may be a guess.
      const codes = codesOf(guest).filter((code) => code !== "WARN_TYPE_GUESSED");
      expect(codes).toEqual([
        "WARN_CONSERVATIVE",
        "WARN_STACK_BOUNDS_GUESSED",
        "WARN_FRAMES_ACTIVE",
      ]);
      const heap = openHeap(readFileSync(guest.dump), guest.wasm);
      const leaked = [...guest.fates].filter(([, fate]) => fate.startsWith("leaked"));
      expect(leaked.length).toBe(44);
      for (const [block] of leaked) {
        expect(heap.paths(block).path?.text).toMatch(/^unreferenced > /);
      }
      heap.close();
    },
  );

  test("the sum of the sizes is what the allocator says of itself", () => {
    const guest = run("mi.c", malloc, "-O1");
    const [, used, usable, count] =
      /uordblks (\d+) .* usable (\d+) n (\d+)/.exec(guest.output)?.map(Number) ?? [];
    const heap = openHeap(readFileSync(guest.dump), guest.wasm);
    const { objects, totalLiveSize } = heap.summary();
    expect(objects.live).toBe(count);
    expect(totalLiveSize - OVERHEAD[malloc] * objects.live).toBe(usable);
    // emmalloc counts other bytes for itself.
    if (malloc === "dlmalloc") expect(totalLiveSize).toBe(used);
    heap.close();
  });

  test("blocks in several pieces of memory are found", () => {
    expectBlocksOfLog(run("multi.c", malloc, "-O2"), OVERHEAD[malloc]);
  });

  test("the blocks of a program of C++ are those of the log", () => {
    const guest = run("guest.cpp", malloc, "-O2");
    expectBlocksOfLog(guest, OVERHEAD[malloc]);
  });
});

/** Compiles a program for the loader of Emscripten. */
function emcc(source: string, ...args: string[]): void {
  const made = spawnSync("emcc", ["-g", "-O1", source, ...args], {
    cwd: PROGRAMS,
    env: { ...process.env, PATH },
    encoding: "utf8",
  });
  expect(made.status, made.stderr).toBe(0);
}

/** Runs code in a process with `register`. `Main` makes the module of `main.js`, and `dump` writes a dump of it. */
function runRegistered(main: string, code: string): { dump: Buffer; output: string } {
  const dump = `${main}.dump`;
  const program = `
    const { readFileSync } = require("node:fs");
    const { writeDump } = require("@warpo/heap-analyzer/capture");
    const Main = () => require("${main}.js")({ wasmBinary: readFileSync("${main}.wasm") });
    const dump = (module) => writeDump(module.asm.malloc, "${dump}");
    ${code}`;
  const register = join(import.meta.dirname, "../dist/register.js");
  const ran = spawnSync(process.execPath, ["--require", register, "--eval", program], {
    cwd: join(import.meta.dirname, ".."),
    encoding: "utf8",
  });
  expect(ran.status, ran.stderr).toBe(0);
  return { dump: readFileSync(dump), output: ran.stdout };
}

describe.skipIf(!isRun)(
  "modules that the loader of Emscripten places, captured by `register`",
  () => {
    test("the variables of a main module have names and types", () => {
      const main = join(folder, "main_module");
      const exported = "-sEXPORTED_FUNCTIONS=_open_sessions,_lose_session,_malloc,_free";
      emcc("main_module.c", "-sMAIN_MODULE=2", "-sMODULARIZE", exported, "-o", `${main}.js`);
      const { dump } = runRegistered(
        main,
        `Main().then((module) => {
        module._open_sessions(100);
        module._lose_session();
        dump(module);
      });`,
      );
      const heap = openHeap(dump, readFileSync(`${main}.wasm`));
      const sessions = heap.paths({ class: "session" });
      expect(sessions.count).toBe(100);
      expect(sessions.tree.map(({ root }) => root)).toEqual([
        { kind: "global", name: "static sessions" },
      ]);
      expect(heap.unreachable().unreferenced).toMatchObject({ count: 1, total: 1 });
      heap.close();
    });

    test("the blocks of a side module are held by its static data, if its address is said", () => {
      const [main, side] = [join(folder, "loader"), join(folder, "side_module.wasm")];
      const functions = "-sEXPORTED_FUNCTIONS=_add_items,_lose_item";
      emcc("side_module.c", "-sSIDE_MODULE=2", functions, "-o", side);
      const runtime = "-sEXPORTED_RUNTIME_METHODS=loadDynamicLibrary";
      emcc("main_module.c", "-sMAIN_MODULE=1", "-sMODULARIZE", runtime, "-o", `${main}.js`);
      const { dump, output } = runRegistered(
        main,
        `Main().then((module) => {
        const fs = { findObject: () => true, readFile: () => readFileSync("${side}") };
        module.loadDynamicLibrary("side.wasm", { fs, global: true, nodelete: true });
        module._add_items(50);
        module._lose_item();
        console.log(module._items);
        dump(module);
      });`,
      );
      const wasm = readFileSync(`${main}.wasm`);
      const unsaid = openHeap(dump, wasm);
      // The static data and all items, and what nothing refers to.
      expect(unsaid.unreachable().unreferenced).toMatchObject({ count: 52, total: 2 });
      unsaid.close();
      const said = openHeap(dump, wasm, { hostRoots: { side: Number(output) } });
      expect(said.unreachable().unreferenced).toMatchObject({ count: 1, total: 1 });
      said.close();
    });
  },
);
