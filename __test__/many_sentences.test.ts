// Every sentence with a number and an address, of many random heaps.

import { expect, test } from "vitest";
import {
  checkGrownSuspects,
  checkGrowth,
  checkPaths,
  checkSuspects,
} from "./snapshots/sentences.ts";

test.each([
  ["suspects", checkSuspects, 1000],
  ["suspects of growth", checkGrownSuspects, 500],
  ["growth and check", checkGrowth, 100],
  ["paths", checkPaths, 1000],
])("what %s say is true", (_, check, heaps) => {
  let count = 0;
  for (let seed = 1; seed <= heaps; seed++) count += check(1000 + seed);
  expect(count).toBeGreaterThan(heaps);
});
