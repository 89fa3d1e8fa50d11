// Runs a Go program with its profiler: node go_host.cjs <wasm_exec.js> <profile.js> <program> <heap.pb.gz>
const fs = require("node:fs");
const util = require("node:util");
const [, , goHost, api, file, output] = process.argv;
globalThis.require = require;
globalThis.fs = fs;
globalThis.TextEncoder = util.TextEncoder;
globalThis.TextDecoder = util.TextDecoder;
require(goHost);
const { createProfiler, instrument } = require(api);

async function main() {
  const program = instrument(fs.readFileSync(file));
  const profiler = createProfiler(program, { interval: 1 });
  const go = new globalThis.Go();
  go.exit = () => {};
  const imports = { ...go.importObject, ...profiler.imports };
  const { instance } = await WebAssembly.instantiate(program.wasm, imports);
  profiler.attach(instance.exports);
  await go.run(instance);
  fs.writeFileSync(output, profiler.heapProfile());
  // The program may have left timers, which cannot resume it any more.
  process.exit();
}

void main();
