// Terminals that are never freed. Zig without names.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

export default () => {
  const wasm = createRequire(import.meta.url).resolve("ghostty-web/ghostty-vt.wasm");
  const imports = { env: { log() {} } };
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(wasm)), imports);
  globalThis.kept = [exports];
  return () => {
    for (let nth = 0; nth < 10; nth++) kept.push(exports.ghostty_terminal_new(80, 24));
  };
};
