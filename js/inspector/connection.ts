// The gate to an inspector (the protocol of Chrome DevTools): all that is said to one and heard of one passes here. The
// other side is not trusted. Its messages are parsed within bounds, what they have is read by the shapes of
// `protocol.ts`, each call ends at the time of silence, and all work at its deadline.

import { HeapAnalyzerError } from "../errors.js";
import { answerError, at } from "./answer.js";
import { type MessageBounds, parseWithin } from "./bounded_json.js";
import { Calls, type Session } from "./calls.js";
import { MOST_BYTES, together } from "./protocol.js";
import { type Hearing, openSocket, type Transport } from "./transport.js";

/** How long the target may take. */
export interface Patience {
  /** To answer, in milliseconds. */
  silence: number;
  /** For everything that one call of the API does with it, in milliseconds. */
  whole: number;
  /** What the deadline is for: each piece of work, or all of them together. */
  deadlineFor: "each work" | "all work";
  /** Ends everything. */
  signal?: AbortSignal | undefined;
}

/** A connection, and its sessions. */
export class Connection {
  readonly #transport: Transport;
  readonly #patience: Patience;
  /** The session of the target itself. */
  readonly main: Calls;
  readonly #children = new Map<string, Calls>();
  readonly #all: Calls[] = [];
  /** Milliseconds for which the target has stood still or was slow so far, as far as the connection can tell. */
  stopped = 0;
  /** Why the connection ended. */
  #ended: Error | undefined;
  /** Resolves when the target knows. */
  #ending: Promise<void> | undefined;
  /** What the messages may have that are awaited, and how many such there are. */
  readonly #awaited = new Map<MessageBounds, number>();
  #works = 0;
  #deadline: NodeJS.Timeout | undefined;
  readonly #abort = () => this.#end(abortError(this.#patience.signal));

  /** @param transport is open. What it hears goes to `hearing`. */
  constructor(transport: Transport, patience: Patience) {
    this.#transport = transport;
    this.#patience = patience;
    this.main = this.#calls((message) => transport.send(JSON.stringify(message)));
    patience.signal?.addEventListener("abort", this.#abort, { once: true });
    if (patience.signal?.aborted) this.#abort();
    if (patience.deadlineFor === "all work") this.#begin();
  }

  /** Opens a connection to an address that the caller checked. */
  static async open(url: string, patience: Patience): Promise<Connection> {
    const { signal } = patience;
    const time = Math.min(patience.silence, patience.whole);
    return await openSocket(
      url,
      { time, bytes: MOST_BYTES, signal },
      () => abortError(signal),
      (transport) => new Connection(transport, patience),
    );
  }

  /** Hears what the target sends. Whatever it is, nothing is thrown. */
  readonly hearing: Hearing = {
    message: (bytes) => {
      if (this.#ended !== undefined) return;
      try {
        this.#receive(bytes);
      } catch (error) {
        // A message that nothing waits for, or for which it is not known what does.
        this.#end(error as Error);
      }
    },
    ended: (reason) => this.#end(answerError("the connection", reason)),
  };

  #receive(bytes: Uint8Array): void {
    const message = this.#parsed(bytes);
    const session = at(message, "sessionId");
    if (typeof session !== "string") this.main.receive(message);
    else this.#children.get(session)?.receive(message);
  }

  #parsed(bytes: Uint8Array): object {
    const message = parseWithin(bytes, "the connection", together(this.#awaited.keys()));
    if (typeof message === "object" && message !== null) return message;
    throw answerError("the connection", "sent a message that is no object");
  }

  /** The session of a thread of Chromium, whose messages carry its id. */
  child(sessionId: string): Session {
    const calls = this.#calls((message) =>
      this.#transport.send(JSON.stringify({ ...message, sessionId })),
    );
    this.#children.set(sessionId, calls);
    return calls;
  }

  /** The session of a worker of Node, whose messages travel inside messages of the main thread. */
  worker(sessionId: string): { session: Session; receive(message: string): void } {
    const calls = this.#calls((message) => {
      const parameters = { sessionId, message: JSON.stringify(message) };
      this.main
        .call("NodeWorker.sendMessageToWorker", parameters)
        .catch((error) => calls.end(error));
    });
    return {
      session: calls,
      receive: (text) => calls.receive(this.#parsed(Buffer.from(text))),
    };
  }

  #calls(send: (message: object) => void): Calls {
    const calls: Calls = new Calls({
      send,
      silence: this.#patience.silence,
      count: (time) => {
        this.stopped += time;
      },
      awaits: (bounds, isAwaited) => {
        const number = (this.#awaited.get(bounds) ?? 0) + (isAwaited ? 1 : -1);
        if (number > 0) this.#awaited.set(bounds, number);
        else this.#awaited.delete(bounds);
      },
      // A worker that is silent is left out; without the target itself nothing can be done.
      isSilent: (error) => {
        if (calls === this.main) this.#end(error);
      },
      abandon: () => void this.close(),
    });
    if (this.#ended !== undefined) calls.end(this.#ended);
    this.#all.push(calls);
    return calls;
  }

  /** Does some work, which the deadline ends. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#begin();
    try {
      return await work();
    } finally {
      if (--this.#works === 0) clearTimeout(this.#deadline);
    }
  }

  #begin(): void {
    if (this.#works++ > 0) return;
    const { whole } = this.#patience;
    this.#deadline = setTimeout(
      () =>
        this.#end(
          new HeapAnalyzerError(
            "ERR_ATTACH_TIMEOUT",
            `the target took more than ${whole} ms for everything`,
          ),
        ),
      whole,
    );
  }

  /** Fails if the connection has ended, so that work without calls ends too. */
  check(): void {
    if (this.#ended !== undefined) throw this.#ended;
  }

  #end(error: Error): void {
    if (this.#ended !== undefined) return;
    this.#ended = error;
    clearTimeout(this.#deadline);
    this.#patience.signal?.removeEventListener("abort", this.#abort);
    for (const calls of this.#all) calls.end(error);
    this.#ending = this.#transport.end();
  }

  /** Closes the connection. What waits fails at once. Resolves when the target knows, or after a short time. */
  async close(): Promise<void> {
    this.#end(answerError("the connection", "was closed"));
    await this.#ending;
  }
}

/** What work rejects with that was aborted, as in Node. */
export function abortError(signal: AbortSignal | undefined): HeapAnalyzerError {
  const cause: unknown = signal?.reason;
  const error = new HeapAnalyzerError("ABORT_ERR", "The operation was aborted", { cause });
  return Object.assign(error, { name: "AbortError" });
}
