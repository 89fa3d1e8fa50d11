/**
 * Unused room of containers of C++ and Rust: what `waste` says can be saved is what the program frees when it asks its containers
 * to give back what they do not need.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { captureDump, exposeGlobals } from "../dist/capture.js";
import { openHeap } from "../dist/index.js";
import { PATH, PROGRAMS } from "./support/native_program.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "native-waste-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The cache of Zig is that of the tests of the profiler. */
const CACHE = join(tmpdir(), "heap-analyzer-zig");
const run = (program: string, args: string[]) =>
  spawnSync(program, args, {
    cwd: PROGRAMS,
    env: { ...process.env, PATH, ZIG_GLOBAL_CACHE_DIR: CACHE, ZIG_LOCAL_CACHE_DIR: CACHE },
    encoding: "utf8",
  });
const isNative = process.env.TEST_NATIVE !== undefined;
const isHere = (...command: string[]) =>
  isNative && run(command[0] as string, command.slice(1)).status === 0;
const RUSTC = ["-g", "--target=wasm32-unknown-unknown", "--crate-type=cdylib", "waste.rs"];
const EMXX = ["-g", "-fno-exceptions", "-sSTANDALONE_WASM", "-sALLOW_MEMORY_GROWTH", "--no-entry"];
const WASI = ["--target=wasm32-wasi", "-mexec-model=reactor"];
const ZIG = ["-m", "ziglang", "c++", ...WASI, "-g", "-fno-exceptions"];

/** What each is compiled with; Rust takes one second, and the others are for `npm run test:full -- native`. */
const BUILDS = [
  { name: "rustc", program: "rustc", args: ["-Copt-level=0", ...RUSTC], isHere: true },
  {
    name: "Debian's rustc",
    program: "/usr/bin/rustc",
    args: ["-Copt-level=0", "--edition=2021", ...RUSTC],
    isHere: isHere("/usr/bin/rustc", "--version"),
  },
  {
    name: "em++",
    program: "em++",
    args: [...EMXX, "-O1", "waste.cpp"],
    isHere: isHere("em++", "--version"),
  },
  {
    name: "em++ with emmalloc",
    program: "em++",
    args: [...EMXX, "-O1", "-sMALLOC=emmalloc", "waste.cpp"],
    isHere: isHere("em++", "--version"),
  },
  {
    name: "zig c++",
    program: "python3",
    args: [...ZIG, "-O1", "waste.cpp"],
    isHere: isHere("python3", "-m", "ziglang", "version"),
  },
];

type Exports = Record<"fill" | "shrink" | "fill_queue", () => void>;

describe.each(BUILDS)("$name", ({ name, program, args, isHere }) => {
  let wasm: Uint8Array;
  let isMade = false;
  beforeAll(() => {
    if (!isHere) return;
    const file = join(folder, `${name.replaceAll(/\W/g, "")}.wasm`);
    const { status, stderr } = run(program, [...args, "-o", file]);
    // A compiler without this target.
    if (status === null || /E0463|could not find specification/.test(stderr)) return;
    expect(status, stderr).toBe(0);
    isMade = true;
    wasm = readFileSync(file);
  });

  const started = () => {
    const module = new WebAssembly.Module(exposeGlobals(wasm));
    const imports: WebAssembly.Imports = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module))
      imports[from] = { ...imports[from], [name]: () => 0 };
    const { exports } = new WebAssembly.Instance(module, imports);
    const { _initialize: initialize } = exports;
    if (initialize !== undefined) (initialize as () => void)();
    return exports as WebAssembly.Exports & Exports;
  };

  /** The bytes of all blocks, and those that unused room of containers takes. */
  const asked = (exports: WebAssembly.Exports) => {
    const heap = openHeap(captureDump(exports), wasm);
    const { totalLiveSize } = heap.summary();
    const capacity = heap.waste({ limit: 100 }).kinds.find(({ kind }) => kind === "array-capacity");
    heap.close();
    return { total: totalLiveSize, savings: capacity?.savings ?? 0, groups: capacity?.groups };
  };

  test("what can be saved is what the program frees", (context) => {
    context.skip(!isMade, "the compiler is not here, or it is for `npm run test:full -- native`");
    const exports = started();
    exports.fill();
    const before = asked(exports);
    exports.shrink();
    const after = asked(exports);
    const freed = before.total - after.total;
    expect(freed).toBeGreaterThan(20_000);
    // A table of Rust may need less than is assumed, and an allocator may give a little more than is asked for.
    expect(before.savings).toBeLessThanOrEqual(freed);
    expect(before.savings).toBeGreaterThan(freed - 200);
    // Of what something else refers to, nothing can be said.
    expect(after.savings).toBeLessThan(200);
    const holders = before.groups?.flatMap(({ holders }) => holders.map(({ holder }) => holder));
    expect(holders?.join("\n")).toMatch(/orders|ORDERS/);
  });

  test("a deque has room after its last element", (context) => {
    context.skip(!isMade || !program.includes("em++"), "the compiler is not here");
    const exports = started();
    exports.fill_queue();
    const { savings } = asked(exports);
    expect(savings).toBeGreaterThan(4000);
    expect(savings).toBeLessThan(4200);
  });
});
