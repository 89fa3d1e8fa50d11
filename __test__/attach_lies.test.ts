/**
 * An inspector is not trusted. Between `attach` and a real Node process stands a proxy that changes one thing of what the
 * process says. Whatever it is, the result is an error with a code, no file is left, and this process goes on.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { attach } from "@warpo/heap-analyzer/attach";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { KnownModules } from "../dist/attach/known_modules.js";
import { Captures } from "../dist/watch/captures.js";
import { inspectedProgram } from "./support/inspected_program.ts";

/** For an answer, in milliseconds. */
const PATIENCE = 20_000;

/** A message of the process, and the method whose answer it is or whose event. */
interface Said {
  method: string;
  // biome-ignore lint/suspicious/noExplicitAny: the lies reach into any answer.
  message: any;
  /** The parameters of the call. */
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  params: any;
}

let folder: string;
let child: ChildProcess;
let url: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "attach-lies-"));
  ({ child, url } = await inspectedProgram(folder));
});
afterAll(() => {
  child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** A proxy before the process. `change` returns what to say instead; null says nothing. */
async function proxy(change: (said: Said, socket: Socket) => unknown) {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  server.on("connection", (client, { socket }) => {
    const process = new WebSocket(url);
    const calls = new Map<number, { method: string; params: unknown }>();
    const early: string[] = [];
    client.on("message", (data) => {
      const call = JSON.parse(String(data));
      calls.set(call.id, call);
      if (process.readyState === WebSocket.OPEN) process.send(String(data));
      else early.push(String(data));
    });
    process.on("open", () => {
      for (const text of early) process.send(text);
    });
    process.on("message", (data) => {
      const message = JSON.parse(String(data));
      const { method, params } = calls.get(message.id) ?? { method: message.method, params: {} };
      const said = change({ method, message, params }, socket);
      if (said !== null) client.send(JSON.stringify(said ?? message));
    });
    for (const [one, other] of [
      [client, process],
      [process, client],
    ] as const) {
      one.on("close", () => other.close());
      one.on("error", () => other.close());
    }
  });
  const address = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/x`;
  return { address, close: () => server.close() };
}

/** Takes a dump with a heap snapshot through a proxy. */
async function take(
  change: (said: Said, socket: Socket) => unknown,
  outputs: { host?: boolean; numbers?: boolean; frames?: boolean } = {},
  timeout = PATIENCE,
): Promise<void> {
  const inside = mkdtempSync(join(folder, "out-"));
  const between = await proxy(change);
  try {
    const target = await attach(between.address, { timeout });
    try {
      await target.writeDump(join(inside, "x.dump"), {
        wasmOutput: join(inside, "x.wasm"),
        hostOutput: outputs.host ? join(inside, "x.heapsnapshot") : undefined,
        numbersOutput: outputs.numbers ? join(inside, "x.numbers.json") : undefined,
        closures: outputs.numbers,
        framesOutput: outputs.frames ? join(inside, "x.frames.json") : undefined,
      });
    } finally {
      await target.close();
    }
  } catch (error) {
    expect(readdirSync(inside)).toEqual([]);
    throw error;
  } finally {
    between.close();
  }
}

/** Changes the result of one method. */
const lieAbout =
  (wanted: string, change: (result: Said["message"], params: Said["params"]) => unknown) =>
  ({ method, message, params }: Said) =>
    method === wanted && message.id !== undefined
      ? { ...message, result: change(message.result, params) }
      : undefined;

/** Changes the value that a call of a function gives, if it is one with this field. */
const lieInValue = (field: string, value: unknown) =>
  lieAbout("Runtime.callFunctionOn", (result) =>
    result?.result?.value?.[field] === undefined
      ? result
      : { result: { ...result.result, value: { ...result.result.value, [field]: value } } },
  );

test("without a lie, a dump passes the proxy", async () => {
  await take(() => undefined, { host: true, numbers: true, frames: true });
});

describe("a lie", () => {
  const LIES: Record<string, (said: Said, socket: Socket) => unknown> = {
    "an error is null": ({ method, message }) =>
      method === "Debugger.enable" ? { id: message.id, error: null } : undefined,
    "a result is a list": lieAbout("Runtime.getProperties", () => []),
    "a message is not JSON": ({ method }, socket) => {
      if (method === "Debugger.enable") socket.write(frame(Buffer.from("{")));
      return undefined;
    },
    "a message announces 1 GiB": ({ method }, socket) => {
      if (method === "Debugger.enable") socket.write(header(2 ** 30));
      return undefined;
    },
    "the worker of an event has no name": ({ method, message }) =>
      method === "NodeWorker.enable"
        ? { method: "NodeWorker.attachedToWorker", params: { id: message.id } }
        : undefined,
    "the module is a text": lieAbout("Debugger.getScriptSource", () => ({
      bytecode: "no base64!",
    })),
    "the module is empty": lieAbout("Debugger.getScriptSource", () => ({ bytecode: "" })),
    "the memory is larger than the file": lieInValue("size", 65_536 * 7),
    "the memory has 8 GiB": lieInValue("size", 2 ** 33),
    "the memory has half a byte": lieInValue("size", 0.5),
    "the globals are texts": lieInValue("values", ["1", "2", "3", "4", "5", "6", "7", "8"]),
    "there are no globals": lieInValue("values", []),
    "the time is negative": lieInValue("time", -1),
    "the program throws": lieAbout("Runtime.callFunctionOn", () => ({
      exceptionDetails: { text: "x".repeat(100_000) },
    })),
  };
  test.each(Object.keys(LIES))("is an error with a code if %s", async (lie) => {
    const error = await take(LIES[lie] as (said: Said) => unknown).then(
      () => undefined,
      (error) => error,
    );
    expect(error).toMatchObject({ code: expect.stringMatching(/^ERR_/) });
    expect(error.message.length).toBeLessThan(1000);
  });

  const PAUSE_LIES: typeof LIES = {
    "the snapshot is a number": ({ method, message }) =>
      method === "HeapProfiler.addHeapSnapshotChunk"
        ? { ...message, params: { chunk: 7 } }
        : undefined,
    "there is no snapshot": ({ method }) =>
      method === "HeapProfiler.addHeapSnapshotChunk" ? null : undefined,
    "the pause has no frames": ({ method, message }) =>
      method === "Debugger.paused" ? { ...message, params: null } : undefined,
    "the frames are numbers": ({ method, message }) =>
      method === "Debugger.paused" ? { ...message, params: { callFrames: [1, 2] } } : undefined,
  };
  test.each(Object.keys(PAUSE_LIES))("during a pause is an error if %s", async (lie) => {
    const change = PAUSE_LIES[lie] as (said: Said) => unknown;
    await expect(take(change, { host: true })).rejects.toMatchObject({ code: "ERR_ATTACH_ANSWER" });
  });

  /** Changes the list that a call of a function gives. */
  const lieInList = (list: unknown) =>
    lieAbout("Runtime.callFunctionOn", (result) =>
      Array.isArray(result?.result?.value) ? { result: { value: list } } : result,
    );
  const row = { kind: "Array", slots: [[0, 65_536]], other: {} };
  const NUMBER_LIES: typeof LIES = {
    "the number of containers is negative": lieInValue("containers", -1),
    "there are more objects than were announced": lieInValue("objects", 250_000),
    "there are fewer objects than were announced": lieInValue("objects", 199_999),
    "the number of functions is a text": lieInValue("functions", "many"),
    "a list is missing": lieInList(null),
    "a list is too long": lieInList(new Array(2001).fill(row)),
    "the rows are numbers": lieInList([1, 2]),
    "an address is outside of the memory": lieInList([{ ...row, slots: [[0, 2 ** 32]] }]),
    "a slot has no name": lieInList([{ ...row, slots: [[null, 65_536]] }]),
    "an id is no number": lieAbout("HeapProfiler.getHeapObjectId", () => ({
      heapSnapshotObjectId: "x",
    })),
    "the scopes are a text": lieAbout("Runtime.getProperties", (result, { objectId }) =>
      /[.]/.test(objectId) && result.internalProperties?.length > 1
        ? { ...result, internalProperties: "many" }
        : result,
    ),
  };
  test.each(Object.keys(NUMBER_LIES))("in the numbers is an error if %s", async (lie) => {
    const change = NUMBER_LIES[lie] as (said: Said) => unknown;
    await expect(take(change, { host: true, numbers: true })).rejects.toMatchObject({
      code: "ERR_ATTACH_ANSWER",
    });
  });
});

test("a call that is never answered ends at the time limit", async () => {
  const hang = ({ method }: Said) => (method === "Debugger.getScriptSource" ? null : undefined);
  await expect(take(hang, {}, 3000)).rejects.toMatchObject({ code: "ERR_ATTACH_TIMEOUT" });
});

test("after all lies, the program still runs, and a dump of it can be taken", async () => {
  await take(() => undefined);
  expect(child.exitCode).toBeNull();
});

/** The header that a server sends before a message of this length in bytes. */
function header(size: number): Buffer {
  const bytes = Buffer.alloc(10);
  bytes[0] = 0x81;
  bytes[1] = 127;
  bytes.writeBigUInt64BE(BigInt(size), 2);
  return bytes;
}

const frame = (contents: Buffer) => Buffer.concat([header(contents.length), contents]);

test("of one process, the module is read once; later dumps need no debugger, and are the same", async () => {
  const methods: string[] = [];
  const between = await proxy(({ method }) => {
    methods.push(method);
    return undefined;
  });
  const inside = mkdtempSync(join(folder, "captures-"));
  const attaching = { timeout: PATIENCE };
  const settings = { target: between.address, instance: undefined, attaching };
  const captures = new Captures({ ...settings, folder: inside, keep: 2 });
  const files = async (...paths: string[]) => paths.map((path) => readFileSync(path));
  try {
    const first = await captures.next(files);
    const ofDebugger = () => methods.filter((method) => method.startsWith("Debugger.")).length;
    const before = ofDebugger();
    expect(before).toBeGreaterThan(0);
    const second = await captures.next(files);
    expect(ofDebugger()).toBe(before);
    expect(second.read).toEqual(first.read);
  } finally {
    captures.close();
    between.close();
  }
});

test("what is known of the modules of a process says nothing about another process", () => {
  const known = new KnownModules();
  known.beginWith("one");
  known.names.set("7", "wasm://wasm/0");
  known.beginWith("one");
  expect(known.names.size).toBe(1);
  known.beginWith("other");
  expect(known.names.size).toBe(0);
});
