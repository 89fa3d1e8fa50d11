/** Clients without a library on all three transports: they can break every rule. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { get } from "node:http";
import { createConnection, type Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { SERVER } from "./client.ts";

export const TRANSPORTS = ["MCP", "JSON-RPC", "HTTP"] as const;
export type TransportName = (typeof TRANSPORTS)[number];

/** The bytes that a message may have. */
export const MESSAGE_BYTES = 256 * 1024;
/** The requests that may wait. */
export const MOST_WAITING = 128;

/** A message of the server. */
export interface Message {
  id?: number | string | null;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: { code: string } };
}

/** One client of a server of its own. */
export interface Wire {
  child: ChildProcess;
  /** All messages that were read. */
  received: Message[];
  /** How many messages were not taken because answers wait to be read. Only HTTP says so; pipes are not read then. */
  untaken(): number;
  /**
   * Sends texts of messages, as many as the server takes. With `patience`, it gives up when the
   * server takes nothing for this time in milliseconds.
   */
  send(texts: string[], patience?: number): Promise<void>;
  /** A message whose text has this many spaces at its end, sent in pieces. */
  sendLong(text: string, spaces: number): Promise<void>;
  /** The answer to a request, if everything is read. */
  answer(id: number | string): Promise<Message>;
  /** Reads from now on, or reads no more. */
  read(): void;
  stop(): void;
  /** Closes what the client writes to, or its stream over HTTP. It sends nothing before that. */
  leave(): void;
  exit: Promise<number | null>;
}

/** The text of a request that asks a question. */
export function asks(
  transport: TransportName,
  id: number | string,
  name: string,
  args = {},
): string {
  const [method, params] =
    transport === "MCP" ? ["tools/call", { name, arguments: args }] : [name, args];
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}

/** The text of a notification that cancels a request. */
export function cancels(transport: TransportName, id: number | string): string {
  const [method, params] =
    transport === "MCP"
      ? ["notifications/cancelled", { requestId: id }]
      : ["$/cancelRequest", { id }];
  return JSON.stringify({ jsonrpc: "2.0", method, params });
}

/** The most memory that a process had so far, in MiB. */
export function peakMemory({ pid }: ChildProcess): number {
  const [, peak] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(peak) / 1024;
}

/** Starts a server and a client that reads. */
export async function startWire(transport: TransportName, args: string[]): Promise<Wire> {
  const mode = { MCP: [], "JSON-RPC": ["serve", "--stdio"], HTTP: ["serve", "--http"] }[transport];
  const child = spawn(process.execPath, [SERVER, ...mode, ...args], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const wire = transport === "HTTP" ? await overHttp(child) : overPipes(child, transport);
  if (transport === "MCP") {
    const hello = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "wire", version: "1.0.0" },
    };
    await wire.send([
      JSON.stringify({ jsonrpc: "2.0", id: "hello", method: "initialize", params: hello }),
      JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }),
    ]);
    await wire.answer("hello");
  }
  return wire;
}

/** What a client has read, and who waits for it. */
class Inbox {
  readonly received: Message[] = [];
  readonly #answers = new Map<unknown, Message>();
  readonly #waiters = new Map<unknown, (message: Message) => void>();

  take(text: string): void {
    const message = JSON.parse(text) as Message;
    this.received.push(message);
    if (message.id === undefined || message.method !== undefined) return;
    this.#answers.set(message.id, message);
    this.#waiters.get(message.id)?.(message);
  }

