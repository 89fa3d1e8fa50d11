/** Messages of inspectors are counted before they are parsed. */
import { describe, expect, test } from "vitest";
import { parseWithin } from "../dist/inspector/bounded_json.js";

const parse = (text: string, bounds: { bytes?: number; nodes?: number; depth?: number } = {}) =>
  parseWithin(Buffer.from(text), "it", { bytes: 1e6, nodes: 1e5, depth: 100, ...bounds });

/** How many values and names, and how deep. */
function counted(value: unknown): { nodes: number; depth: number } {
  if (typeof value !== "object" || value === null) return { nodes: 1, depth: 0 };
  const inner = Object.values(value).map(counted);
  const names = Array.isArray(value) ? 0 : inner.length;
  return {
    nodes: 1 + names + inner.reduce((sum, { nodes }) => sum + nodes, 0),
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
  };
}

const VALUES: unknown[] = [
  1,
  "",
  '[[{{,,::\\"\\',
  "\\",
  [],
  {},
  [1, 2, [3, { a: [], "b{[,:": '}]"' }]],
  { a: { b: { c: [[[]]] } }, '\\"': "\u{1f600}\u0000" },
  Array.from({ length: 1000 }, (_, nth) => ({ nth, text: `"${"\\".repeat(nth % 5)}` })),
];

describe("a message", () => {
  test.each(VALUES.map((value) => [value]))(
    "within the bounds is what JSON.parse says",
    (value) => {
      for (const text of [JSON.stringify(value), JSON.stringify(value, undefined, 2)]) {
        expect(parse(text)).toEqual(JSON.parse(text));
      }
    },
  );

  test.each(VALUES.map((value) => [value]))(
    "has as many values, and is as deep, as it says",
    (value) => {
      const text = JSON.stringify(value);
      const { nodes, depth } = counted(value);
      expect(parse(text, { depth })).toEqual(value);
      if (depth > 0) expect(() => parse(text, { depth: depth - 1 })).toThrow("deeper than");
      // Commas, colons and brackets are counted: never more than there are values, and at least half as many.
      expect(parse(text, { nodes: nodes + 1 })).toEqual(value);
      const fewer = Math.floor(nodes / 2) - 1;
      if (fewer > 0) expect(() => parse(text, { nodes: fewer })).toThrow("values");
    },
  );

  test("that is too large is refused at the first byte, value or level that is too much", () => {
    expect(() => parse("[".repeat(5e5), {})).toThrow("deeper than 100");
    expect(() => parse(`[${"{},".repeat(2e5)}`)).toThrow("more than 100000 values");
    expect(() => parse(" ".repeat(1e6 + 1))).toThrow("more than 1000000 bytes");
  });

  test.each(["", "{", "[1", '"', '"\\', "]", "}{", "nul", "\ufeff1"])(
    "that is no JSON is an error: %j",
    (text) => {
      expect(() => parse(text)).toThrow(/not JSON/);
    },
  );
});
