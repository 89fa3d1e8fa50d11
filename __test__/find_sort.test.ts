// The order of what `find` lists: in the API, in the command line, and for agents.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openHeapFile } from "../dist/index.js";
import type { FindOptions, FoundObject, Heap } from "../index.js";
import { connect } from "./mcp/client.ts";
import { outputOf, runIn } from "./support/command_line.ts";
import { type LeakyServer, leakyServer } from "./support/leaky_server.ts";

type Sort = NonNullable<FindOptions["sort"]>;
type Key = (one: FoundObject) => (number | string)[];

let server: LeakyServer;
let heap: Heap;
let all: FoundObject[];
let counts: Map<string, number>;

beforeAll(async () => {
  server = await leakyServer();
  heap = openHeapFile(server.after, server.wasm);
  all = heap.find({ limit: 1e6 }).objects;
  counts = new Map();
  for (const { className } of all) counts.set(className, (counts.get(className) ?? 0) + 1);
});
afterAll(() => heap.close());

const bySize: Key = (one) => [-one.retainedSize, -one.shallowSize, one.address];
const KEYS: Record<Sort, Key> = {
  retained: bySize,
  shallow: (one) => [-one.shallowSize, -one.retainedSize, one.address],
  count: (one) => [-(counts.get(one.className) ?? 0), one.className, ...bySize(one)],
  name: (one) => [one.className, ...bySize(one)],
};
const SORTS = Object.keys(KEYS) as Sort[];

/** The addresses of all objects in an order. */
function sorted(sort: Sort): number[] {
  const keyed = all.map((one) => ({ key: KEYS[sort](one), address: one.address }));
  keyed.sort((left, right) => {
    const at = left.key.findIndex((part, nth) => part !== right.key[nth]);
    return at < 0 ? 0 : (left.key[at] as number) < (right.key[at] as number) ? -1 : 1;
  });
  return keyed.map(({ address }) => address);
}

const addresses = (objects: FoundObject[]) => objects.map(({ address }) => address);

describe.each(SORTS)("sort: %s", (sort) => {
  test("is that order of all objects", () => {
    expect(addresses(heap.find({ sort, limit: 1e6 }).objects)).toEqual(sorted(sort));
  });

  test("is the order of a page", () => {
    const page = heap.find({ sort, limit: 7, offset: 5 }).objects;
    expect(addresses(page)).toEqual(sorted(sort).slice(5, 12));
  });
});

test("the four orders differ, and retained is the usual one", () => {
  expect(new Set(SORTS.map((sort) => sorted(sort).join())).size).toBe(4);
  expect(addresses(all)).toEqual(sorted("retained"));
});

describe("of groups", () => {
  const grouped = (options: FindOptions) =>
    heap.find({ groupBy: "className", limit: 1e6, ...options }).groups?.rows ?? [];

  test("count is by the number of objects, name by the value", () => {
    const byCount = grouped({ sort: "count", sum: "shallow" }).map(({ count }) => count);
    expect(byCount).toEqual([...byCount].sort((left, right) => right - left));
    const byName = grouped({ sort: "name", sum: "shallow" }).map(({ value }) => value);
    expect(byName).toEqual([...counts.keys()].sort());
    expect(grouped({ sum: "shallow" }).map(({ value }) => value)).not.toEqual(byName);
  });

  test("a size is that of the sum, and no other", () => {
    expect(grouped({ sort: "shallow", sum: "shallow" })).toEqual(grouped({ sum: "shallow" }));
    for (const sum of ["retained", undefined] as const) {
      expect(() => grouped({ sort: "shallow", sum })).toThrow(
        expect.objectContaining({ code: "ERR_INVALID_OPTION" }),
      );
    }
  });
});

test("another order is refused, with those that there are", () => {
  expect(() => heap.find({ sort: "size" as Sort })).toThrow(
    "options.sort: found size; expected shallow, retained, count, name",
  );
});

test("the command line and agents have the same order", async () => {
  const expected = heap.find({ sort: "name", limit: 3 }).objects;
  const args = ["after.dump", "--wasm", "server.wasm", "--sort", "name", "-n", "3", "-f", "json"];
  const printed = JSON.parse(outputOf(runIn(server.folder, ["find", ...args])));
  expect(printed.objects).toEqual(expected);
  const session = await connect(["--root", server.folder]);
  try {
    const { heaps } = await session.call("open_heaps", { dumps: ["after.dump"] });
    const request = { heap: heaps[0].heap, sort: "name", limit: 3 };
    const { objects } = await session.call("find", request);
    const addresses = (found: { address: number }[]) => found.map(({ address }) => address);
    expect(addresses(objects)).toEqual(addresses(expected));
  } finally {
    await session.close();
  }
});
