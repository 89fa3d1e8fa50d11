// Runs a module of WasmGC: `node wasm_gc.cjs <module> <snapshot>...` plays a round before each snapshot.
"use strict";
const { readFileSync } = require("node:fs");
const v8 = require("node:v8");

const [wasm, ...snapshots] = process.argv.slice(2);

WebAssembly.instantiate(readFileSync(wasm)).then(({ instance }) => {
  globalThis.game = instance;
  for (const path of snapshots) {
    instance.exports.play(500);
    v8.writeHeapSnapshot(path);
  }
});
