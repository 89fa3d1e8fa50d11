// Rust with wee_alloc.
import { wasmBytes } from "@polkadot/wasm-crypto-wasm";

const module = new WebAssembly.Module(wasmBytes);
const imports = {};
for (const { module: from, name } of WebAssembly.Module.imports(module)) {
  imports[from] = { ...imports[from], [name]: () => 0 };
}
const { exports } = new WebAssembly.Instance(module, imports);
const block = exports.__wbindgen_malloc(1000, 1);
console.log(JSON.stringify({ block: block > 0 ? 1 : 0 }));
