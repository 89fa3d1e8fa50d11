// Values are checked by what their JSON Schemas say.

import { describe, expect, test } from "vitest";
import { type JsonSchema, readObject } from "../js/option_facts.ts";

const time: JsonSchema = { type: "string", format: "date-time" };
const SCHEMA: JsonSchema = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 1, maxLength: 5, pattern: "^[a-z]+$" },
    at: {
      anyOf: [
        { type: "integer", minimum: 0 },
        { type: "string", pattern: "^0x[0-9a-f]+$" },
      ],
    },
    time,
    size: { type: "integer", minimum: -4, maximum: 4, default: 2 },
    part: { type: "number", exclusiveMinimum: 0, maximum: 1 },
    order: { type: "string", enum: ["up", "down"] },
    list: {
      type: "array",
      items: {
        type: "object",
        properties: { value: { type: "integer", minimum: 0 } },
        required: ["value"],
      },
      minItems: 1,
      maxItems: 2,
    },
  },
  required: ["name"],
};

const problems = (given: unknown) =>
  readObject(SCHEMA, given).problems.map(({ message }) => message);

test("values that fit are kept, and what is left out has its default", () => {
  const given = {
    name: "abc",
    at: "0x10",
    time: "2024-02-29T23:59:00.5+01:00",
    size: -4,
    part: 1,
    order: "up",
    list: [{ value: 0 }],
  };
  expect(readObject(SCHEMA, given)).toEqual({ values: given, problems: [] });
  expect(readObject(SCHEMA, { name: "a", at: 0 })).toEqual({
    values: { name: "a", at: 0, size: 2 },
    problems: [],
  });
});

describe("what does not fit is named with what was found and expected", () => {
  test.each<[string, object, string]>([
    ["a text that is too short", { name: "" }, 'name: found ""; expected at least 1 characters'],
    ["a text that is too long", { name: "abcdef" }, "expected at most 5 characters"],
    ["a text of another form", { name: "A" }, 'name: found "A"; expected text like ^[a-z]+$'],
    ["a value of another type", { name: 5 }, 'argument "name" must be a string, found number'],
    ["null in place of a value", { name: null }, "name: it is missing"],
    ["no alternative", { name: "a", at: true }, '"at" must be a number or a string, found boolean'],
    ["an alternative's bounds", { name: "a", at: -1 }, "at: found -1; expected a whole number ≥ 0"],
    ["a day that no month has", { name: "a", time: "2026-02-30T00:00:00Z" }, "expected a time"],
    ["a time without a zone", { name: "a", time: "2026-02-03T00:00:00" }, "expected a time"],
    ["a fraction", { name: "a", size: 1.5 }, "size: found 1.5; expected a whole number from -4 to"],
    ["a number that is no part", { name: "a", part: 0 }, "expected a number above 0 and at most 1"],
    ["another text", { name: "a", order: "left" }, "order: found left; expected up, down"],
    ["too few entries", { name: "a", list: [] }, "list: found 0 entries; expected 1 to 2"],
    ["a wrong entry", { name: "a", list: [{ value: -1 }] }, "list[0].value: found -1"],
    ["an entry without a field", { name: "a", list: [{}] }, "list[0].value: it is missing"],
    ["an unknown name", { name: "a", nam: 1 }, 'arguments: Unrecognized key: "nam"'],
    ["a missing name", {}, "name: it is missing"],
  ])("%s", (_, given, expected) => {
    expect(problems(given)).toEqual([expect.stringContaining(expected)]);
  });

  test("what is no object", () => {
    for (const given of [null, 5, "text", []]) expect(problems(given)).toHaveLength(1);
  });

  test("a name that every object has is unknown, too", () => {
    expect(problems(JSON.parse('{"name":"a","__proto__":{},"toString":1}'))).toEqual([
      'arguments: Unrecognized keys: "__proto__", "toString"',
    ]);
  });

  test("a long value is not repeated", () => {
    expect(problems({ name: "x".repeat(1e6) })[0]?.length).toBeLessThan(100);
  });
});
