// Every sentence with a number and an address, of many random heaps.

import { expect, test } from "vitest";
import { checkPageSuspects, checkPane } from "./snapshots/page_sentences.ts";
import {
  checkGrownSuspects,
  checkGrowth,
  checkPaths,
  checkSuspects,
} from "./snapshots/sentences.ts";

test.each<[string, (seed: number) => number, number]>([
  ["suspects", checkSuspects, 1000],
  ["suspects of growth", checkGrownSuspects, 500],
  ["growth and check", checkGrowth, 100],
  ["paths", checkPaths, 1000],
  ["suspects on the page", (seed: number) => checkPageSuspects(seed, false), 1000],
  ["suspects of growth on the page", (seed: number) => checkPageSuspects(seed, true), 500],
  ["panes of objects on the page", checkPane, 500],
])("what %s say is true", (_, check, heaps) => {
  let count = 0;
  for (let seed = 1; seed <= heaps; seed++) count += check(1000 + seed);
  expect(count).toBeGreaterThan(heaps);
});
