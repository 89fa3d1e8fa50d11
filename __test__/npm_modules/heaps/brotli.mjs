// Streams of a program of Rust that JavaScript keeps. Its static data begins at 0x100001.
import { createRequire } from "node:module";

const brotli = await createRequire(import.meta.url)("brotli-wasm");
globalThis.kept = Array.from({ length: 30 }, () => new brotli.DecompressStream());
const packed = brotli.compress(Buffer.from("hello ".repeat(1000)));
console.log(JSON.stringify({ kept: kept.length, packed: packed.length }));
