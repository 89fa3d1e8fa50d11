/**
 * An inspector of a program that does not exist. It answers as that of Node does for a program with one instance, unless
 * a test changes what it says.
 */
import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";

const PAGE = 65_536;

/** A call, as it arrives. */
export interface Called {
  id: number;
  method: string;
  // biome-ignore lint/suspicious/noExplicitAny: of any method.
  params: any;
}

/** What an answer is, or nothing. */
export const NO_ANSWER = Symbol("no answer");

/** What an inspector says, and what it does instead. */
export interface Lies {
  /** The answer to a call, in place of the honest one; undefined for the honest one. */
  answer?(call: Called, say: Say): unknown;
  /** Whether it is that of a page, whose memory travels over the connection. */
  isPage?: boolean;
  /** What writing its memory into a file does. */
  write?(path: string, offset: number): unknown;
  /** The name of the realm, and of the module. */
  realm?: string;
  module?: string;
}

/** Says something that was not asked. */
export interface Say {
  event(method: string, params: unknown): void;
  raw(text: string): void;
}

/** The module of the program: with one page of memory, one mutable global and one function. */
export function smallModule(): Buffer {
  return Buffer.from(
    "0061736d01000000010401600000030201000503010001060601" + "7f01412a0b0a040102000b",
    "hex",
  );
}

/** The honest answer to a call, unless there is a lie. Undefined if nothing is to be said. */
export function answerTo(call: Called, lies: Lies, say: Say): unknown {
  const lie = lies.answer?.(call, say);
  if (lie === NO_ANSWER) return undefined;
  if (lie !== undefined) return lie;
  const result = honestly(call, lies, say);
  return result === undefined ? { id: call.id, error: { message: "no" } } : { id: call.id, result };
}

const object = (objectId: string) => ({ result: { type: "object", objectId } });
const value = (of: unknown) => ({ result: { type: "object", value: of } });

function honestly({ method, params }: Called, lies: Lies, say: Say): unknown {
  switch (method) {
    case "NodeRuntime.disable":
      return lies.isPage ? undefined : {};
    case "Runtime.enable":
      say.event("Runtime.executionContextCreated", {
        context: { id: 1, name: lies.realm ?? "main", auxData: { isDefault: true } },
      });
      return {};
    case "Debugger.enable":
      say.event("Debugger.scriptParsed", {
        scriptLanguage: "WebAssembly",
        scriptId: "7",
        url: lies.module ?? "wasm://wasm/small",
      });
      return {};
    case "Debugger.pause":
      say.event("Debugger.paused", { callFrames: [] });
      return {};
    case "Debugger.getScriptSource":
      return { bytecode: smallModule().toString("base64") };
    case "HeapProfiler.takeHeapSnapshot":
      say.event("HeapProfiler.addHeapSnapshotChunk", { chunk: "{}" });
      return {};
    case "Runtime.evaluate":
      return object("evaluated");
    case "Runtime.queryObjects":
      return { objects: { objectId: "found" } };
    case "Runtime.getProperties":
      return properties();
    case "Runtime.callFunctionOn":
      return called(params.functionDeclaration, params.arguments ?? [], lies);
    default:
      return {};
  }
}

function properties() {
  const named = ["Memories", "Functions", "Globals"].map((name) => ({
    name: `[[${name}]]`,
    value: { type: "object", objectId: name },
  }));
  const location = { name: "[[FunctionLocation]]", value: { value: { scriptId: "7" } } };
  return { result: [], internalProperties: [...named, location] };
}

/** What a function of the analyzer returns. */
function called(code: string, given: { value?: unknown }[], lies: Lies): unknown {
  if (code.includes("openSync")) {
    const path = given.find((one) => typeof one.value === "string")?.value as string;
    return (lies.write ?? writeHonestly)(path, given.at(-1)?.value as number);
  }
  const copied = { values: [42], size: PAGE, time: 1 };
  if (code.includes("BigUint64Array")) return object("copy");
  if (code.includes("numbers: this.numbers")) return value({ ...copied, numbers: [0] });
  if (code.includes("this.pages")) return value([Buffer.alloc(PAGE, 7).toString("base64")]);
  if (code.includes("count, size")) return value({ count: 1, size: PAGE, shared: false });
  if (code.includes("return this.length")) return value(1);
  return object("called");
}

/** What the analyzer's function answers after it has written the memory. */
export function wrote(values = [42], size = PAGE): unknown {
  return value({ values, size, time: 1 });
}

export function writeHonestly(path: string, offset: number): unknown {
  writeFileSync(path, Buffer.alloc(offset + PAGE, 7), { flag: "r+" });
  return wrote();
}

/** What the server of an inspector does before messages travel. */
export interface Beginnings {
  list?(request: IncomingMessage, response: ServerResponse, port: number): void;
  upgrade?(request: IncomingMessage, socket: Duplex): void;
  connected?(socket: WebSocket): void;
}

/** Starts the server of an inspector on a free port. */
export async function lyingInspector(lies: Lies, beginnings: Beginnings = {}) {
  const http = createServer((request, response) => {
    const { port } = http.address() as AddressInfo;
    if (beginnings.list !== undefined) return beginnings.list(request, response, port);
    const type = lies.isPage ? "page" : "node";
    response.end(JSON.stringify([{ type, webSocketDebuggerUrl: `ws://127.0.0.1:${port}/x` }]));
  });
  const sockets = new WebSocketServer({ noServer: true });
  const open = new Set<Duplex>();
  http.on("connection", (socket) => {
    open.add(socket);
    socket.on("error", () => {});
  });
  http.on("upgrade", (request, socket, head) => {
    if (beginnings.upgrade !== undefined) return beginnings.upgrade(request, socket);
    sockets.handleUpgrade(request, socket, head, (client) => {
      const say: Say = {
        event: (method, params) => client.send(JSON.stringify({ method, params })),
        raw: (text) => client.send(text),
      };
      client.on("error", () => {});
      client.on("message", (data) => {
        const answer = answerTo(JSON.parse(String(data)), lies, say);
        if (answer !== undefined) client.send(JSON.stringify(answer));
      });
      beginnings.connected?.(client);
    });
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { port } = http.address() as AddressInfo;
  const close = () => {
    for (const socket of open) socket.destroy();
    http.close();
  };
  return { url: `http://127.0.0.1:${port}`, port, close };
}
