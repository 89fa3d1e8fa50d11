// Prints everything about `WebAssembly` that a program can observe. The test runs it with and
// without `register` and compares.
//
// Arguments: files of modules.

import { readFileSync } from "node:fs";

const modules = process.argv.slice(2).map((file) => readFileSync(file));
const lines = [];
const say = (...what) => lines.push(what.map(show).join(" "));

function show(value) {
  if (value instanceof Error) return `${value.constructor.name}: ${value.message}`;
  if (typeof value === "function") return `function ${value.name}/${value.length}`;
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return `[${value.map(show).join(", ")}]`;
  return JSON.stringify(value) ?? String(value);
}

async function attempt(title, work) {
  try {
    say(title, "→", await work());
  } catch (error) {
    say(title, "✗", error);
  }
}

function describeProperties(title, object) {
  for (const key of Reflect.ownKeys(object)) {
    const { value, get, set, ...flags } = Object.getOwnPropertyDescriptor(object, key);
    const shown = typeof value === "object" ? "object" : show(value ?? get);
    say(title, String(key), flags, shown, set === undefined);
  }
}

const imports = () => ({
  env: {
    abort() {},
    memory: new WebAssembly.Memory({ initial: 4, maximum: 200 }),
    hostCounter: new WebAssembly.Global({ value: "i32", mutable: true }, 7),
  },
  MemoryDump: { dumpMemoryRegion() {} },
  wasi_snapshot_preview1: { fd_write: () => 0 },
});

function describeExports(title, exports) {
  describeProperties(`${title} exports`, exports);
  say(
    title,
    Object.isFrozen(exports),
    Object.getPrototypeOf(exports),
    String(Object.keys(exports)),
  );
}

/** A response with the bytes of a module. */
const respond = (bytes, init) =>
  new Response(bytes, { headers: { "content-type": "application/wasm" }, ...init });

describeProperties("WebAssembly", WebAssembly);
for (const name of ["Module", "Instance"]) {
  describeProperties(name, WebAssembly[name]);
  describeProperties(`${name}.prototype`, WebAssembly[name].prototype);
  say(name, WebAssembly[name].prototype.constructor === WebAssembly[name]);
  await attempt(`${name}()`, () => WebAssembly[name]());
  await attempt(`new ${name}()`, () => new WebAssembly[name]());
  await attempt(`new ${name}(5)`, () => new WebAssembly[name](5));
}
await attempt("the getter", () =>
  Object.getOwnPropertyDescriptor(WebAssembly.Instance.prototype, "exports").get.call({}),
);
for (const name of ["compile", "instantiate", "compileStreaming", "instantiateStreaming"]) {
  const callee = WebAssembly[name];
  await attempt(`new ${name}`, () => new callee());
  for (const source of [undefined, null, 5, "x", {}, new Uint8Array()]) {
    await attempt(`${name}(${source})`, () => callee(source));
  }
  if (!name.endsWith("Streaming")) continue;
  await attempt(`${name} of a rejection`, () => callee(Promise.reject(new Error("early"))));
}

for (const [nth, bytes] of modules.entries()) {
  const cut = bytes.subarray(0, bytes.length - 3);
  const spoilt = Uint8Array.from(bytes, (byte, at) =>
    at > bytes.length / 3 && at % 7 === 0 ? byte ^ 1 : byte,
  );
  const forms = {
    buffer: () => bytes,
    array: () => new Uint8Array(bytes),
    arrayBuffer: () => new Uint8Array(bytes).buffer,
    view: () => new DataView(new Uint8Array(bytes).buffer),
    words: () => new Uint16Array(new Uint8Array([...bytes, 0]).buffer, 0, bytes.length >> 1),
    shared: () => {
      const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
      copy.set(bytes);
      return copy;
    },
    cut: () => cut,
    spoilt: () => spoilt,
    detached: () => {
      const copy = new Uint8Array(bytes);
      structuredClone(copy, { transfer: [copy.buffer] });
      return copy;
    },
  };
  for (const [form, source] of Object.entries(forms)) {
    const title = `module ${nth} as ${form}`;
    await attempt(`${title}: validate`, () => WebAssembly.validate(source()));
    await attempt(`${title}: Module`, () => {
      const module = new WebAssembly.Module(source());
      say(title, module instanceof WebAssembly.Module, WebAssembly.Module.exports(module));
      say(title, WebAssembly.Module.imports(module), Object.prototype.toString.call(module));
      return Object.getPrototypeOf(module) === WebAssembly.Module.prototype;
    });
    await attempt(`${title}: compile`, async () => {
      const module = await WebAssembly.compile(source());
      return WebAssembly.Module.exports(module);
    });
    for (const given of [imports(), undefined, {}, 5, null]) {
      await attempt(`${title}: instantiate with ${typeof given}`, async () => {
        const result = await WebAssembly.instantiate(source(), given);
        describeProperties(`${title} result`, result);
        describeExports(title, result.instance.exports);
        return result.instance instanceof WebAssembly.Instance;
      });
      await attempt(`${title}: Instance with ${typeof given}`, () => {
        const instance = new WebAssembly.Instance(new WebAssembly.Module(source()), given);
        describeExports(title, instance.exports);
        const { exports } = instance;
        return instance.exports === exports && Object.keys(instance);
      });
      await attempt(`${title}: instantiate a module with ${typeof given}`, async () => {
        const instance = await WebAssembly.instantiate(new WebAssembly.Module(source()), given);
        return instance instanceof WebAssembly.Instance;
      });
      await attempt(`${title}: instantiateStreaming with ${typeof given}`, async () => {
        const result = await WebAssembly.instantiateStreaming(respond(source()), given);
        return Object.keys(result.instance.exports);
      });
    }
    await attempt(`${title}: subclasses`, () => {
      class MyModule extends WebAssembly.Module {}
      class MyInstance extends WebAssembly.Instance {
        names = Object.keys(this.exports);
      }
      const module = new MyModule(source());
      const instance = new MyInstance(module, imports());
      say(
        module instanceof MyModule,
        module instanceof WebAssembly.Module,
        module.constructor.name,
      );
      return [instance instanceof MyInstance, instance.names];
    });
    await attempt(`${title}: a clone`, () => {
      const clone = structuredClone(new WebAssembly.Module(source()));
      return Object.keys(new WebAssembly.Instance(clone, imports()).exports);
    });
    await attempt(`${title}: compileStreaming`, async () => {
      const response = respond(source());
      const module = await WebAssembly.compileStreaming(Promise.resolve(response));
      return [response.bodyUsed, WebAssembly.Module.exports(module).length];
    });
    await attempt(`${title}: changed after the call`, async () => {
      const copy = new Uint8Array(source());
      const compiled = WebAssembly.compile(copy);
      copy.fill(0);
      return WebAssembly.Module.exports(await compiled).length;
    });
  }
  for (const init of [
    { status: 404 },
    { status: 204 },
    { headers: {} },
    { headers: { "content-type": "application/wasm;x" } },
  ]) {
    await attempt(`module ${nth}: response ${show(init)}`, () =>
      WebAssembly.compileStreaming(respond(init.status === 204 ? null : bytes, init)),
    );
  }
  await attempt(`module ${nth}: a used response`, async () => {
    const response = respond(bytes);
    await response.text();
    return WebAssembly.instantiateStreaming(response);
  });
}

process.stdout.write(`${lines.join("\n")}\n`);
