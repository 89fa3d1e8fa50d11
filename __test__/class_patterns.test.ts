// The names that servers choose by a pattern are those that the engine chooses.

import { afterAll, beforeAll, expect, test } from "vitest";
import { openHeapFile } from "../dist/index.js";
import type { Heap } from "../index.js";
import { chooser } from "../js/served/glob.ts";
import { leakyServer } from "./support/leaky_server.ts";

let heap: Heap;
let names: string[];

beforeAll(async () => {
  const server = await leakyServer();
  heap = openHeapFile(server.after, server.wasm);
  names = heap.constructors().constructors.map(({ className }) => className);
});
afterAll(() => heap.close());

/** The classes that the engine chooses; none if it knows no such class. */
function ofEngine(pattern: string): string[] {
  try {
    const { groups } = heap.find({ class: pattern, groupBy: "className", limit: 1000 });
    return (groups?.rows ?? []).map(({ value }) => String(value)).sort();
  } catch (error) {
    expect((error as { code?: string }).code).toBe("ERR_UNKNOWN_CLASS");
    return [];
  }
}

test.each([
  ["assembly/server/PriceFeed", 1],
  ["PriceFeed", 1],
  ["server/PriceFeed", 1],
  ["*Price*", 3],
  ["assembly/server/Price????", 1],
  ["assem…PriceFeed", 1],
  ["~lib/*", undefined],
  ["*", undefined],
  ["Array<assembly/server/PriceListener>", 1],
  // What fits nothing: half a word, another case, a type argument, nothing.
  ["riceFeed", 0],
  ["pricefeed", 0],
  ["PriceListener>", 0],
  ["/PriceFeed", 0],
  ["", 0],
  ["?", 0],
])("%s", (pattern, count) => {
  const chosen = names.filter(chooser(pattern, names)).sort();
  expect(chosen).toEqual(ofEngine(pattern));
  if (count !== undefined) expect(chosen).toHaveLength(count);
});

test("a name that ends two classes chooses neither", () => {
  const all = ["a/server/Session", "b/client/Session", "Array<a/server/Session"];
  expect(all.filter(chooser("Session", all))).toEqual([]);
  expect(all.filter(chooser("server/Session", all))).toEqual(["a/server/Session"]);
});
