/**
 * Programs of C, C++ and Rust, compiled here, that log every block that they allocate or free, say what becomes of some, and
 * ask for a dump.
 */
import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { WASI } from "node:wasi";
import { captureDump, exposeGlobals } from "../../dist/capture.js";

export const NATIVE_PROGRAMS = join(__dirname, "../programs/native");

/** The fates that a program declares, as in truth.h. */
export const FATES = [
  "leaked",
  "static",
  "stack",
  "interior",
  "register",
  "leaked cycle",
  "leaked owner",
] as const;

const ALLOCATING = ["malloc", "calloc", "realloc", "free"];

/** Not the `wasm-opt` of this project, which compilers would run, and which removes names. */
const PATH = (process.env.PATH ?? "")
  .split(delimiter)
  .filter((part) => !part.includes("node_modules"))
  .join(delimiter);

/** Runs a compiler in the folder of the programs. */
export function compiler(program: string, ...args: string[]): SpawnSyncReturns<string> {
  return spawnSync(program, args, {
    cwd: NATIVE_PROGRAMS,
    env: { ...process.env, PATH },
    encoding: "utf8",
  });
}

/** Runs commands until one fails. Returns why; undefined if all succeeded. */
export function compile(commands: string[][]): string | undefined {
  for (const [program, ...args] of commands) {
    const { error, status, stderr } = compiler(program as string, ...args);
    if (error !== undefined) return `there is no ${program}`;
    if (status !== 0) return `${program} ${args.join(" ")}: ${stderr}`;
  }
}

const WRAPS = ALLOCATING.map((name) => `-Wl,--wrap=${name}`);

/** A compiler that makes a module of a source. Each gives the reason if it cannot. */
export interface Toolchain {
  name: string;
  make: (source: string, level: string, wasm: string, options?: string[]) => string | undefined;
}

const isCpp = (source: string) => source.endsWith(".cpp");

/** clang with wasi-libc. */
export const CLANG: Toolchain = {
  name: "clang",
  make: (source, level, wasm, options = []) => {
    const common = [isCpp(source) ? "clang++" : "clang", "--target=wasm32-wasi"];
    const flags = ["-g", level, "-fdebug-compilation-dir=.", "-fno-builtin-malloc"];
    return compile([
      [...common, ...flags, ...options, "-c", "-o", `${wasm}.1.o`, source],
      ["clang", "--target=wasm32-wasi", ...flags, "-c", "-o", `${wasm}.2.o`, "wrap.c"],
      [...common, "-o", wasm, `${wasm}.1.o`, `${wasm}.2.o`, ...WRAPS],
    ]);
  },
};

/** Emscripten, with one of its two allocators. */
export function emscripten(allocator: "dlmalloc" | "emmalloc"): Toolchain {
  return {
    name: `emcc-${allocator}`,
    make: (source, level, wasm, options = []) => {
      const flags = ["-g", level, "-fno-builtin-malloc"];
      const link = ["-sSTANDALONE_WASM", "-sALLOW_MEMORY_GROWTH", `-sMALLOC=${allocator}`];
      return compile([
        [isCpp(source) ? "em++" : "emcc", ...flags, ...options, "-c", "-o", `${wasm}.1.o`, source],
        ["emcc", ...flags, "-c", "-o", `${wasm}.2.o`, "wrap.c"],
        [
          isCpp(source) ? "em++" : "emcc",
          ...flags,
          ...link,
          "-sERROR_ON_UNDEFINED_SYMBOLS=0",
          "-o",
          wasm,
          `${wasm}.1.o`,
          `${wasm}.2.o`,
          ...WRAPS,
        ],
      ]);
    },
  };
}

/** A compiler of Rust. */
export function rust(rustc: string, target: string): Toolchain {
  return {
    name: `${rustc.startsWith("/") ? "debian-" : ""}rustc-${target}`,
    make: (source, level, wasm, options = []) => {
      const flags = ["-g", `-Copt-level=${level.slice(2)}`, `--target=${target}`];
      return compile([[rustc, ...flags, ...options, source, "-o", wasm]]);
    },
  };
}

/** A guest that has asked for its dump. */
export interface Guest {
  wasm: Uint8Array<ArrayBuffer>;
  dump: Uint8Array<ArrayBuffer>;
  /** The blocks at the dump with the sizes that were asked for. */
  live: Map<number, number>;
  fates: Map<number, (typeof FATES)[number]>;
  /** The lines that allocated the blocks, of a source that was compiled with lines.h. */
  lines: Map<number, number>;
  /** What the program printed until its end. */
  output: string;
}

/** Runs a module until it asks for a dump. */
export function runGuest(file: string): Guest {
  const wasm = new Uint8Array(readFileSync(file));
  const live = new Map<number, number>();
  const guest: Guest = {
    wasm,
    dump: new Uint8Array(),
    live: new Map(),
    fates: new Map(),
    lines: new Map(),
    output: "",
  };
  const printed = `${file}.stdout`;
  const stdout = openSync(printed, "w");
  const wasi = new WASI({ version: "preview1", args: ["guest"], stdout });
  const imports = wasi.getImportObject() as WebAssembly.Imports;
  const truth = {
    alloc: (block: number, size: number) => live.set(block >>> 0, size >>> 0),
    freed: (block: number) => live.delete(block >>> 0),
    fate: (block: number, fate: number) =>
      guest.fates.set(block >>> 0, FATES[fate] as (typeof FATES)[number]),
    line: (block: number, line: number) => guest.lines.set(block >>> 0, line),
    dump: () => {
      guest.live = new Map(live);
      guest.dump = captureDump(instance.exports);
    },
  };
  const module = new WebAssembly.Module(exposeGlobals(wasm));
  const env = { emscripten_notify_memory_growth: () => {} };
  const instance = new WebAssembly.Instance(module, { ...imports, truth, env });
  if ("_start" in instance.exports) wasi.start(instance);
  else (instance.exports.run as () => void)();
  closeSync(stdout);
  return { ...guest, output: readFileSync(printed, "utf8") };
}
