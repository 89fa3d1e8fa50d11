// Holds encoders of tiktoken, a program of Rust that others wrote, by the handles that wasm-bindgen generated for it.
// Writes <prefix>.dump, .heapsnapshot, .numbers.json and what it knows.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { capturePair, exposeGlobals } from "../../../dist/capture.js";

const [prefix] = process.argv.slice(2);
const require = createRequire(import.meta.url);
const { init, Tiktoken } = require("tiktoken/lite/init");
const wasm = require.resolve("tiktoken/lite/tiktoken_bg.wasm");

let instance;
await init(async (imports) => {
  ({ instance } = await WebAssembly.instantiate(exposeGlobals(readFileSync(wasm)), imports));
  return { instance };
});

/** Encoders of a language of three tokens. */
const encoders = (count) =>
  Array.from({ length: count }, () => new Tiktoken("IQ== 0\nIg== 1\nIw== 2", {}, "."));
/** As texts: as numbers, the arrays would hold the encoders, too. */
const addresses = (all) => all.map(({ __wbg_ptr }) => `${__wbg_ptr}`);

globalThis.app = { cache: encoders(12), freed: encoders(5) };
const truth = { cache: addresses(app.cache), freed: addresses(app.freed) };
for (const encoder of app.freed) encoder.free();
capturePair(instance, prefix);
writeFileSync(`${prefix}.truth.json`, JSON.stringify(truth));
process.stdout.write(wasm);
