// What grows over many dumps of programs of the real compiler.

import { growth } from "@warpo/heap-analyzer";
import { describe, expect, test } from "vitest";
import {
  CACHE_NOISE,
  judgeGrowth,
  LEAKS,
  type LeakName,
  planGrowth,
  runGrowth,
  startLeaks,
  takeTable,
} from "./random/growth_judge.ts";
import { rounds, someOf } from "./support/nightly.ts";

/** `npm run judge -- --growth` judges as many as it is asked to. */
const SEEDS = rounds(6, 2);

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

describe.each(someOf(LEAKS, 3).map((name) => [KINDS[name], name] as const))("%s", (_, name) => {
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

const LISTENERS = LEAKS.indexOf("listeners");

test("a leak of one object every second round is found with slow, and not without", async () => {
  const program = await startLeaks(false);
  const tables = Array.from({ length: 12 }, (_, round) => {
    program.exports.leak(LISTENERS, round % 2);
    return takeTable(program);
  });
  expect(growth(tables).places).toEqual([]);
  const [place, ...others] = growth(tables, { slow: true }).places;
  expect(others).toEqual([]);
  expect(place?.counts).toEqual([0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6]);
});

test("dumps of two builds are compared by name", async () => {
  const builds = await Promise.all([startLeaks(false), startLeaks(true)]);
  const tables = Array.from({ length: 10 }, (_, round) => {
    for (const { exports } of builds) {
      exports.leak(LISTENERS, 3);
      exports.noise(1, 20 + ((round * 7) % 5), 0);
    }
    return takeTable(builds[round % 2] as (typeof builds)[0]);
  });
  const { places } = growth(tables);
  expect(places.map(({ className }) => className)).toEqual(["leaks/Listener"]);
  expect(places[0]).toMatchObject({
    root: { kind: "global", name: "leaks/feed" },
    stable: true,
    perInterval: { count: 3 },
  });
});

test("a queue that drains into another place has moved its objects, and leaks nothing", async () => {
  const program = await startLeaks(false);
  const { exports } = program;
  // All users are busy at first.
  exports.noise(4, 0, 100);
  const tables = Array.from({ length: 9 }, () => {
    exports.noise(4, 3, 0);
    return takeTable(program);
  });
  expect(growth(tables).places).toEqual([]);
});

test("a holder that comes late does not count before, and two dumps are enough to see growth", async () => {
  const program = await startLeaks(false);
  const before = takeTable(program);
  const tables = Array.from({ length: 8 }, () => {
    program.exports.leak(LEAKS.indexOf("alternating"), 2);
    return takeTable(program);
  });
  const { places } = growth([before, ...tables]);
  expect(places.map(({ className }) => className)).toEqual(["leaks/Odd"]);
  expect(places[0]?.counts).toEqual([null, 2, 4, 6, 8, 10, 12, 14, 16]);
  expect(places[0]?.perInterval.count).toBe(2);
  const two = growth([tables[0], tables[7]] as typeof tables);
  expect(two.places.length).toBeGreaterThan(0);
  expect(two.warnings).toMatchObject([{ code: "WARN_FEW_DUMPS" }]);
});
