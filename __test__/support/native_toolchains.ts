/** Compilers of C, C++ and Rust, for the programs that log what they allocate. */
import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { PATH, PROGRAMS } from "./native_program.ts";

const WRAPS = ["malloc", "calloc", "realloc", "free"].map((name) => `-Wl,--wrap=${name}`);

/** Runs a compiler in the folder of the programs. */
export function compiler(program: string, ...args: string[]): SpawnSyncReturns<string> {
  return spawnSync(program, args, {
    cwd: PROGRAMS,
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
    // wasi-libc's C++ library has no exceptions.
    const own = isCpp(source) ? ["-fno-exceptions", ...options] : options;
    return compile([
      [...common, ...flags, ...own, "-c", "-o", `${wasm}.1.o`, source],
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
