/** What goes to a client, and what waits to be read by it. */
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { UNREAD_BYTES } from "../../../js/served/limits.ts";
import type { Frame } from "../../../js/served/received.ts";
import type { Framing } from "./frames.mts";

export class Outlet {
  readonly #output: Writable;
  readonly #closed = new AbortController();

  /** `onClosed` is called when the client no longer reads, at most once. */
  constructor(output: Writable, onClosed: () => void) {
    this.#output = output;
    const close = () => this.#closed.abort();
    this.#closed.signal.addEventListener("abort", onClosed, { once: true });
    output.on("error", close);
    output.on("close", close);
  }

  /** Sends text. A report is left out if the client is behind: it is of no use later. */
  send(text: string, isReport = false): void {
    if (this.#closed.signal.aborted || !this.#output.writable) return;
    if (isReport && this.#output.writableNeedDrain) return;
    this.#output.write(text);
  }

  /** Whether so much waits to be read that the client gets no more work done. */
  get isFull(): boolean {
    return this.#output.writableLength > UNREAD_BYTES;
  }

  /** Waits until a client that is behind has read. */
  async room(): Promise<void> {
    while (this.isFull && !this.#closed.signal.aborted) {
      await once(this.#output, "drain", { signal: this.#closed.signal }).catch(() => {});
    }
  }

  /** Passes the messages of a client on, one by one, as long as it reads what it gets. Ends when the client does. */
  async serve(input: Readable, framing: Framing, receive: (frame: Frame) => void): Promise<void> {
    const end = () => input.destroy();
    this.#closed.signal.addEventListener("abort", end, { once: true });
    try {
      for await (const piece of input as AsyncIterable<Buffer>) {
        for (const frame of framing.read(piece)) {
          if (this.isFull) await this.room();
          if (this.#closed.signal.aborted) return;
          receive(frame);
        }
      }
    } catch (error) {
      // However the stream ended, the client is gone. Other errors are of its messages.
      const { code } = error as { code?: unknown };
      if (error !== input.errored && code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
    }
  }
}
