// Programs without an instance of which a dump can be taken.
const { readFileSync } = require("node:fs");
const { Worker } = require("node:worker_threads");

const [, , kind, file] = process.argv;
const compile = () => new WebAssembly.Module(readFileSync(file));
const kinds = {
  none() {},
  "not made"() { globalThis.kept = compile(); },
  "without memory"() { globalThis.kept = new WebAssembly.Instance(compile()); },
  "without function"() { globalThis.kept = new WebAssembly.Instance(compile()); },
  "ended worker"() {
    const code = `new WebAssembly.Instance(new WebAssembly.Module(require("node:fs").readFileSync(${JSON.stringify(file)})))`;
    new Worker(code, { eval: true }).once("exit", () => console.log("ready"));
  },
};
kinds[kind]();
if (kind !== "ended worker") console.log("ready");
setInterval(() => {}, 1000);
