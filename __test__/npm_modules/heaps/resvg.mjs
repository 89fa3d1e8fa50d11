// A renderer of Rust. Its trees are held by JavaScript.
import { readFileSync } from "node:fs";
import { initWasm, Resvg } from "@resvg/resvg-wasm";

await initWasm(
  readFileSync(new URL("../node_modules/@resvg/resvg-wasm/index_bg.wasm", import.meta.url)),
);
const circles = Array.from({ length: 200 }, (_, at) => `<circle cx="${at}" cy="50" r="4"/>`).join(
  "",
);
const image = `<svg xmlns="http://www.w3.org/2000/svg" width="200" height="100">${circles}</svg>`;
const kept = Array.from({ length: 5 }, () => new Resvg(image));
console.log(JSON.stringify({ images: kept.length, circles: 200 }));
