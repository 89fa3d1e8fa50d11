// Instances in places where they are hard to see: two in a worker, one in a context of `node:vm` of which only a
// function is kept, one with a memory that is imported and shared.
const { readFileSync } = require("node:fs");
const { createContext, runInContext } = require("node:vm");
const { Worker, isMainThread, workerData } = require("node:worker_threads");

const file = process.argv[2] ?? workerData;
const bytes = readFileSync(file);

if (isMainThread) {
  const realm = createContext({ bytes });
  globalThis.keep = runInContext(
    "new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { abort() {} } }).exports.work",
    realm,
  );
  new Worker(__filename, { workerData: file, name: "second" }).on("message", () => console.log("ready"));
  process.stdin.resume();
} else {
  const make = () =>
    new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { abort() {} } }).exports;
  globalThis.kept = [make(), make()];
  kept[1].work(30);
  require("node:worker_threads").parentPort.postMessage("ready");
  setInterval(() => {}, 1000);
}
