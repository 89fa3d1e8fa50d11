// Zig without names: its allocator has no state that can be told from other words.
import { readFileSync } from "node:fs";

const file = new URL("../node_modules/ghostty-web/ghostty-vt.wasm", import.meta.url);
const module = new WebAssembly.Module(readFileSync(file));
const imports = {};
for (const { module: from, name } of WebAssembly.Module.imports(module)) {
  imports[from] = { ...imports[from], [name]: () => 0 };
}
const { exports } = new WebAssembly.Instance(module, imports);
const terminals = Array.from({ length: 3 }, () => exports.ghostty_terminal_new(80, 24));
console.log(JSON.stringify({ terminals: terminals.filter(Boolean).length }));
