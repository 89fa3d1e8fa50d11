// Runs the server and takes ten dumps of it, each after the same work: node take-dumps.mjs <module> <folder>

import { readFileSync } from "node:fs";
import { exposeGlobals, writeDump } from "@warpo/heap-analyzer/capture";

const [wasm, folder] = process.argv.slice(2);
const env = {
  abort() {
    throw new Error("the server aborted");
  },
};
const { instance } = await WebAssembly.instantiate(exposeGlobals(readFileSync(wasm)), { env });
for (let round = 1; round <= 10; round++) {
  instance.exports.serve(400);
  writeDump(instance.exports, `${folder}/${String(round).padStart(2, "0")}.dump`);
}
