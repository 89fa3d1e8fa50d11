/**
 * Finds the leak in a small parser of C: compiles it with clang and wasi-libc, takes ten dumps of a service that uses it,
 * and prints what grows and which line allocated it. Then it shows that the gate passes with fix.diff. Without clang, the
 * modules of this folder are used, which were compiled from the same sources.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { applyPatch } from "diff";
import { compile } from "./compile.mjs";

const EXAMPLE = import.meta.dirname;
const CLI = createRequire(import.meta.url).resolve(
  "@warpo/heap-analyzer/dist/heap_analyzer/cli.js",
);
const RULES = ["--warmup", "2"];
const folder = resolve(EXAMPLE, "../../build/leaky-parser");
const here = relative(process.cwd(), folder) || ".";

function analyzer(...args) {
  const { status } = spawnSync(process.execPath, [CLI, ...args], { stdio: "inherit" });
  return status;
}

function run(script, ...args) {
  execFileSync(process.execPath, [join(EXAMPLE, script), ...args]);
}

/** The sources of the parser with the leak and without it. */
function sources() {
  const source = readFileSync(join(EXAMPLE, "parser.c"), "utf8");
  const fixed = applyPatch(source, readFileSync(join(EXAMPLE, "fix.diff"), "utf8"));
  // The patch does not fit a parser that is fixed already.
  return fixed === false ? { fixed: source } : { leaking: source, fixed };
}

/** The module of one of the sources: compiled, or that of this folder. */
function moduleOf(name, source) {
  const wasm = join(folder, `${name}.wasm`);
  const file = join(folder, `${name}-source`, "parser.c");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, source);
  const problem = compile(file, wasm);
  if (problem !== undefined) {
    console.log(`\n${problem}\nThe module examples/leaky-parser/${name}.wasm is used.`);
    copyFileSync(join(EXAMPLE, `${name}.wasm`), wasm);
  }
  return wasm;
}

/** Takes ten dumps and checks them. */
function check(name, wasm) {
  const dumps = join(folder, name);
  run("take-dumps.mjs", wasm, dumps);
  const files = readdirSync(dumps).map((file) => relative(process.cwd(), join(dumps, file)));
  const module = relative(process.cwd(), wasm);
  const status = analyzer("check", ...files.sort(), "--wasm", module, ...RULES);
  console.log(`exit code ${status}`);
}

mkdirSync(folder, { recursive: true });
const { leaking, fixed } = sources();
if (leaking !== undefined) {
  const wasm = moduleOf("leaking", leaking);
  console.log("\nA parser of C leaks. The gate, after ten dumps (check):\n");
  check("leaking", wasm);
  console.log("\nWhich line allocated what is alive (sites):\n");
  const profiled = join(folder, "profiled");
  run("take-profile.mjs", wasm, profiled);
  const profile = ["--profile", join(profiled, "heap.pb.gz")];
  analyzer("sites", join(profiled, "heap.dump"), "--wasm", wasm, ...profile, "--limit", "4");
}
const wasm = moduleOf("fixed", fixed);
console.log("\nThe gate for the parser with fix.diff:\n");
check("fixed", wasm);
console.log(`\nThe modules and dumps are in ${here}. examples/leaky-parser/README.md goes on.`);
