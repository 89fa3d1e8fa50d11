// Compiles the parser with clang and wasi-libc: node compile.mjs <source> <module>

import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";

/**
 * Compiles a source.
 *
 * @returns {string | undefined} why it cannot be compiled; undefined if it was.
 */
export function compile(source, wasm) {
  const module = resolve(wasm);
  const object = `${module}.o`;
  const clang = (...args) =>
    spawnSync("clang", ["--target=wasm32-wasi", ...args], {
      // The debug information has the name of the source as it is given here.
      cwd: dirname(source),
      encoding: "utf8",
    });
  const options = ["-g", "-O1", "-fdebug-compilation-dir=."];
  const compiled = clang("-c", ...options, "-o", object, basename(source));
  if (compiled.error !== undefined) return "There is no clang.";
  // Linked without -O, with which clang would run a `wasm-opt` of the PATH, which may remove the debug information.
  // The end of static data is exported: without it, the analyzer has to guess where the stack begins.
  const linked = clang("-mexec-model=reactor", "-Wl,--export=__data_end", "-o", module, object);
  rmSync(object, { force: true });
  const failed = [compiled, linked].find(({ status }) => status !== 0);
  if (failed !== undefined) return `clang cannot compile for wasm32-wasi: ${failed.stderr}`;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [source, wasm] = process.argv.slice(2);
  const problem = compile(source, wasm);
  if (problem !== undefined) {
    console.error(problem);
    process.exitCode = 1;
  }
}
