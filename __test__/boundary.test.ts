// The boundary to the addon: bytes that are detached, shared, resized or fake, options that run code, and
// views that outlive their inputs.

import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { exposeGlobals } from "../dist/capture.js";
import { analyze, analyzeAsync, diff, diffAsync, openHeap } from "../dist/index.js";
import { encodeDebugSections } from "../dist/native.js";
import type { AnalyzeOptions, AsyncOptions } from "../index.js";
import { runScript } from "./support/child.ts";
import { type LeakyServer, leakyServer } from "./support/leaky_server.ts";

let files: LeakyServer;
let before: Buffer;
let after: Buffer;
let wasm: Buffer;

beforeAll(async () => {
  files = await leakyServer();
  before = readFileSync(files.before);
  after = readFileSync(files.after);
  wasm = readFileSync(files.wasm);
});

function whole(view: object): unknown {
  return JSON.parse(JSON.stringify(view));
}

/** The result of an analysis of the unchanged bytes. */
const expected = () => whole(analyze(after, wasm));

/** The code and the message of the error that `action` throws or rejects with. */
async function failure(action: () => unknown): Promise<{ code: unknown; message: string }> {
  try {
    await action();
  } catch (error) {
    expect(error).toBeInstanceOf(Error);
    const { code, message } = error as Error & { code?: unknown };
    return { code, message };
  }
  throw new Error("nothing was thrown");
}

/** Every function that takes bytes: the name of one argument, and a call with these bytes as that argument. */
const takers = (): [string, (bytes: Uint8Array) => unknown][] => [
  ["dump", (bytes) => analyze(bytes, wasm)],
  ["wasm", (bytes) => analyze(after, bytes)],
  ["dump", (bytes) => analyzeAsync(bytes, wasm)],
  ["wasm", (bytes) => analyzeAsync(after, bytes)],
  ["before", (bytes) => diff(bytes, after, wasm)],
  ["after", (bytes) => diff(before, bytes, wasm)],
  ["before", (bytes) => diffAsync(bytes, after, wasm)],
  ["wasm", (bytes) => diffAsync(before, after, bytes)],
  ["wasm", (bytes) => exposeGlobals(bytes)],
];

/** Newer than the declarations of the library that TypeScript uses. */
type Resizable = ArrayBuffer & { resize(length: number): void };
const Buffers = ArrayBuffer as unknown as new (
  length: number,
  options: { maxByteLength: number },
) => Resizable;
const SharedBuffers = SharedArrayBuffer as unknown as new (
  length: number,
  options: { maxByteLength: number },
) => SharedArrayBuffer & { grow(length: number): void };

function transferred(bytes: Uint8Array): Uint8Array {
  const array = Uint8Array.from(bytes);
  structuredClone(array.buffer, { transfer: [array.buffer] });
  return array;
}

describe("bytes with a detached buffer are not taken for empty ones", () => {
  test("when it was transferred", async () => {
    for (const [name, take] of takers()) {
      const { code, message } = await failure(() => take(transferred(after)));
      expect(code).toBe("ERR_BUFFER_DETACHED");
      expect(message).toContain(`the buffer of argument "${name}" is detached`);
      expect(message).toContain("take them from memory.buffer again");
    }
  });

  test("when the memory of a program grew", async () => {
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 2 });
    const view = new Uint8Array(memory.buffer);
    memory.grow(1);
    expect((await failure(() => analyze(view, wasm))).code).toBe("ERR_BUFFER_DETACHED");
  });

  test("when an option detaches it while the options are read", async () => {
    for (const call of [analyze, analyzeAsync]) {
      const dump = Uint8Array.from(after);
      const options = {
        get top() {
          structuredClone(dump.buffer, { transfer: [dump.buffer] });
          return 1;
        },
      };
      expect((await failure(() => call(dump, wasm, options))).code).toBe("ERR_BUFFER_DETACHED");
    }
  });

  test("when a signal detaches it while the signal is read", async () => {
    const dump = Uint8Array.from(after);
    const signal = {
      get aborted() {
        if (dump.length > 0) structuredClone(dump.buffer, { transfer: [dump.buffer] });
        return false;
      },
      addEventListener() {},
      removeEventListener() {},
    };
    const options = { signal: signal as unknown as AbortSignal };
    expect((await failure(() => analyzeAsync(dump, wasm, options))).code).toBe(
      "ERR_BUFFER_DETACHED",
    );
  });

  test("but it may be detached after the call of an async function", async () => {
    const [dump, module] = [Uint8Array.from(after), Uint8Array.from(wasm)];
    const pending = analyzeAsync(dump, module);
    structuredClone(null, { transfer: [dump.buffer, module.buffer] });
    expect(dump.length + module.length).toBe(0);
    expect(whole(await pending)).toEqual(expected());
  });
});

