// For `node --require`: every module that the program compiles is instrumented, as the program's own host would do it.
// At the end, the last line on stderr says for each module whether it was refused, and for each instance what it allocated.

const { writeSync } = require("node:fs");
const { createProfiler, instrument } = require("../../dist/profile.js");

/** Node reads CommonJS with a module of its own. */
const NODES_OWN = 741;

const { Module, Instance, compile, instantiate } = WebAssembly;
const programs = new WeakMap();
const profilers = [];
const refused = [];

function instrumented(bytes) {
  const copy = ArrayBuffer.isView(bytes)
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : new Uint8Array(bytes);
  if (copy.length === NODES_OWN) return;
  try {
    return instrument(copy);
  } catch ({ code, message }) {
    refused.push({ size: copy.length, code, message });
  }
}

function profiled(program, imports) {
  const profiler = createProfiler(program, { interval: 1 });
  profilers.push(profiler);
  return { profiler, imports: { ...imports, ...profiler.imports } };
}

function remember(module, program) {
  if (program !== undefined) programs.set(module, program);
  return module;
}

async function instanceOf(module, imports) {
  const program = programs.get(module);
  if (program === undefined) return instantiate(module, imports);
  const run = profiled(program, imports);
  const instance = await instantiate(module, run.imports);
  run.profiler.attach(instance.exports);
  return instance;
}

WebAssembly.Module = new Proxy(Module, {
  construct(_target, [bytes]) {
    const program = instrumented(bytes);
    return remember(new Module(program?.wasm ?? bytes), program);
  },
});
WebAssembly.Instance = new Proxy(Instance, {
  construct(_target, [module, imports]) {
    const program = programs.get(module);
    if (program === undefined) return new Instance(module, imports);
    const run = profiled(program, imports);
    const instance = new Instance(module, run.imports);
    run.profiler.attach(instance.exports);
    return instance;
  },
});
WebAssembly.compile = async (bytes) => {
  const program = instrumented(bytes);
  return remember(await compile(program?.wasm ?? bytes), program);
};
WebAssembly.instantiate = async (source, imports) => {
  if (source instanceof Module) return instanceOf(source, imports);
  const module = await WebAssembly.compile(source);
  return { module, instance: await instanceOf(module, imports) };
};
WebAssembly.instantiateStreaming = undefined;
WebAssembly.compileStreaming = undefined;

process.on("exit", () => {
  const objects = profilers.map((profiler) => profiler.totals().objects);
  writeSync(2, `\n${JSON.stringify({ refused, objects })}\n`);
});
