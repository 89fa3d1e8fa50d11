// A connection to an inspector (the protocol of Chrome DevTools), with one session per thread. The other side
// is not trusted: the size of a message is bounded, every call has a time limit, and answers are read with
// `answer.ts`.

import { WebSocket } from "ws";
import { HeapAnalyzerError } from "../errors.js";
import { answerError, at, quoted, type UncheckedAnswer } from "./answer.js";

/** The most bytes of one message. The largest are pieces of a memory, which have 11 MiB. */
const MAX_MESSAGE = 256 * 1024 * 1024;

/**
 * A method for which the target stands still. Of most others the time is that of the connection: the system may hold back
 * a short answer for 40 ms.
 */
const STOPS = "Runtime.queryObjects";

/** Calls methods in one thread of the target, and hears its events. */
export interface Session {
  /** How long the target may take for one answer, in milliseconds. */
  readonly timeout: number;
  /** Whether the time of the thread is counted as a whole, as that of a pause, and not by single calls. */
  isTimed: boolean;
  /** Counts milliseconds for which the thread stood still or was slow. */
  count(time: number): void;
  /** Calls a method. The time limit is the connection's. */
  call(method: string, parameters?: object): Promise<UncheckedAnswer>;
  /** Calls `listener` with the parameters of each such event, until the function that it returns is called. */
  on(event: string, listener: (parameters: UncheckedAnswer) => void): () => void;
}

interface PendingRequest {
  method: string;
  start: number;
  resolve(answer: UncheckedAnswer): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
}

/** Sends the calls of one session, and settles them when their answers arrive. */
class Calls implements Session {
  readonly #send: (message: object) => void;
  readonly timeout: number;
  isTimed = false;
  readonly count: (time: number) => void;
  readonly #waiting = new Map<number, PendingRequest>();
  readonly #listeners = new Map<string, ((parameters: UncheckedAnswer) => void)[]>();
  #last = 0;

  constructor(send: (message: object) => void, timeout: number, count: (time: number) => void) {
    this.#send = send;
    this.timeout = timeout;
    this.count = count;
  }

  call(method: string, parameters: object = {}): Promise<UncheckedAnswer> {
    return new Promise((resolve, reject) => {
      const id = ++this.#last;
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(
          new HeapAnalyzerError(
            "ERR_ATTACH_TIMEOUT",
            `the target did not answer ${method} within ${this.timeout} ms`,
          ),
        );
      }, this.timeout);
      this.#waiting.set(id, { method, start: performance.now(), resolve, reject, timer });
      this.#send({ id, method, params: parameters });
    });
  }

  on(event: string, listener: (parameters: UncheckedAnswer) => void): () => void {
    const others = () => (this.#listeners.get(event) ?? []).filter((other) => other !== listener);
    this.#listeners.set(event, [...others(), listener]);
    return () => this.#listeners.set(event, others());
  }

  /** Takes a message of the target: an answer, or an event. */
  receive(message: {
    id?: unknown;
    method?: unknown;
    result?: unknown;
    params?: unknown;
    error?: unknown;
  }) {
    if (typeof message.id !== "number") {
      for (const listener of this.#listeners.get(String(message.method)) ?? []) {
        listener(message.params);
      }
      return;
    }
    const waiting = this.#waiting.get(message.id);
    if (waiting === undefined) return;
    this.#waiting.delete(message.id);
    clearTimeout(waiting.timer);
    if (waiting.method === STOPS && !this.isTimed) this.count(performance.now() - waiting.start);
    if (message.error === undefined) return waiting.resolve(message.result);
    const reason = at(message.error, "message");
    waiting.reject(answerError(waiting.method, `refused it: ${quoted(reason)}`));
  }

  /** Fails everything that waits. */
  end(error: Error): void {
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(error);
    }
    this.#waiting.clear();
  }
}

/** A connection, and its sessions. */
export class Connection {
  readonly #socket: WebSocket;
  readonly #timeout: number;
  /** The session of the target itself. */
  readonly main: Calls;
  readonly #sessions = new Map<string, Calls>();
  readonly #all: Calls[] = [];
  /** Milliseconds for which the target has stood still or was slow so far, as far as the connection can tell. */
  stopped = 0;
  /** Why the connection ended. */
  #ended: Error | undefined;

  private constructor(socket: WebSocket, timeout: number) {
    this.#socket = socket;
    this.#timeout = timeout;
    this.main = this.#calls((message) => socket.send(JSON.stringify(message)));
    socket.on("message", (data) => {
      try {
        this.#receive(String(data));
      } catch (error) {
        // An event that is not as it should be, for which nothing waits.
        this.#end(error as Error);
      }
    });
    socket.on("error", (error) => this.#end(answerError("the connection", error.message)));
    socket.on("close", () => this.#end(answerError("the connection", "was closed by the target")));
  }

  #receive(text: string): void {
    const message = parsed(text);
    if (message === undefined)
      throw answerError("the connection", "sent a message that is not JSON");
    if (typeof message.sessionId === "string") {
      this.#sessions.get(message.sessionId)?.receive(message);
    } else {
      this.main.receive(message);
    }
  }

  /** Opens a connection to an address that the caller checked. */
  static open(url: string, timeout: number): Promise<Connection> {
    const socket = new WebSocket(url, {
      followRedirects: false,
      handshakeTimeout: timeout,
      maxPayload: MAX_MESSAGE,
      perMessageDeflate: false,
    });
    return new Promise((resolve, reject) => {
      socket.once("open", () => resolve(new Connection(socket, timeout)));
      socket.once("error", (error) =>
        reject(
          new HeapAnalyzerError("ERR_ATTACH_TARGET", `cannot connect to ${url}: ${error.message}`, {
            cause: error,
          }),
        ),
      );
    });
  }

  /** The session of a thread of Chromium, whose messages carry its id. */
  child(sessionId: string): Session {
    const calls = this.#calls((message) =>
      this.#socket.send(JSON.stringify({ ...message, sessionId })),
    );
    this.#sessions.set(sessionId, calls);
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
      receive: (text) => {
        const message = parsed(text);
        if (message !== undefined) calls.receive(message);
      },
    };
  }

  #calls(send: (message: object) => void): Calls {
    const calls = new Calls(
      (message) => {
        if (this.#ended !== undefined) calls.end(this.#ended);
        else send(message);
      },
      this.#timeout,
      (time) => {
        this.stopped += time;
      },
    );
    this.#all.push(calls);
    return calls;
  }

  #end(error: Error): void {
    this.#ended ??= error;
    for (const calls of this.#all) calls.end(this.#ended);
    this.#socket.terminate();
  }

  /** Closes the connection. What waits fails. */
  close(): void {
    this.#end(answerError("the connection", "was closed"));
  }
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const message: unknown = JSON.parse(text);
    return typeof message === "object" && message !== null
      ? (message as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