describe("bytes in a buffer that can be resized", () => {
  const resizable = (contents: Uint8Array) => {
    const buffer = new Buffers(contents.length, { maxByteLength: contents.length * 2 });
    new Uint8Array(buffer).set(contents);
    return buffer;
  };

  test("have the current length of the buffer", async () => {
    const buffer = resizable(after);
    const view = new Uint8Array(buffer);
    expect(whole(analyze(view, wasm))).toEqual(expected());
    expect(whole(await analyzeAsync(view, wasm))).toEqual(expected());
    buffer.resize(20);
    const { code, message } = await failure(() => analyze(view, wasm));
    expect(code).toBe("ERR_DUMP_TRUNCATED");
    expect(message).toContain("the dump ends at byte 20");
  });

  test("are refused when they are beyond its end", async () => {
    for (const [name, take] of takers()) {
      const buffer = resizable(after);
      const view = new Uint8Array(buffer, 8, after.length - 8);
      buffer.resize(16);
      const { code, message } = await failure(() => take(view));
      expect(code).toBe("ERR_BUFFER_OUT_OF_BOUNDS");
      expect(message).toContain(`argument "${name}" lies outside of its buffer`);
    }
  });

  test("may shrink after the call of an async function", async () => {
    const buffer = resizable(after);
    const pending = analyzeAsync(new Uint8Array(buffer), wasm);
    buffer.resize(0);
    expect(whole(await pending)).toEqual(expected());
  });

  test("may be shared and grow", async () => {
    const buffer = new SharedBuffers(after.length, { maxByteLength: after.length * 2 });
    const view = new Uint8Array(buffer);
    view.set(after);
    expect(whole(analyze(view, wasm))).toEqual(expected());
    const pending = analyzeAsync(view, wasm);
    buffer.grow(after.length * 2);
    view.fill(0);
    expect(whole(await pending)).toEqual(expected());
  });
});

