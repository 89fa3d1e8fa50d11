/** A thread of the judge, as seen from outside. A stream that never ends cannot stop the judge. */

import { Worker } from "node:worker_threads";

import { noCuts } from "./cut_judge.ts";
import type { Outcome } from "./heap_judge.ts";
import type { SmallSeed } from "./small_build.ts";
import type { SmallReport } from "./small_report.ts";
import type { Step } from "./stream.ts";

/** A stream of operations for the random program. */
export interface StreamTask {
  /** The name of a build. */
  build: string;
  steps: Step[];
  /** Whether answers about single objects are judged too. */
  answers: boolean;
}

/** A build of a small program. */
export interface SmallTask {
  smallSeed: SmallSeed;
}

export type Task = StreamTask | SmallTask;

/** A stream takes some milliseconds; the first one on a build waits for the compilation. */
const LONGEST_STREAM_SECONDS = 120;
/** Optimisers can take long. */
const LONGEST_BUILD_SECONDS = 150;

export class JudgeThread {
  #worker: Worker | undefined;

  async judge(task: StreamTask): Promise<Outcome> {
    const outcome = await this.#ask<Outcome>(task, LONGEST_STREAM_SECONDS);
    if (outcome) return outcome;
    await this.close();
    const message = `${task.build}: the stream does not end within ${LONGEST_STREAM_SECONDS} s`;
    return {
      judged: 0,
      cut: 0,
      answers: noCuts(),
      failure: { by: "program", message, isFalseAlarm: false },
    };
  }

  /** Undefined if the build takes too long. */
  async judgeSmall(smallSeed: SmallSeed): Promise<SmallReport | undefined> {
    const report = await this.#ask<SmallReport>({ smallSeed }, LONGEST_BUILD_SECONDS);
    if (!report) await this.close();
    return report;
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
    this.#worker = undefined;
  }

  /** Undefined if it takes too long. */
  #ask<Answer>(task: Task, longestSeconds: number): Promise<Answer | undefined> {
    this.#worker ??= new Worker(new URL("./worker.mjs", import.meta.url));
    const worker = this.#worker;
    return new Promise((resolve, reject) => {
      const settle = () => {
        clearTimeout(timer);
        worker.off("message", onOutcome).off("error", onError);
      };
      const onOutcome = (outcome?: Answer) => {
        settle();
        resolve(outcome);
      };
      const onError = (error: Error) => {
        settle();
        reject(error);
      };
      const timer = setTimeout(onOutcome, 1000 * longestSeconds);
      worker.on("message", onOutcome).on("error", onError);
      worker.postMessage(task);
    });
  }
}
