/**
 * The last part of the demo: a gate for a pipeline. It takes ten dumps of the leaking server and of the
 * fixed one, and checks both.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { applyPatch } from "diff";

/** Compiles the server whose source is in a folder. */
type Compile = (folder: string, wasmFile: string) => void;

/**
 * @param example the folder of the example.
 * @param folder where the dumps go.
 */
export function showGate(example: string, folder: string, compile: Compile): void {
  const source = readFileSync(join(example, "assembly/server.ts"), "utf8");
  const fixed = applyPatch(source, readFileSync(join(example, "fix.diff"), "utf8"));
  // The patch does not fit a server that is fixed already.
  if (fixed !== false) {
    console.log("\nA gate for a pipeline, after ten dumps of the leaking server (check):\n");
    compile(example, join(folder, "leaking.wasm"));
    check(example, folder, "leaking");
  }
  console.log("\nThe same of the server with fix.diff:\n");
  const copy = join(folder, "fixed-source");
  cpSync(join(example, "assembly"), join(copy, "assembly"), { recursive: true });
  writeFileSync(join(copy, "assembly/server.ts"), fixed === false ? source : fixed);
  compile(copy, join(folder, "fixed.wasm"));
  check(example, folder, "fixed");
}

/** Takes dumps of a server and checks them. */
function check(example: string, folder: string, name: string): void {
  const wasm = join(folder, `${name}.wasm`);
  const dumps = join(folder, name);
  execFileSync(process.execPath, [join(example, "take-dumps.mjs"), wasm, dumps]);
  const files = readdirSync(dumps).sort();
  const cli = require.resolve("@warpo/heap-analyzer/dist/heap_analyzer/cli.js");
  const args = [
    "check",
    ...files.map((file) => join(dumps, file)),
    "--wasm",
    wasm,
    "--warmup",
    "2",
  ];
  const { status } = spawnSync(process.execPath, [cli, ...args], { stdio: "inherit" });
  console.log(`exit code ${status}`);
}
