// Programs of an interpreter in AssemblyScript that are kept.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { instantiate } from "@fluffylabs/anan-as/raw";

export default async () => {
  const wasm = createRequire(import.meta.url).resolve("@fluffylabs/anan-as/debug.wasm");
  const module = new WebAssembly.Module(readFileSync(wasm));
  const { prepareProgram } = await instantiate(module, { env: {} });
  globalThis.kept = [];
  const code = [0, 0, 3, 190, 135, 9, 1];
  return () => {
    for (let nth = 0; nth < 100; nth++) {
      kept.push(prepareProgram(0, 1, code, [], [], [], [], 0));
    }
  };
};