  answer(id: number | string): Promise<Message> {
    const known = this.#answers.get(id);
    if (known !== undefined) return Promise.resolve(known);
    return new Promise((resolve) => this.#waiters.set(id, resolve));
  }
}

/** Writes, and waits as long as the other side takes nothing. False if patience ended. */
async function write(output: Writable, data: string | Buffer, patience?: number): Promise<boolean> {
  if (output.write(data)) return true;
  const signal = patience === undefined ? undefined : AbortSignal.timeout(patience);
  return await once(output, "drain", signal && { signal }).then(
    () => true,
    () => false,
  );
}

const PIECE = Buffer.alloc(1 << 20, " ");

async function writeSpaces(output: Writable, spaces: number): Promise<void> {
  for (let rest = spaces; rest > 0; rest -= PIECE.length) {
    if (output.destroyed) return;
    await write(output, PIECE.subarray(0, Math.min(rest, PIECE.length)));
  }
}

/** Sends many small messages in few writes. */
async function sendAll(
  output: Writable,
  texts: string[],
  frame: (text: string) => string,
  patience?: number,
): Promise<void> {
  for (let start = 0; start < texts.length; start += 500) {
    const batch = texts.slice(start, start + 500).map(frame);
    if (!(await write(output, batch.join(""), patience))) return;
  }
}

function overPipes(child: ChildProcess, transport: TransportName): Wire {
  const [input, output] = [child.stdin as Writable, child.stdout as Readable];
  input.on("error", () => {});
  const inbox = new Inbox();
  const hasHeaders = transport === "JSON-RPC";
  const header = (length: number) => (hasHeaders ? `Content-Length: ${length}\r\n\r\n` : "");
  const end = hasHeaders ? "" : "\n";
  const frame = (text: string) => `${header(Buffer.byteLength(text))}${text}${end}`;
  output.on(
    "data",
    (hasHeaders ? headers : lines)((text) => inbox.take(text)),
  );
  return {
    child,
    received: inbox.received,
    untaken: () => 0,
    answer: (id) => inbox.answer(id),
    send: (texts, patience) => sendAll(input, texts, frame, patience),
    async sendLong(text, spaces) {
      input.write(`${header(Buffer.byteLength(text) + spaces)}${text}`);
      await writeSpaces(input, spaces);
      input.write(end);
    },
    read: () => void output.resume(),
    stop: () => void output.pause(),
    leave: () => void input.end(),
    exit: once(child, "exit").then(([code]) => code as number | null),
  };
}

/** Cuts lines. */
function lines(take: (text: string) => void): (piece: Buffer) => void {
  let rest = "";
  return (piece) => {
    const parts = (rest + piece.toString("latin1")).split("\n");
    rest = parts.pop() as string;
    for (const part of parts) take(Buffer.from(part, "latin1").toString("utf8"));
  };
}

/** Cuts messages with headers. */
function headers(take: (text: string) => void): (piece: Buffer) => void {
  let rest = "";
  return (piece) => {
    rest += piece.toString("latin1");
    for (;;) {
      const [head, length] = /^Content-Length: (\d+)\r\n\r\n/.exec(rest) ?? [];
      if (head === undefined || rest.length < head.length + Number(length)) return;
      const text = rest.slice(head.length, head.length + Number(length));
      rest = rest.slice(head.length + Number(length));
      take(Buffer.from(text, "latin1").toString("utf8"));
    }
  };
}

/** The address of a server over HTTP, and its token. */
export async function addressOf(child: ChildProcess): Promise<{ port: number; token: string }> {
  const [line] = (await once(child.stdout as Readable, "data")) as [Buffer];
  const { port, searchParams } = new URL(String(line).trim());
  return { port: Number(port), token: searchParams.get("token") as string };
}

async function overHttp(child: ChildProcess): Promise<Wire> {
  const { port, token } = await addressOf(child);
  const inbox = new Inbox();
  const authorization = `Bearer ${token}`;
  const request = get({ port, host: "127.0.0.1", path: "/stream", headers: { authorization } });
  request.on("error", () => {});
  const [stream] = (await once(request, "response")) as [Readable];
  stream.on("error", () => {});
  stream.on(
    "data",
    lines((text) => inbox.take(text)),
  );
  while (inbox.received.length === 0) await once(stream, "data");
  const client = String(inbox.received[0]?.params?.client);
  const head = (length: number) =>
    `POST /messages HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: ${authorization}\r\n` +
    `Client: ${client}\r\nContent-Length: ${length}\r\n\r\n`;
  const frame = (text: string) => `${head(Buffer.byteLength(text))}${text}`;
  const posts = connection(port);
  let untaken = 0;
  posts.on(
    "data",
    lines((line) => {
      if (line.startsWith("HTTP/1.1 503 ")) untaken++;
    }),
  );
  return {
    child,
    received: inbox.received,
    untaken: () => untaken,
    answer: (id) => inbox.answer(id),
    send: (texts, patience) => sendAll(posts, texts, frame, patience),
    async sendLong(text, spaces) {
      // A connection of its own, because the server closes it.
      const own = connection(port);
      own.write(`${head(Buffer.byteLength(text) + spaces)}${text}`);
      await writeSpaces(own, spaces);
      own.end();
    },
    read: () => void stream.resume(),
    stop: () => void stream.pause(),
    leave: () => request.destroy(),
    exit: once(child, "exit").then(([code]) => code as number | null),
  };
}

function connection(port: number): Socket {
  const socket = createConnection(port, "127.0.0.1");
  socket.on("error", () => {});
  socket.resume();
  return socket;
}
