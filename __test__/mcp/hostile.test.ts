// Clients that break the rules of the protocol. They get errors, and the server goes on.

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterEach, beforeAll, expect, test } from "vitest";
import { type LeakyServer, leakyServer } from "../support/leaky_server.ts";
import { SERVER } from "./client.ts";

interface Message {
  id?: number | string;
  method?: string;
  result?: Record<string, unknown>;
  error?: { code: number; message: string };
}

/** A server without a client: lines go in and out. */
interface Wire {
  process: ChildProcessWithoutNullStreams;
  send(line: unknown): void;
  /** The next message, which must be JSON. */
  next(): Promise<Message>;
  /** The answer to a request, after any other messages. */
  request(method: string, params?: object): Promise<Message>;
  exit: Promise<number | null>;
}

let server: LeakyServer;
const started: ChildProcessWithoutNullStreams[] = [];

beforeAll(async () => {
  server = await leakyServer();
});
afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
});

function start(): Wire {
  const child = spawn(process.execPath, [SERVER, "--root", server.folder]);
  started.push(child);
  child.stdin.on("error", () => {});
  child.stderr.resume();
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let last = 0;
  const send = (line: unknown) =>
    child.stdin.write(`${typeof line === "string" ? line : JSON.stringify(line)}\n`);
  const next = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error("the server closed its output");
    return JSON.parse(value) as Message;
  };
  const request = async (method: string, params: object = {}) => {
    const id = `request-${++last}`;
    send({ jsonrpc: "2.0", id, method, params });
    for (;;) {
      const message = await next();
      if (message.id === id) return message;
    }
  };
  const exit = once(child, "exit").then(([code]) => code as number | null);
  return { process: child, send, next, request, exit };
}

const HELLO = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "hostile", version: "1.0.0" },
};

async function greeted(): Promise<Wire> {
  const wire = start();
  expect((await wire.request("initialize", HELLO)).result).toBeDefined();
  wire.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  return wire;
}

/** A tool answers. */
async function expectAlive(wire: Wire): Promise<void> {
  const { result } = await wire.request("tools/call", { name: "list_dumps", arguments: {} });
  expect(result).toMatchObject({ structuredContent: { page: { total: 2 } } });
}

test("lines that are not messages are answered by the rules of JSON-RPC", async () => {
  const wire = await greeted();
  const lines: [unknown, number][] = [
    ["garbage", -32700],
    ["{", -32700],
    ["\u0000\u0001\u0002", -32700],
    ["[]", -32600],
    ["1", -32600],
    ["null", -32600],
    [{ jsonrpc: "1.0", id: 7, method: "tools/list" }, -32600],
    [{ id: 7, method: "tools/list" }, -32600],
    [{ jsonrpc: "2.0", id: 7, method: 5 }, -32600],
    [`"${"x".repeat(1 << 20)}"`, -32600],
    [{ jsonrpc: "2.0", id: 7, method: "no/such/method" }, -32601],
  ];
  for (const [line, code] of lines) {
    wire.send(line);
    const { error, id } = await wire.next();
    expect(error?.code, String(line).slice(0, 50)).toBe(code);
    expect(error?.message.length).toBeLessThan(1100);
    if (typeof line === "object") expect(id).toBe(7);
  }
  // Bytes that are not UTF-8, lines without an end.
  wire.process.stdin.write(Buffer.from([0xff, 0xfe, 0x0a]));
  expect((await wire.next()).error?.code).toBe(-32700);
  wire.send("\n\n  \n");
  await expectAlive(wire);
});

test("hundreds of megabytes without an end of line take no memory", async () => {
  const wire = await greeted();
  const piece = Buffer.alloc(1 << 20, "x");
  for (let nth = 0; nth < 100; nth++) {
    if (!wire.process.stdin.write(piece)) await once(wire.process.stdin, "drain");
  }
  wire.send("");
  expect((await wire.next()).error?.code).toBe(-32600);
  await expectAlive(wire);
});

