// Runs the service and takes ten dumps of it, each after the same work: node take-dumps.mjs <module> <folder>

import { mkdirSync, readFileSync } from "node:fs";
import { exposeGlobals, writeDump } from "@warpo/heap-analyzer/capture";
import { Service } from "./service.mjs";

const [wasm, folder] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const { instance } = await WebAssembly.instantiate(exposeGlobals(readFileSync(wasm)));
const service = new Service(instance.exports);
for (let round = 1; round <= 10; round++) {
  service.serve(420);
  writeDump(instance.exports, `${folder}/${String(round).padStart(2, "0")}.dump`);
}
