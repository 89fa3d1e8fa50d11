import { readFileSync } from "node:fs";
import encode, { init } from "@jsquash/png/encode.js";

await init(
  await WebAssembly.compile(
    readFileSync(
      new URL("../node_modules/@jsquash/png/codec/pkg/squoosh_png_bg.wasm", import.meta.url),
    ),
  ),
);
globalThis.ImageData ??= class {};
console.log(
  (await encode({ data: new Uint8ClampedArray(4 * 64 * 64).fill(77), width: 64, height: 64 }))
    .byteLength,
);
