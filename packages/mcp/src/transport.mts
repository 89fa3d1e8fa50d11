/**
 * The standard streams as the transport of MCP. Unlike the transport of the SDK it answers what it cannot
 * read, survives messages of any size, and holds back a client that asks faster than it reads.
 */
import type { Readable, Writable } from "node:stream";
import {
  type JSONRPCMessage,
  parseJSONRPCMessage,
  type Transport,
} from "@modelcontextprotocol/server";
import { Lines } from "./frames.mts";
import { Intake, type Protocol, withShortError } from "./intake.mts";
import { Outlet } from "./outlet.mts";
import type { Waiting } from "./waiting.mts";

const PROTOCOL: Protocol<JSONRPCMessage> = {
  hasNullId: false,
  cancel: { method: "notifications/cancelled", id: "requestId" },
  answersCancelled: false,
  parse: parseJSONRPCMessage,
  isNotification: () => true,
};

export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #input: Readable;
  readonly #outlet: Outlet;
  readonly #waiting: Waiting;
  #isClosed = false;

  constructor(input: Readable, output: Writable, waiting: Waiting) {
    this.#input = input;
    this.#outlet = new Outlet(output, () => void this.close());
    this.#waiting = waiting;
  }

  async start(): Promise<void> {
    const intake = new Intake(
      PROTOCOL,
      this.#waiting,
      (message) => this.onmessage?.(message),
      (refusal) => this.#write(refusal),
    );
    const served = this.#outlet.serve(this.#input, new Lines(), (frame) => intake.receive(frame));
    void served.catch((error) => this.onerror?.(error)).then(() => this.close());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const isAnswer = "id" in message && !("method" in message);
    if (isAnswer && message.id !== undefined) this.#waiting.answered(message.id);
    this.#write(message);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#input.destroy();
    this.onclose?.();
  }

  #write(message: object): void {
    if (this.#isClosed) return;
    const isReport = !("id" in message || "error" in message);
    this.#outlet.send(`${JSON.stringify(withShortError(message))}\n`, isReport);
  }
}