describe("bytes", () => {
  test("may lie in the memory of a program, shared or not", async () => {
    const pages = Math.ceil(after.length / 65536) + 1;
    for (const shared of [false, true]) {
      const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared });
      const view = new Uint8Array(memory.buffer, 13, after.length);
      view.set(after);
      expect(whole(analyze(view, wasm))).toEqual(expected());
      expect(whole(await analyzeAsync(view, wasm))).toEqual(expected());
    }
  });

  test("may be shared for every function that takes bytes", async () => {
    const shared = (bytes: Uint8Array) => {
      const view = new Uint8Array(new SharedArrayBuffer(bytes.length + 3), 3);
      view.set(bytes);
      return view;
    };
    const [first, second, module] = [shared(before), shared(after), shared(wasm)];
    const comparison = whole(diff(before, after, wasm));
    expect(whole(diff(first, second, module))).toEqual(comparison);
    expect(whole(await diffAsync(first, second, module))).toEqual(comparison);
    expect(exposeGlobals(module)).toEqual(exposeGlobals(wasm));
  });

  test("may be a whole buffer, shared or not, for every function that takes bytes", async () => {
    const comparison = whole(diff(before, after, wasm));
    for (const Buffers of [ArrayBuffer, SharedArrayBuffer]) {
      const [first, second, module] = [before, after, wasm].map((bytes) => {
        const buffer = new Buffers(bytes.length);
        new Uint8Array(buffer).set(bytes);
        return buffer;
      }) as [ArrayBuffer, ArrayBuffer, ArrayBuffer];
      expect(whole(diff(first, second, module))).toEqual(comparison);
      expect(whole(await diffAsync(first, second, module))).toEqual(comparison);
      expect(exposeGlobals(module)).toEqual(exposeGlobals(wasm));
      const heap = openHeap(second, module);
      expect(heap.summary().totalLiveSize).toBe(analyze(after, wasm).totalLiveSize);
    }
    const detached = new ArrayBuffer(8);
    structuredClone(detached, { transfer: [detached] });
    expect((await failure(() => analyze(detached, wasm))).code).toBe("ERR_BUFFER_DETACHED");
  });

  test("may be a part of Node's pool", () => {
    const pooled = Buffer.from("no module");
    expect(pooled.buffer.byteLength).toBeGreaterThan(pooled.length);
    expect(() => analyze(after, pooled)).toThrow(expect.objectContaining({ code: "ERR_MODULE" }));
  });

  test.each([
    ["an array of none", () => new Uint8Array(0)],
    ["a Buffer of none", () => Buffer.alloc(0)],
    ["the end of an array", () => new Uint8Array(8).subarray(8)],
    ["a memory of no pages", () => new Uint8Array(new WebAssembly.Memory({ initial: 0 }).buffer)],
    ["shared memory of no bytes", () => new Uint8Array(new SharedArrayBuffer(0))],
  ])("that are empty are a truncated file: %s", async (_, none) => {
    for (const call of [analyze, analyzeAsync]) {
      expect((await failure(() => call(none(), wasm))).code).toBe("ERR_DUMP_TRUNCATED");
      expect((await failure(() => call(after, none()))).code).toBe("ERR_MODULE");
    }
    expect((await failure(() => exposeGlobals(none()))).code).toBe("ERR_MODULE");
  });

  test("are read in place, even if a subclass has other properties", async () => {
    class Liar extends Uint8Array<ArrayBufferLike> {
      static get [Symbol.species](): Uint8ArrayConstructor {
        throw new Error("asked for its species");
      }
      override get length() {
        return 3;
      }
      override get byteLength() {
        return 1 << 30;
      }
      override get byteOffset() {
        return 1 << 30;
      }
      override get buffer(): ArrayBufferLike {
        throw new Error("asked for its buffer");
      }
      override slice(): never {
        throw new Error("asked for a slice");
      }
      override keys(): never {
        throw new Error("asked for its keys");
      }
    }
    for (const buffer of [new ArrayBuffer(after.length), new SharedArrayBuffer(after.length)]) {
      new Uint8Array(buffer).set(after);
      const liar = new Liar(buffer);
      expect(whole(analyze(liar, wasm))).toEqual(expected());
      expect(whole(await analyzeAsync(liar, wasm))).toEqual(expected());
    }
  });

  test.each([
    ["a Proxy of them", (bytes: Uint8Array) => new Proxy(bytes, {})],
    ["a DataView", (bytes: Uint8Array) => new DataView(bytes.buffer)],
    ["clamped ones", (bytes: Uint8Array) => new Uint8ClampedArray(bytes)],
    ["what inherits from them", (bytes: Uint8Array) => Object.create(bytes) as object],
    ["what has their name", () => ({ [Symbol.toStringTag]: "Uint8Array", length: 4 })],
  ])("must not be %s", async (_, make) => {
    for (const [, take] of takers()) {
      const { code } = await failure(() => take(make(Uint8Array.from(after)) as Uint8Array));
      expect(code).toBe("ERR_INVALID_ARG_TYPE");
    }
  });
});

describe("options", () => {
  test.each([
    ["string", "retained"],
    ["number", 3],
    ["boolean", true],
    ["function", () => {}],
  ])("must not be a %s", async (found, options) => {
    const message = `argument "options" must be an object, found ${found}`;
    for (const call of [analyze, analyzeAsync]) {
      const error = await failure(() => call(after, wasm, options as never));
      expect(error).toEqual({ code: "ERR_INVALID_ARG_TYPE", message });
    }
  });

  test("may be frozen, a Proxy, or inherited", async () => {
    const wanted = { top: 1 };
    const variants = [Object.freeze({ ...wanted }), new Proxy(wanted, {}), Object.create(wanted)];
    const view = whole(analyze(after, wasm, wanted));
    for (const options of variants as AnalyzeOptions[]) {
      expect(whole(analyze(after, wasm, options))).toEqual(view);
      expect(whole(await analyzeAsync(after, wasm, options))).toEqual(view);
    }
  });

  test("that throw in a getter make the call throw the same error", async () => {
    const mistake = new Error("the caller's own");
    const options = {
      get sort(): never {
        throw mistake;
      },
    };
    for (const call of [analyze, analyzeAsync]) {
      const thrown = await Promise.resolve()
        .then(() => call(after, wasm, options))
        .catch((error: unknown) => error);
      expect(thrown).toBe(mistake);
    }
  });

  test("may be whole numbers of any size", () => {
    const all = expected();
    for (const top of [2 ** 31, 2 ** 32 + 1, 2 ** 53, Number.MAX_VALUE]) {
      expect(whole(analyze(after, wasm, { top, instances: top }))).toEqual(all);
    }
    const none = analyze(after, wasm, { instances: -0 });
    expect(none.constructors[0]?.instances).toEqual([]);
    expect(() => analyze(after, wasm, { top: -0 })).toThrow(
      expect.objectContaining({ code: "ERR_INVALID_OPTION" }),
    );
  });

  test.each([
    ["string", "abort"],
    ["an AbortController", new AbortController()],
    ["object", { aborted: true }],
    ["an EventTarget", new EventTarget()],
  ])("take no signal that is %s", async (found, signal) => {
    const error = await failure(() => analyzeAsync(after, wasm, { signal } as never));
    expect(error).toEqual({
      code: "ERR_INVALID_ARG_TYPE",
      message: `argument "options.signal" must be an AbortSignal, found ${found}`,
    });
  });

  test("that abort their own signal in a getter stop the work", async () => {
    const controller = new AbortController();
    const options: AnalyzeOptions & AsyncOptions = {
      signal: controller.signal,
      get partial() {
        controller.abort();
        return true;
      },
    };
    expect((await failure(() => analyzeAsync(after, wasm, options))).code).toBe("ABORT_ERR");
  });
});

