/** The time limit of a leak test, and what it says of it. */
import { performance as clock } from "node:perf_hooks";
import * as timers from "node:timers";
import { HeapAnalyzerError } from "../errors.js";
import { formatCount } from "../units.js";

/** Taken here, because tests replace the timers of their file. */
const { setTimeout, clearTimeout } = timers;
const now = clock.now.bind(clock);

/** From this on, a test may be longer than a runner allows: by default mocha 2 s, vitest and jest 5 s. */
const SHORTEST_RUNNER_LIMIT = 2000;

/** How far a test is. */
export interface Rounds {
  /** Rounds that are done, with those of the warm-up. */
  done: number;
  warmup: number;
  /** All rounds, with those of the warm-up. */
  all: number;
}

/** Whether this process has said how long a test takes. */
let isSaid = false;

/** Watches the time of one test. */
export class TimeLimit {
  readonly #start = now();
  /** Milliseconds; `undefined` for none. */
  readonly #limit: number | undefined;
  readonly #isDefault: boolean;
  /** When the first measured round began. */
  #measured: number | undefined;

  constructor(limit: number | undefined, isDefault: boolean) {
    this.#limit = limit;
    this.#isDefault = isDefault;
  }

  /** Waits for a round, but not longer than to the limit. */
  async within<T>(work: T | PromiseLike<T>, rounds: Rounds): Promise<T> {
    if (this.#limit === undefined) return await work;
    const left = this.#start + this.#limit - now();
    let timer: NodeJS.Timeout | undefined;
    // A promise of its own for each round: one for all rounds would keep a reaction of each.
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(this.#error(rounds)), Math.max(0, left));
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Called before each round. Ends the test if its time is over. */
  check(rounds: Rounds): void {
    const time = now();
    if (rounds.done === rounds.warmup) this.#measured = time;
    if (this.#limit !== undefined && time - this.#start > this.#limit) throw this.#error(rounds);
    if (rounds.done === rounds.warmup + 1) this.#say(time, rounds);
  }

  /** Once a process, says how long a test takes whose runner may end it sooner. */
  #say(time: number, rounds: Rounds): void {
    const perRound = time - (this.#measured ?? time);
    const expected = time - this.#start + perRound * (rounds.all - rounds.done);
    if (!this.#isDefault || this.#limit === undefined || isSaid) return;
    if (expected < SHORTEST_RUNNER_LIMIT) return;
    isSaid = true;
    console.warn(
      `expectNoLeak: this test takes about ${seconds(expected)}, and at most ${seconds(this.#limit)}; ` +
        "give its test TIME_LIMIT as the time limit: without it vitest and jest end a test after 5 s, " +
        "and mocha after 2 s; with timeLimit this note is not printed",
    );
  }

  #error({ done, warmup, all }: Rounds): HeapAnalyzerError {
    const measured = Math.max(0, done - warmup);
    return new HeapAnalyzerError(
      "ERR_TIME_LIMIT",
      `the leak test has not ended within its time limit of ${seconds(this.#limit ?? 0)}: ` +
        `${formatCount(measured)} of ${formatCount(all - warmup)} measured rounds are done; ` +
        "let a round do less, lower rounds, or raise timeLimit",
    );
  }
}

function seconds(milliseconds: number): string {
  return milliseconds < 10_000
    ? `${(milliseconds / 1000).toFixed(1)} s`
    : `${formatCount(Math.round(milliseconds / 1000))} s`;
}
