// The package is made for bundlers, which turn the import of the module into its exports.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = new URL("../node_modules/lz4-wasm/", import.meta.url);
const source = readFileSync(new URL("lz4_wasm_bg.js", folder), "utf8").replace(
  /import \* as wasm from .*\n/,
  "let wasm;\nexport function setWasm(exports) { wasm = exports; }\n",
);
const glue = await import(`data:text/javascript;base64,${Buffer.from(source).toString("base64")}`);
const bytes = readFileSync(fileURLToPath(new URL("lz4_wasm_bg.wasm", folder)));
const { instance } = await WebAssembly.instantiate(bytes, { "./lz4_wasm_bg.js": glue });
glue.setWasm(instance.exports);
const compressed = glue.compress(Buffer.from("abc".repeat(1000)));
console.log(compressed.length, glue.decompress(compressed).length);
