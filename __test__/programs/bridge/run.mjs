// Runs a program of this folder in Node: run.mjs <program> <bindings.mjs> <module.wasm> <prefix> <seed> <mode>. It
// writes <prefix>.truth.json. Modes: `capture` and `closures` call `capturePair` and print what it returns; `twice` does so
// again after `globalThis.remove()`; `wait` waits for `attach`, with a module that was not prepared, and removes when the
// test sends a line.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [, , name, bindings, wasm, prefix, seed, mode] = process.argv;
const { build } = await import(`./${name}.mjs`);
const { instantiate } = await import(pathToFileURL(bindings).href);
const capture = mode === "wait" ? undefined : await import("@warpo/heap-analyzer/capture");
const bytes = readFileSync(wasm);
const module = new WebAssembly.Module(capture ? capture.exposeGlobals(bytes) : bytes);
const program = await instantiate(module, {});
globalThis.program = program;
writeFileSync(`${prefix}.truth.json`, build(program, Number(seed)));
if (capture) {
  const pair = capture.capturePair(program, prefix, { closures: mode !== "capture" });
  if (mode === "twice") {
    globalThis.remove();
    capture.capturePair(program, `${prefix}-after`, { closures: true });
  }
  if (globalThis.noticed !== undefined) {
    writeFileSync(`${prefix}.noticed.json`, JSON.stringify(globalThis.noticed));
  }
  console.log(JSON.stringify(pair));
} else {
  console.log("ready");
  process.stdin.once("data", () => {
    globalThis.remove();
    console.log("removed");
  });
  // It ends by itself if the test is killed.
  setTimeout(() => process.exit(), 60_000);
}
