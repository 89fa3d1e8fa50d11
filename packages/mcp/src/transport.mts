/**
 * The standard streams as the transport of MCP. Unlike the transport of the SDK it answers what it cannot
 * read, survives messages of any size, and holds back a client that asks faster than it reads.
 */
import type { Readable, Writable } from "node:stream";
import {
  type JSONRPCMessage,
  ProtocolErrorCode,
  parseJSONRPCMessage,
  type Transport,
} from "@modelcontextprotocol/server";

/** A request is small: paths, handles, names. */
const LONGEST_MESSAGE = 256 * 1024;
/** Requests that wait for their answers. */
const MOST_PENDING = 128;
/** The code for a request that can be sent again later. */
const BUSY = -32000;
/** Characters of an error's message. */
const LONGEST_ERROR = 1000;

export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #pending = new Set<string | number>();
  #line: Buffer[] = [];
  #length = 0;
  #isClosed = false;

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
  }

  async start(): Promise<void> {
    this.#input.on("data", this.#read);
    this.#input.on("end", this.#end);
    this.#input.on("close", this.#end);
    this.#input.on("error", this.#end);
    this.#output.on("error", this.#end);
    this.#output.on("drain", this.#resume);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if ("id" in message && !("method" in message) && message.id !== undefined) {
      this.#pending.delete(message.id);
    }
    this.#write(message);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#input.off("data", this.#read);
    this.#input.destroy();
    this.#line = [];
    this.onclose?.();
  }

  #write(message: JSONRPCMessage): void {
    if (this.#isClosed || !this.#output.writable) return;
    if ("error" in message && message.error.message.length > LONGEST_ERROR) {
      message.error.message = `${message.error.message.slice(0, LONGEST_ERROR)}…`;
    }
    // Progress is of no use later.
    if (!("id" in message || "error" in message) && this.#output.writableNeedDrain) return;
    // A client that does not read gets no more work done.
    if (!this.#output.write(`${JSON.stringify(message)}\n`)) this.#input.pause();
  }

  #fail(code: number, message: string, id?: string | number): void {
    this.#write({ jsonrpc: "2.0", ...(id !== undefined && { id }), error: { code, message } });
  }

  readonly #resume = () => {
    if (!this.#isClosed) this.#input.resume();
  };

  readonly #end = () => {
    void this.close();
  };

  readonly #read = (chunk: Buffer) => {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(0x0a, start);
      const part = chunk.subarray(start, end < 0 ? undefined : end);
      this.#length += part.length;
      // The rest of a line that is too long is not kept.
      if (this.#length <= LONGEST_MESSAGE) this.#line.push(part);
      if (end < 0) return;
      const line = Buffer.concat(this.#line);
      const isTooLong = this.#length > LONGEST_MESSAGE;
      this.#line = [];
      this.#length = 0;
      if (isTooLong) {
        const limit = `a message has at most ${LONGEST_MESSAGE} bytes`;
        this.#fail(ProtocolErrorCode.InvalidRequest, `Invalid request: ${limit}`);
      } else {
        this.#receive(line.toString("utf8").trim());
      }
      start = end + 1;
    }
  };

  #receive(line: string): void {
    if (line === "") return;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      this.#fail(ProtocolErrorCode.ParseError, "Parse error: a line is not JSON");
      return;
    }
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(value);
    } catch {
      const { id } = Object(value) as { id?: unknown };
      const known = typeof id === "string" || Number.isSafeInteger(id) ? (id as string) : undefined;
      this.#fail(
        ProtocolErrorCode.InvalidRequest,
        "Invalid request: a line is not a message of JSON-RPC 2.0",
        known,
      );
      return;
    }
    if ("method" in message && "id" in message) {
      const { id } = message;
      if (this.#pending.has(id)) {
        this.#fail(ProtocolErrorCode.InvalidRequest, "Invalid request: its id is in use", id);
        return;
      }
      if (this.#pending.size >= MOST_PENDING) {
        this.#fail(BUSY, `Busy: ${MOST_PENDING} requests wait for their answers`, id);
        return;
      }
      this.#pending.add(id);
    } else if ("method" in message && message.method === "notifications/cancelled") {
      // It is not answered any more.
      const { requestId } = Object(message.params) as { requestId?: string | number };
      if (requestId !== undefined) this.#pending.delete(requestId);
    }
    this.onmessage?.(message);
  }
}