test("a flood of requests is answered one by one, or refused as too many", async () => {
  const wire = await greeted();
  const flood = 2000;
  const params = { name: "open_heaps", arguments: { dumps: ["before.dump", "after.dump"] } };
  for (let id = 0; id < flood; id++) {
    wire.send({ jsonrpc: "2.0", id, method: "tools/call", params });
  }
  const answers = new Map<unknown, Message>();
  while (answers.size < flood) {
    const message = await wire.next();
    expect(answers.has(message.id)).toBe(false);
    answers.set(message.id, message);
  }
  const codes = new Set([...answers.values()].map(({ error }) => error?.code));
  expect(codes).toEqual(new Set([undefined, -32000]));
  await expectAlive(wire);
});

test("an id that is in use, and a cancellation of what was never asked, harm nothing", async () => {
  const wire = await greeted();
  const params = { name: "open_heaps", arguments: { dumps: ["before.dump", "after.dump"] } };
  wire.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  wire.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  const first = await wire.next();
  expect(first).toMatchObject({ id: 1, error: { code: -32600 } });
  expect((await wire.next()).result).toBeDefined();
  for (const requestId of [1, 99, "x", null, {}]) {
    const cancelled = { method: "notifications/cancelled", params: { requestId } };
    wire.send({ jsonrpc: "2.0", ...cancelled });
  }
  wire.send({ jsonrpc: "2.0", id: 50, result: {} });
  await expectAlive(wire);
});

test("huge and deep arguments are errors", async () => {
  const wire = await greeted();
  const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
  const call = (args: string) =>
    `{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"find","arguments":${args}}}`;
  const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, nth) => [`key${nth}`, nth]));
  for (const args of [
    `{"heap":${deep}}`,
    JSON.stringify(many),
    `{"heap":"${"h".repeat(200_000)}"}`,
    `{"heap":"x","class":"${"*a".repeat(400)}","limit":1e308}`,
    "[]",
    '"text"',
  ]) {
    wire.send(call(args));
    const { error, result } = await wire.next();
    expect(error !== undefined || result?.isError === true, args.slice(0, 50)).toBe(true);
    expect(JSON.stringify(error ?? result).length).toBeLessThan(3000);
  }
  await expectAlive(wire);
});

test("a request of the current protocol needs no greeting, and other revisions are refused", async () => {
  const wire = start();
  const meta = (revision: string) => ({
    _meta: {
      "io.modelcontextprotocol/protocolVersion": revision,
      "io.modelcontextprotocol/clientInfo": HELLO.clientInfo,
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  });
  const refused = await wire.request("tools/list", meta("2031-01-01"));
  expect(refused.error?.message).toContain("2031-01-01");
  const { result } = await wire.request("tools/list", meta("2026-07-28"));
  expect(result?.tools).toHaveLength(12);
  // Without the envelope, now that the connection has one.
  expect((await wire.request("tools/list")).error).toBeDefined();
});

test("a client that goes away ends the server, whatever it was doing", async () => {
  for (const leave of [
    (wire: Wire) => wire.process.stdin.end(),
    (wire: Wire) => {
      wire.process.stdout.destroy();
      wire.send({ jsonrpc: "2.0", id: 3, method: "tools/list" });
    },
  ]) {
    const wire = await greeted();
    const params = { name: "open_heaps", arguments: { dumps: ["before.dump", "after.dump"] } };
    for (let id = 0; id < 50; id++) wire.send({ jsonrpc: "2.0", id, method: "tools/call", params });
    leave(wire);
    expect(await wire.exit).toBe(0);
  }
});

test("a client that asks and does not read is not served further, until it reads", async () => {
  const wire = await greeted();
  wire.process.stdout.pause();
  const asked = 500;
  for (let id = 0; id < asked; id++) wire.send({ jsonrpc: "2.0", id, method: "tools/list" });
  // The pipes are full, and the server has stopped to read: not all is accepted.
  await new Promise((resolve) => setTimeout(resolve, 500));
  wire.process.stdout.resume();
  const seen = new Set<unknown>();
  while (seen.size < asked) seen.add((await wire.next()).id);
  await expectAlive(wire);
});
