// Streams that are never freed.
import { createRequire } from "node:module";

const { CompressStream } = createRequire(import.meta.url)("brotli-wasm");

export default () => {
  globalThis.kept = [];
  return () => {
    for (let nth = 0; nth < 100; nth++) kept.push(new CompressStream());
  };
};
