// What grows over many dumps of programs of the real compiler.

import { describe, expect, test } from "vitest";
import { judgeGrowth, LEAKS, planGrowth, runGrowth } from "./random/growth_judge.ts";

/** `npm run judge -- --growth` judges as many as it is asked to. */
const SEEDS = 6;

describe.each(LEAKS)("a leak of the kind %s", (name) => {
  test("is named with its root, its class and its rate, and nothing else is", async () => {
    const plan = {
      seed: 1,
      optimised: false,
      leaks: [{ name, most: 5 }],
      noise: planGrowth(0).noise.map(() => 20),
    };
    expect(judgeGrowth(plan, await runGrowth(plan))).toBeUndefined();
  });
});

test("random leaks are all named beside steady parts, which are not", async () => {
  for (let seed = 0; seed < SEEDS; seed++) {
    const plan = planGrowth(seed);
    const failure = judgeGrowth(plan, await runGrowth(plan));
    expect({ seed, failure }).toEqual({ seed, failure: undefined });
  }
});
