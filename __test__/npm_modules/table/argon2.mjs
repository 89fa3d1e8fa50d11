// Hashes of passwords, of which nothing is kept.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

export default () => {
  const require = createRequire(import.meta.url);
  const wasmBinary = readFileSync(require.resolve("argon2-browser/dist/argon2.wasm"));
  globalThis.Module = { wasmBinary };
  // With it, the package would ask for its module by an address.
  globalThis.fetch = undefined;
  const argon2 = require("argon2-browser/lib/argon2.js");
  return () => argon2.hash({ pass: "password", salt: "something", time: 1, mem: 64 });
};
