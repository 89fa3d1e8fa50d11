// Runs a program that logs its blocks, as its author would: the module is not changed. Prints how many blocks are alive
// at the end, and stays. With a path, it writes a dump and ends.
import { readFileSync } from "node:fs";
import { WASI } from "node:wasi";

const [file, dump] = process.argv.slice(2);
const live = new Set();
const truth = {
  alloc: (block) => live.add(block),
  freed: (block) => live.delete(block),
  fate: () => {},
  dump: () => {},
};
const wasi = new WASI({ version: "preview1", args: ["guest"] });
const module = await WebAssembly.compile(readFileSync(file));
const instance = await WebAssembly.instantiate(module, { ...wasi.getImportObject(), truth });
const { log } = console;
wasi.start(instance);
if (dump !== undefined) {
  const { writeDump } = await import("@warpo/heap-analyzer/capture");
  writeDump(instance, dump);
} else {
  setInterval(() => {}, 1000);
}
log(`alive: ${live.size}`);
