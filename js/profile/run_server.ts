/** Serves the profiles of a program that runs on this thread, from another thread: this one is busy with the program. */
import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  Worker,
} from "node:worker_threads";
import type { Profiler } from "../profile.js";
import type { HeapType } from "./handler.js";
import type { SampleValues } from "./heap_profile.js";
import { InstrumentedModule, type SiteTable } from "./program.js";

/** A request of the server's thread. */
export type ThreadRequest =
  | { what: "now" }
  | { what: "heap"; defaultType: HeapType; since: SampleValues | undefined }
  | { what: "heapText"; since: SampleValues | undefined }
  | { what: "script" };

/** A request with its number, by which the answer is found. */
export type Numbered = ThreadRequest & { id: number };

/** An answer to a request: its value, or why there is none. */
export interface Answered {
  id: number;
  value?: unknown;
  failure?: string;
}

/** What the server's thread is given. */
export interface ServerData {
  host: string;
  port: number;
  /** The requests and answers. */
  messages: MessagePort;
  /** A number that is not 0 if there are requests. */
  waiting: SharedArrayBuffer;
  name: string;
  wasm: Uint8Array<ArrayBuffer>;
  table: SiteTable;
  sourceMap: string | undefined;
}

/** What the server's thread tells outside of requests. */
export type ServerEvent = { listening: string } | { failure: string } | { closed: true };

/** Where to listen. */
export interface ServerAddress {
  host: string;
  port: number;
}

/** A server of the profiles of one run. {@link RunServer.start} starts it. */
export class RunServer {
  /** Where the profiles are. */
  readonly url: string;
  readonly #worker: Worker;
  readonly #messages: MessagePort;
  readonly #waiting: Int32Array;
  readonly #profiler: Profiler;

  private constructor(
    url: string,
    worker: Worker,
    messages: MessagePort,
    waiting: Int32Array,
    profiler: Profiler,
  ) {
    this.url = url;
    this.#worker = worker;
    this.#messages = messages;
    this.#waiting = waiting;
    this.#profiler = profiler;
  }

  /**
   * Listens at an address.
   *
   * @throws if that fails, as when another process has the port.
   */
  static async start(
    { host, port }: ServerAddress,
    profiler: Profiler,
    name: string,
  ): Promise<RunServer> {
    const { port1, port2 } = new MessageChannel();
    const waiting = new SharedArrayBuffer(4);
    const { program } = profiler;
    const data: ServerData = {
      host,
      port,
      messages: port2,
      waiting,
      name,
      wasm: program.wasm,
      table: InstrumentedModule.tableOf("program", program),
      sourceMap: InstrumentedModule.sourceMapOf(program),
    };
    const worker = new Worker(require.resolve("./server_thread.js"), {
      workerData: data,
      transferList: [port2],
    });
    const event = await nextEvent(worker);
    if ("listening" in event) {
      const server = new RunServer(
        event.listening,
        worker,
        port1,
        new Int32Array(waiting),
        profiler,
      );
      profiler.beforeSamples(() => server.answerWaiting());
      return server;
    }
    await worker.terminate();
    throw new Error(
      `cannot serve profiles at ${host}:${port}: ${"failure" in event ? event.failure : "the server ended"}`,
    );
  }

  /** Imports of the program that answer waiting requests when they are called. */
  answering<Import>(imports: Record<string, Import>): Record<string, Import> {
    const wrapped = Object.entries(imports).map(([name, called]) => {
      if (typeof called !== "function") return [name, called];
      const answering = (...args: unknown[]) => {
        this.answerWaiting();
        return called(...args);
      };
      return [name, answering];
    });
    return Object.fromEntries(wrapped);
  }

  /** Answers the requests that wait. */
  answerWaiting(): void {
    if (Atomics.load(this.#waiting, 0) === 0) return;
    for (;;) {
      const received = receiveMessageOnPort(this.#messages);
      if (received === undefined) return;
      Atomics.sub(this.#waiting, 0, 1);
      this.#answer(received.message as Numbered);
    }
  }

  #answer(asked: Numbered): void {
    const { id } = asked;
    let answered: Answered;
    try {
      answered = { id, value: this.#value(asked) };
    } catch (error) {
      answered = { id, failure: (error as Error).message };
    }
    this.#messages.postMessage(answered);
  }

  #value(asked: ThreadRequest): unknown {
    const served = this.#profiler.served();
    if (asked.what === "now") return served.now();
    if (asked.what === "heap") return served.heap(asked.defaultType, asked.since);
    if (asked.what === "heapText") return served.heapText(asked.since);
    return this.#profiler.scriptInfo();
  }

  /** Answers what was asked before the program ended, and ends the server. */
  async close(): Promise<void> {
    this.answerWaiting();
    this.#messages.on("message", (asked: Numbered) => this.#answer(asked));
    // A thread that ended by a fault has no number any more.
    if (this.#worker.threadId !== -1) {
      const closed = nextEvent(this.#worker);
      this.#worker.postMessage("end");
      await closed;
    }
    this.#messages.close();
    await this.#worker.terminate();
  }
}

function nextEvent(worker: Worker): Promise<ServerEvent> {
  return new Promise((resolve) => {
    worker.once("message", resolve);
    worker.once("error", (error: Error) => resolve({ failure: error.message }));
    worker.once("exit", () => resolve({ closed: true }));
  });
}
