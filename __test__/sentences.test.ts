// Every sentence with a number and an address, of a few random heaps. `many_sentences.test.ts` has thousands.

import { expect, test } from "vitest";
import { checkPageSuspects, checkPane } from "./snapshots/page_sentences.ts";
import {
  checkGrownSuspects,
  checkGrowth,
  checkPaths,
  checkSuspects,
} from "./snapshots/sentences.ts";

const SEEDS = Array.from({ length: 6 }, (_, nth) => nth + 1);
const all = (check: (seed: number) => number) =>
  SEEDS.reduce((count, seed) => count + check(seed), 0);

test("what suspects say is true", () => {
  expect(all(checkSuspects)).toBeGreaterThan(50);
});

test("what suspects of growth say is true", () => {
  expect(all(checkGrownSuspects)).toBeGreaterThan(20);
});

test("the numbers of growing places are true", () => {
  expect(all(checkGrowth)).toBeGreaterThan(4);
});

test("paths, their sizes and what to cut are true", () => {
  expect(all(checkPaths)).toBeGreaterThan(150);
});

test("what the page says of suspects is true", () => {
  expect(all((seed) => checkPageSuspects(seed, false))).toBeGreaterThan(50);
});

test("what the page says of growing suspects is true", () => {
  expect(all((seed) => checkPageSuspects(seed, true))).toBeGreaterThan(20);
});

test("what the pane of an object says is true", () => {
  expect(all(checkPane)).toBeGreaterThan(150);
});
