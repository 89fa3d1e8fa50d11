// Runs the program in Node, captures both heaps, and says what it knows: desk.mjs <prefix>
import { readFileSync, writeFileSync } from "node:fs";
import { capturePair, exposeGlobals } from "@warpo/heap-analyzer/capture";
import { build } from "./clients.mjs";
import * as bindings from "./desk.js";

const [prefix] = process.argv.slice(2);
const bytes = readFileSync(new URL("desk_bg.wasm", import.meta.url));
const exports = bindings.initSync({ module: new WebAssembly.Module(exposeGlobals(bytes)) });
const truth = build(exports, bindings);
capturePair(exports, prefix);
writeFileSync(`${prefix}.truth.json`, JSON.stringify(truth));
