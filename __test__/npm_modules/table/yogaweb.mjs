// Nodes of a layout that are never freed.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import init from "yoga-wasm-web";

export default async () => {
  const wasm = createRequire(import.meta.url).resolve("yoga-wasm-web/dist/yoga.wasm");
  const Yoga = await init(readFileSync(wasm));
  globalThis.kept = [];
  return () => {
    for (let nth = 0; nth < 100; nth++) kept.push(Yoga.Node.create());
  };
};