describe("a listener to progress", () => {
  test("may fail in a promise: the call rejects with its error", async () => {
    const mistake = new Error("the listener's own");
    const onProgress = async () => {
      throw mistake;
    };
    await expect(analyzeAsync(after, wasm, { onProgress })).rejects.toBe(mistake);
  });

  test("that fails after the work is done causes a warning and does not end the process", () => {
    const script = `
      process.on("warning", ({ message }) => console.log(message));
      let fail;
      const later = () => new Promise((_, reject) => { fail = reject; });
      analyzeFileAsync(after, wasm, { onProgress: later }).then(() => {
        console.log("done");
        fail(new Error("late"));
      });`;
    const { stdout, status } = runScript(files, script);
    expect(stdout).toBe("done\nonProgress failed after the analysis was done: Error: late\n");
    expect(status).toBe(0);
  });

  test("may call an analysis", async () => {
    const inner: Promise<unknown>[] = [];
    const onProgress = () => {
      inner.push(Promise.resolve(analyze(after, wasm)), analyzeAsync(after, wasm));
    };
    expect(whole(await analyzeAsync(after, wasm, { onProgress }))).toEqual(expected());
    expect(inner.length).toBeGreaterThan(0);
    for (const view of await Promise.all(inner)) expect(whole(view as object)).toEqual(expected());
  });

  test("may abort the call in its last report", async () => {
    const controller = new AbortController();
    const options = { signal: controller.signal, onProgress: () => controller.abort() };
    expect((await failure(() => analyzeAsync(after, wasm, options))).code).toBe("ABORT_ERR");
    expect((await failure(() => diffAsync(before, after, wasm, options))).code).toBe("ABORT_ERR");
  });
});

describe("a view", () => {
  test("does not need the bytes from which it was made", async () => {
    const [dump, module] = [Uint8Array.from(after), Uint8Array.from(wasm)];
    const views = [analyze(dump, module), await analyzeAsync(dump, module)];
    dump.fill(0xff);
    module.fill(0xff);
    structuredClone(null, { transfer: [dump.buffer, module.buffer] });
    for (const view of views) expect(whole(view)).toEqual(expected());
  });

  test("lists instances that do not change when a caller changes the columns", () => {
    const view = analyze(after, wasm);
    const again = analyze(after, wasm);
    const row = view.constructors[0];
    row?.instanceColumns.addresses.fill(1);
    structuredClone(null, { transfer: [row?.instanceColumns.shallowSizes.buffer as ArrayBuffer] });
    expect(row?.instances).toEqual(again.constructors[0]?.instances);
  });
});

test.each(["get", "set", "value"])("a program may have added %s to Object.prototype", (name) => {
  const script = `
      const name = ${JSON.stringify(name)};
      Object.prototype[name] = 1;
      const [{ instances, instanceColumns, count }] = analyzeFile(after, wasm).constructors;
      // Node's own console cannot print with it.
      delete Object.prototype[name];
      console.log(instances.length === count, instanceColumns.addresses.length === count);`;
  expect(runScript(files, script)).toMatchObject({ stdout: "true true\n", status: 0 });
});

test("an invalid description of debug information is an error with a code", async () => {
  const { code, message } = await failure(() => encodeDebugSections("{"));
  expect(code).toBe("ERR_DEBUG_INFO_DESCRIPTION");
  expect(message).toContain("the description of the debug information cannot be read");
});
