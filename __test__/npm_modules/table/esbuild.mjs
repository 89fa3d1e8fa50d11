// A bundler of Go, in this thread.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

export default async () => {
  globalThis.self = globalThis;
  const { initialize, transform } = require("esbuild-wasm/lib/browser.js");
  const wasm = readFileSync(require.resolve("esbuild-wasm/esbuild.wasm"));
  await initialize({ wasmModule: new WebAssembly.Module(wasm), worker: false });
  return () => transform("let a: number = 1", { loader: "ts" });
};
