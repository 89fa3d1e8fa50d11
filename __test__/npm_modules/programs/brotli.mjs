import { createRequire } from "node:module";

const brotli = createRequire(import.meta.url)("brotli-wasm");
const b = await brotli;
const c = b.compress(Buffer.from("hello ".repeat(1000)));
console.log(c.length, Buffer.from(b.decompress(c)).length);
