// Counts its turns twice: in an object of WebAssembly, and in an object of JavaScript. With `--spin`, it works without
// end instead.
const { readFileSync } = require("node:fs");

class Mirror {
  turns = 0;
}

const [, , wasm, mode] = process.argv;
const imports = { env: { abort() { throw new Error("abort"); } } };
const compiled = new WebAssembly.Module(readFileSync(wasm));
const { exports: program } = new WebAssembly.Instance(compiled, imports);
const mirror = new Mirror();
globalThis.mirror = mirror;

function turn() {
  program.turn();
  mirror.turns++;
  setTimeout(turn, 1);
}

console.log("ready");
// It ends by itself if the test is killed.
setTimeout(() => process.exit(), 60_000).unref();
if (mode === "--spin") for (const end = Date.now() + 60_000; Date.now() < end; ) program.spin(1000);
else turn();
