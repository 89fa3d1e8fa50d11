// Images that are never freed.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { initWasm, Resvg } from "@resvg/resvg-wasm";

export default async () => {
  const { resolve } = createRequire(import.meta.url);
  await initWasm(readFileSync(resolve("@resvg/resvg-wasm/index_bg.wasm")));
  globalThis.kept = [];
  const image =
    '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path d="M0 0h9"/></svg>';
  return () => {
    for (let nth = 0; nth < 100; nth++) kept.push(new Resvg(image));
  };
};
