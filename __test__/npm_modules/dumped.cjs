// For `node --require`: every module that the program compiles is exposed, as `register` would do it. At the end, the module
// and a dump of each instance are written to the folder HEAPS as 0.wasm and 0.dump, 1.wasm and 1.dump.

const { writeFileSync } = require("node:fs");
const { join } = require("node:path");
const { exposeGlobals, writeDump } = require("../../dist/capture.js");

/** Node reads CommonJS with a module of its own. */
const NODES_OWN = 741;

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
  if (wasm.length !== NODES_OWN) published.set(module, wasm);
  return module;
}

function exposed(wasm) {
  return wasm.length === NODES_OWN ? wasm : exposeGlobals(wasm);
}

/** A memory that the module imports. */
function importedMemory(imports) {
  const all = Object.values(imports ?? {}).flatMap((names) => Object.values(names ?? {}));
  return all.find((value) => value instanceof WebAssembly.Memory);
}

function add(module, instance, imports) {
  const wasm = published.get(module);
  if (wasm !== undefined) instances.push({ wasm, instance, memory: importedMemory(imports) });
  return instance;
}

WebAssembly.Module = new Proxy(Module, {
  construct(_target, [bytes]) {
    const wasm = copied(bytes);
    return remember(new Module(exposed(wasm)), wasm);
  },
});
WebAssembly.Instance = new Proxy(Instance, {
  construct(_target, [module, imports]) {
    return add(module, new Instance(module, imports), imports);
  },
});
WebAssembly.compile = async (bytes) => {
  const wasm = copied(bytes);
  return remember(await compile(exposed(wasm)), wasm);
};
WebAssembly.instantiate = async (source, imports) => {
  if (source instanceof Module) return add(source, await instantiate(source, imports), imports);
  const module = await WebAssembly.compile(source);
  return { module, instance: add(module, await instantiate(module, imports), imports) };
};
WebAssembly.instantiateStreaming = undefined;
WebAssembly.compileStreaming = undefined;

process.on("exit", () => {
  instances.forEach(({ wasm, instance, memory }, nth) => {
    const file = join(process.env.HEAPS, `${nth}`);
    writeFileSync(`${file}.wasm`, wasm);
    writeDump(instance.exports, `${file}.dump`, memory === undefined ? {} : { memory });
  });
});
