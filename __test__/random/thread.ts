/** A thread of the judge, as seen from outside. A stream that never ends cannot stop the judge. */

import { Worker } from "node:worker_threads";

import type { Outcome } from "./heap_judge.ts";
import type { Step } from "./stream.ts";

export interface Task {
  /** The name of a build. */
  build: string;
  steps: Step[];
}

/** A stream takes some milliseconds; the first one on a build waits for that. */
const LONGEST_SECONDS = 30;

export class JudgeThread {
  #worker: Worker | undefined;

  async judge(task: Task): Promise<Outcome> {
    const outcome = await this.#ask(task);
    if (outcome) return outcome;
    await this.close();
    const message = `${task.build}: the stream does not end within ${LONGEST_SECONDS} s`;
    return { judged: 0, cut: 0, failure: { by: "program", message } };
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
    this.#worker = undefined;
  }

  /** Nothing if it takes too long. */
  #ask(task: Task): Promise<Outcome | undefined> {
    this.#worker ??= new Worker(new URL("./worker.mjs", import.meta.url));
    const worker = this.#worker;
    return new Promise((resolve, reject) => {
      const settle = () => {
        clearTimeout(timer);
        worker.off("message", onOutcome).off("error", onError);
      };
      const onOutcome = (outcome?: Outcome) => {
        settle();
        resolve(outcome);
      };
      const onError = (error: Error) => {
        settle();
        reject(error);
      };
      const timer = setTimeout(onOutcome, 1000 * LONGEST_SECONDS);
      worker.on("message", onOutcome).on("error", onError);
      worker.postMessage(task);
    });
  }
}
