/** What goes to a client, and what waits to be read by it. */
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { ENDED_PATIENCE, PATIENCE, UNREAD_BYTES } from "../../../js/served/limits.ts";
import type { ReceivedText } from "../../../js/served/received.ts";
import { Ahead } from "./ahead.mts";
import type { Framing } from "./frames.mts";

/** Milliseconds between two looks at whether a client reads. */
const LOOK_INTERVAL = 1000;

export class Outlet {
  readonly #output: Writable;
  readonly #closed = new AbortController();
  /** Bytes. */
  #sent = 0;

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
    this.#sent += Buffer.byteLength(text);
    this.#output.write(text);
  }

  /** Whether so much waits to be read that the client gets no more work done. */
  get isFull(): boolean {
    return this.#output.writableLength > UNREAD_BYTES;
  }

  /** Waits until a client that is behind has read. One that reads nothing for long is gone. */
  async #room(ahead: Ahead): Promise<void> {
    let read = this.#read;
    let since = performance.now();
    while (this.isFull && !this.#closed.signal.aborted) {
      const signal = AbortSignal.any([this.#closed.signal, AbortSignal.timeout(LOOK_INTERVAL)]);
      await once(this.#output, "drain", { signal }).catch(() => {});
      if (this.#read > read) {
        read = this.#read;
        since = performance.now();
      }
      const patience = ahead.hasEnded ? ENDED_PATIENCE : PATIENCE;
      if (performance.now() - since >= patience) this.#closed.abort();
    }
  }

  /** The bytes that the client has read, as far as that is known. */
  get #read(): number {
    return this.#sent - this.#output.writableLength;
  }

  /** Passes the messages of a client on, one by one, as long as it reads what it gets. Ends when the client does. */
  async serve(
    input: Readable,
    framing: Framing,
    receive: (frame: ReceivedText) => void,
  ): Promise<void> {
    const ahead = new Ahead(input);
    this.#closed.signal.addEventListener("abort", () => input.destroy(), { once: true });
    if (this.#closed.signal.aborted) return;
    for await (const piece of ahead.pieces()) {
      for (const frame of framing.read(piece)) {
        if (this.isFull) await this.#room(ahead);
        if (this.#closed.signal.aborted) return;
        receive(frame);
      }
    }
  }
}
