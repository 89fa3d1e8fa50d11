/**
 * Builds the addon for all platforms on Linux, into `artifacts`, and prints a table. With names, only for these
 * (`linux-arm64-gnu`). `--release`: as it is published. `--check`: looks at what is there, and builds nothing.
 *
 * It takes rustup and Python 3 with venv. Zig and cargo-zigbuild come from PyPI into `build/zig`, if they are not on the PATH.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { ENTRY, faults } from "./binary.mjs";
import { stubOfFrameworks } from "./frameworks.mjs";
import { binaryOf, chosenPlatforms, LEAST_GLIBC, LEAST_MACOS, printTable } from "./list.mjs";

const ZIG = ["ziglang==0.17.1", "cargo-zigbuild==0.24.1"];

const options = process.argv.slice(2);
const names = options.filter((option) => !option.startsWith("--"));
const isRelease = options.includes("--release");
const platforms = chosenPlatforms(names);
process.chdir(resolve(import.meta.dirname, "../.."));

run("rustup", ["component", "add", "llvm-tools"]);
if (!options.includes("--check")) {
  const path = withZig();
  for (const platform of platforms) build(platform, path);
}
const rows = platforms.map(row);
console.log();
printTable([["platform", "size", "state"], ...rows]);
if (rows.some(([, , state]) => state !== "built")) process.exitCode = 1;

function build(platform, path) {
  console.log(`\n=== ${platform.name}`);
  const file = binaryOf(platform);
  const folder = dirname(file);
  // What an earlier build left must not stand for this one.
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  if (run("rustup", ["target", "add", platform.rust]) !== 0) return;
  const env = { PATH: path };
  if (platform.format === "Mach-O") {
    env.MACOSX_DEPLOYMENT_TARGET = LEAST_MACOS;
    env.SDKROOT = stubOfFrameworks(resolve("build/zig/sdk"));
  }
  if (platform.format === "PE") {
    buildForWindows(platform, file, env);
    return;
  }
  const glibc = platform.name.endsWith("-gnu") ? `.${LEAST_GLIBC}` : "";
  const target = ["--cross-compile", "--target", `${platform.rust}${glibc}`];
  const profile = isRelease ? ["--release"] : [];
  run(process.execPath, [".ci/addon.mjs", ...target, ...profile, "--output-dir", folder], env);
}

/** napi-rs compiles for Windows elsewhere with MSVC's libraries only. */
function buildForWindows({ rust }, file, env) {
  const folder = resolve("build/zig/node");
  mkdirSync(folder, { recursive: true });
  // An empty library of Node. `napi-build` asks for one, which Node's packages do not have; the binary finds the functions of
  // Node when it is loaded (`dyn-symbols` in `Cargo.toml`).
  for (const name of ["libnode.dll", "libnode.dll.a", "libnode.a"]) {
    writeFileSync(join(folder, name), "!<arch>\n");
  }
  // cargo-zigbuild leaves out rustc's list of exports, and without one every function is exported, which are too many.
  const exports = join(folder, "exports.def");
  writeFileSync(exports, `EXPORTS\n${ENTRY}\n`);
  const profile = isRelease ? ["--release"] : [];
  const what = ["--package", "warpo-heap-analyzer", "--lib", "--target", rust, ...profile];
  const options = ["rustc", ...what, "--", "-C", `link-arg=${exports}`];
  const status = run("cargo-zigbuild", options, { ...env, LIBNODE_PATH: folder });
  const built = `target/${rust}/${isRelease ? "release" : "debug"}/warpo_heap_analyzer.dll`;
  if (status === 0) copyFileSync(built, file);
}

/** The PATH with zig and cargo-zigbuild. */
function withZig() {
  const found = run("cargo-zigbuild", ["--version"], {}, "ignore") === 0;
  const path = process.env.PATH ?? "";
  if (found) return path;
  const bin = resolve("build/zig/bin");
  if (!existsSync(join(bin, "cargo-zigbuild"))) {
    run("python3", ["-m", "venv", "build/zig"]);
    run(join(bin, "pip"), ["install", "--quiet", ...ZIG]);
  }
  return `${bin}${delimiter}${path}`;
}

function row(platform) {
  const file = binaryOf(platform);
  if (!existsSync(file)) return [platform.name, "-", "not built"];
  const size = `${(statSync(file).size / 1e6).toFixed(1)} MB`;
  const found = faults(platform, file);
  const extra = readdirSync(dirname(file)).filter((name) => name.endsWith(".node")).length - 1;
  if (extra > 0) found.push(`${extra} other binaries beside it`);
  return [platform.name, size, found.length === 0 ? "built" : found.join(", ")];
}

function run(program, options, env = {}, stdio = "inherit") {
  const { status } = spawnSync(program, options, { stdio, env: { ...process.env, ...env } });
  return status ?? 1;
}
