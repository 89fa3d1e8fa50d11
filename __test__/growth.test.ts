// What grows over many dumps of programs of the real compiler.

import { describe, expect, test } from "vitest";
import {
  CACHE_NOISE,
  judgeGrowth,
  LEAKS,
  type LeakName,
  planGrowth,
  runGrowth,
} from "./random/growth_judge.ts";

/** `npm run judge -- --growth` judges as many as it is asked to. */
const SEEDS = 6;

/** What each kind of leak is, and what a simpler definition of growth gets wrong about it. */
const KINDS: Record<LeakName, string> = {
  listeners: "a list of listeners, beside a list of the same class that does not leak",
  sessions: "a map keyed by id, beside a bounded cache of the same class",
  chain: "a linked list on a static field",
  pins: "pinned objects",
  tokens: "a set of strings",
  closures: "closures over objects",
  text: "a string that grows by a few characters",
  views: "views on large buffers",
  raw: "raw blocks that are never freed",
  samples: "an array of numbers, whose buffer doubles once in many rounds",
  seen: "a map of numbers",
  histories: "histories of users that move between two lists every round",
  registry: "a registry of objects that a cache at the same distance holds too",
  connections: "a doubly linked list",
  jobs: "objects whose parts refer back to them, and they to their parent",
  alternating: "a chain of two classes in turns",
  tree: "a binary tree",
  table: "a hash table with chains",
};

describe.each(LEAKS.map((name) => [KINDS[name], name] as const))("%s", (_, name) => {
  test("is named with its root, its class and its rate, and nothing else is", async () => {
    const plan = planGrowth(0);
    const noise = plan.noise.map((_, kind) => (kind === CACHE_NOISE ? 4 : 20));
    const leaking = { ...plan, leaks: [{ name, most: 5 }], noise };
    expect(judgeGrowth(leaking, await runGrowth(leaking))).toBeUndefined();
  });
});

test("random leaks are all named beside steady parts, which are not", async () => {
  for (let seed = 0; seed < SEEDS; seed++) {
    const plan = planGrowth(seed);
    const failure = judgeGrowth(plan, await runGrowth(plan));
    expect({ seed, failure }).toEqual({ seed, failure: undefined });
  }
});
