/** The engine in a worker of this page: files are opened here, and nothing leaves the page. */
import type { FromWorker, OpenFile, ToWorker } from "../app/messages.ts";
import type { Method, Methods, Status } from "../explorer/methods.js";
import { type Report, unpackReport } from "./data.ts";
import { element } from "./dom.ts";
import type { Questions } from "./questions.ts";

interface PendingAnswer {
  resolve: (result: never) => void;
  reject: (error: Error) => void;
}

/** What the page has inside, compressed. */
export interface Engine {
  module: string;
  worker: string;
}

/** The engine inside this page, if there is one. The elements go when something is shown. */
export function engineInside(): Engine | undefined {
  const [module, worker] = ["module", "worker"].map((id) => document.getElementById(id));
  if (!module || !worker) return undefined;
  return { module: module.textContent, worker: worker.textContent };
}

export class AppQuestions implements Questions {
  readonly isComplete = true;
  readonly editor = null;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, PendingAnswer>();
  readonly #stop = element("button", { type: "button", class: "stop" }, "Cancel");
  #lastId = 0;
  /** The last that the worker said: while it works, it does not answer. */
  #status: Status | undefined;

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.addEventListener("message", ({ data }: MessageEvent<FromWorker>) => this.#receive(data));
    // The worker ends with the page.
    this.#stop.addEventListener("click", () => location.reload());
    document.body.append(this.#stop);
  }

  /** Starts the engine, and has it read these files. */
  static async start(engine: Engine, files: OpenFile[]): Promise<AppQuestions> {
    const script = new Blob([await unpacked(engine.worker)], { type: "text/javascript" });
    const address = URL.createObjectURL(script);
    const questions = new AppQuestions(new Worker(address));
    const module = await unpacked(engine.module);
    questions.#send({ kind: "start", module, files }, [module.buffer]);
    return questions;
  }

  ask<M extends Method>(
    method: M,
    params: Methods[M]["request"],
    signal?: AbortSignal,
  ): Promise<Methods[M]["answer"]> {
    if (method === "status") return Promise.resolve(this.#known() as Methods[M]["answer"]);
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send({ kind: "ask", id, method, params });
      signal?.addEventListener("abort", () => {
        if (!this.#waiting.delete(id)) return;
        this.#send({ kind: "cancel", id });
        reject(new DOMException("The answer is not wanted any more.", "AbortError"));
      });
    });
  }

  async report({ heap, before }: Status): Promise<Report> {
    return unpackReport(await this.ask("report", { heap: heap ?? "", before }));
  }

  #known(): Status {
    const nothing = { dumps: [], heap: null, before: null, profiled: null, canTake: false };
    return this.#status ?? { ...nothing, reading: { name: "files", fraction: 0 }, failures: [] };
  }

  #send(message: ToWorker, transfer: Transferable[] = []): void {
    this.#worker.postMessage(message, transfer);
  }

  #receive(message: FromWorker): void {
    switch (message.kind) {
      case "status":
        this.#status = message.status;
        if (message.status.reading !== null) break;
        if (message.status.heap === null) this.#stop.textContent = "Choose other files";
        else this.#stop.remove();
        break;
      case "progress":
        if (this.#status?.reading) this.#status.reading.fraction = message.fraction;
        break;
      case "broken": {
        const failure = { name: "The engine", message: message.message };
        this.#status = { ...this.#known(), reading: null, failures: [failure] };
        break;
      }
      default: {
        const waiting = this.#waiting.get(message.id);
        this.#waiting.delete(message.id);
        if (message.kind === "answer") waiting?.resolve(message.result as never);
        else waiting?.reject(new Error(message.message));
      }
    }
  }
}

async function unpacked(base64: string): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const contents = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(contents).arrayBuffer());
}
