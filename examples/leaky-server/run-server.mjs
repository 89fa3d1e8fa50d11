// Runs the server as it is, not prepared for dumps, and serves requests until it is ended: node run-server.mjs <module>

import { readFileSync } from "node:fs";

const [wasm] = process.argv.slice(2);
const env = {
  abort() {
    throw new Error("the server aborted");
  },
};
const { instance } = await WebAssembly.instantiate(readFileSync(wasm), { env });
instance.exports.serve(400);
setInterval(() => instance.exports.serve(20), 100);
console.log("serving");
