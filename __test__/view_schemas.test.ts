// Views have the keys of their schema, in its order, and orders of rows are those that the schema names.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { analyzeFile, diffFile, openHeapFile } from "../dist/index.js";
import type { AnalyzeOptions, Heap } from "../index.js";
import { type LeakyServer, leakyServer } from "./support/leaky_server.ts";

interface Shape {
  properties: Record<string, unknown>;
  required: string[];
}

const schemas = (name: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, `../schema/${name}.json`), "utf8")).$defs;
const TYPES: Record<string, Shape> = schemas("answers");

let server: LeakyServer;
let heap: Heap;

beforeAll(async () => {
  server = await leakyServer();
  heap = openHeapFile(server.after, server.wasm);
});
afterAll(() => heap.close());

/** Wrong keys of a value: unknown ones, absent ones that are needed, and the first that stands elsewhere. */
function wrongKeys(type: string, value: object): string[] {
  const { properties, required } = TYPES[type] as Shape;
  const order = Object.keys(properties);
  const shown = Object.keys(value);
  const places = shown.map((key) => order.indexOf(key));
  const moved = places.findIndex((place, nth) => place < (places[nth - 1] ?? 0));
  return [
    ...shown.filter((key) => !order.includes(key)),
    ...required.filter((key) => !(key in value)),
    ...(moved < 0 ? [] : [shown[moved] as string]),
  ];
}

test("a constructor view has the keys of its schema", () => {
  const options: AnalyzeOptions = { instances: 1, retainedSet: true };
  for (const view of [analyzeFile(server.after, server.wasm, options), heap.constructors()]) {
    const [row] = view.constructors;
    expect(wrongKeys("ConstructorView", view)).toEqual([]);
    expect(wrongKeys("ConstructorRow", row ?? {})).toEqual([]);
    expect(wrongKeys("Instance", row?.instances[0] ?? {})).toEqual([]);
    expect(row?.retainedSetSize).toBeGreaterThan(0);
    // The check itself finds what is wrong.
    expect(wrongKeys("ComparisonRow", row ?? {})).toContain("totalShallowSize");
    view.close();
  }
});

test("a comparison view has the keys of its schema", () => {
  const view = diffFile(server.before, server.after, server.wasm, { instances: 1 });
  const [row] = view.constructors;
  expect(wrongKeys("ComparisonView", view)).toEqual([]);
  expect(wrongKeys("ComparisonRow", row ?? {})).toEqual([]);
  const { changeKind, ...instance } = row?.instances[0] ?? {};
  expect(Object.keys(TYPES.ChangedInstance?.properties ?? {})).toEqual(["changeKind"]);
  expect(wrongKeys("Instance", instance)).toEqual([]);
  view.close();
});

test("the engine knows the orders that the schema names, and no others", () => {
  const orders = (type: string): string[] =>
    schemas("options")[type].properties.sort.enum.filter((order: unknown) => order !== null);
  expect(orders("AnalyzeOptions")).toContain("retained-set");
  for (const sort of orders("AnalyzeOptions"))
    heap.constructors({ sort } as AnalyzeOptions).close();
  for (const sort of orders("DiffOptions")) heap.compareWith(heap, { sort } as never).close();
  expect(() => heap.constructors({ sort: "name" } as never)).toThrow(/retained-set/);
});
