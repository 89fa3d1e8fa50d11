// Every sentence with a number and an address, of many random heaps.

import { expect, test } from "vitest";
import {
  checkGrownSuspects,
  checkGrowth,
  checkPaths,
  checkSuspects,
} from "./snapshots/sentences.ts";

const COUNT = 2000;

test.each([
  ["suspects", checkSuspects],
  ["suspects of growth", checkGrownSuspects],
  ["growth and check", checkGrowth],
  ["paths", checkPaths],
])("what %s say is true", (_, check) => {
  let count = 0;
  for (let seed = 1; seed <= COUNT; seed++) count += check(1000 + seed);
  expect(count).toBeGreaterThan(COUNT);
});
