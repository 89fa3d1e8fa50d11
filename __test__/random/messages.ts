/** What the judge and its workers tell each other. */

import type { Failure } from "./heap_judge.ts";

/** Which streams to judge: a run of seeds, each on the build at `seed` modulo their number. */
export interface Task {
  from: number;
  count: number;
}

export interface Report {
  judged: number;
  cut: number;
  failures: FailedStream[];
}

export interface FailedStream extends Failure {
  seed: number;
  build: string;
}
