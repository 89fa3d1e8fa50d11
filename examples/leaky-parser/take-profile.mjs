// Runs the service with a profiler that records every allocation, and writes a dump and a profile of the same moment:
// node take-profile.mjs <module> <folder>

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { exposeGlobals, writeDump } from "@warpo/heap-analyzer/capture";
import { createProfiler, instrument } from "@warpo/heap-analyzer/profile";
import { Service } from "./service.mjs";

const [wasm, folder] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const program = instrument(readFileSync(wasm), { contexts: true });
const profiler = createProfiler(program, { interval: 1, hostCallers: false });
const { instance } = await WebAssembly.instantiate(exposeGlobals(program.wasm), profiler.imports);
profiler.attach(instance.exports);
const service = new Service(instance.exports);
service.serve(4200);
writeDump(instance.exports, `${folder}/heap.dump`);
writeFileSync(`${folder}/heap.pb.gz`, profiler.heapProfile());
