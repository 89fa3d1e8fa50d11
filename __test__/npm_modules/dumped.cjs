// For `node --require`: loads `register`, which exposes every module that the program compiles. At the end, the module and a
// dump of each instance are written to the folder HEAPS as 0.wasm and 0.dump, 1.wasm and 1.dump.

const { writeFileSync } = require("node:fs");
const { join } = require("node:path");
const { writeDump } = require("../../dist/capture.js");
require("../../dist/register.js");

const { Module, Instance, compile, instantiate } = WebAssembly;
/** The bytes of a module as it was published. */
const published = new WeakMap();
const instances = [];

function copied(bytes) {
  return ArrayBuffer.isView(bytes)
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength).slice()
    : new Uint8Array(bytes).slice();
}

function remember(module, wasm) {
  published.set(module, wasm);
  return module;
}

function add(module, instance) {
  const wasm = published.get(module);
  if (wasm !== undefined) instances.push({ wasm, instance });
  return instance;
}

WebAssembly.Module = new Proxy(Module, {
  construct(_target, [bytes]) {
    const wasm = copied(bytes);
    return remember(new Module(wasm), wasm);
  },
});
WebAssembly.Instance = new Proxy(Instance, {
  construct(_target, [module, imports]) {
    return add(module, new Instance(module, imports));
  },
});
WebAssembly.compile = async (bytes) => {
  const wasm = copied(bytes);
  return remember(await compile(wasm), wasm);
};
WebAssembly.instantiate = async (source, imports) => {
  if (source instanceof Module) return add(source, await instantiate(source, imports));
  const module = await WebAssembly.compile(source);
  return { module, instance: add(module, await instantiate(module, imports)) };
};
WebAssembly.instantiateStreaming = undefined;
WebAssembly.compileStreaming = undefined;

process.on("exit", () => {
  instances.forEach(({ wasm, instance }, nth) => {
    const file = join(process.env.HEAPS, `${nth}`);
    try {
      writeDump(instance, `${file}.dump`);
    } catch {
      // Node reads CommonJS with a module that has no globals.
      return;
    }
    writeFileSync(`${file}.wasm`, wasm);
  });
});
