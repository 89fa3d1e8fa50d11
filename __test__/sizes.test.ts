/** Sizes are the same texts everywhere: the engine's tests read this file too. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { formatSize } from "../js/units.js";

test("JavaScript writes sizes as the engine does", () => {
  const file = new URL("../crates/base/sizes.json", import.meta.url);
  const sizes = JSON.parse(readFileSync(file, "utf8")) as [number, string][];
  expect(sizes.map(([bytes]) => [bytes, formatSize(bytes)])).toEqual(sizes);
});
