// Conditions over fields: how many sessions are not open, and which keys are not in an array, in the API and the command
// line, for a dump and for a heap snapshot.

import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openHeapFile } from "../dist/index.js";
import type { Heap } from "../index.js";
import { failureOf, outputOf, runIn } from "./support/command_line.ts";
import { HOSTILE_EXPRESSIONS } from "./support/hostile_expressions.ts";
import { sessionsFolder } from "./support/sessions.ts";

let folder: string;
let heap: Heap;

beforeAll(async () => {
  folder = await sessionsFolder();
  heap = openHeapFile(join(folder, "app.dump"), join(folder, "app.wasm"));
});
afterAll(() => {
  heap.close();
  rmSync(folder, { recursive: true });
});

const run = async (...args: string[]) =>
  outputOf(await runIn(folder, ["find", "app.dump", "--wasm", "app.wasm", ...args]));

test("the API says how many sessions are not open, and which keys are not in the array", () => {
  const closed = heap.find({ class: "*/Session", where: "open == false", count: true });
  expect(closed).toMatchObject({ total: 100, objects: [], where: { examined: 300 } });
  const missing = heap.find({ class: "*/Plate", where: "!(this.key in plateOrder)" });
  const keys = missing.objects.map(({ address }) => heap.object(address).fields[0]?.value);
  expect(keys).toEqual([7, 107, 207]);
  const states = heap.find({ class: "*/Session", groupBy: "this.note", sum: "shallow" });
  expect(states.groups?.rows.map(({ text, count }) => [text, count])).toEqual([
    ["null", 150],
    ['"guest 0"', 75],
    ['"guest 2"', 75],
  ]);
});

test("entries 100 to 200 of a map are a page of the map that a condition finds", () => {
  const [map] = heap.find({ class: "~lib/map/Map*", where: "size() == 300" }).objects;
  const page = heap.object(map?.address ?? 0, { entries: 100, offset: 100 }).entries;
  expect(page?.entries.map(({ key }) => key?.value)).toEqual(
    Array.from({ length: 100 }, (_, nth) => nth + 100),
  );
});

test("the command line says the same", async () => {
  const text = await run("--class", "*/Session", "--where", "open == false", "--count");
  expect(text).toBe("100 objects\n");
  const missing = await run("--class", "*/Plate", "--where", "!(this.key in plateOrder)");
  expect(missing).toContain("3 objects");
  expect(missing).toContain("{key: 107}");
  const groups = await run("--class", "*/Session", "--group-by", "open", "--sum", "shallow");
  expect(groups).toMatch(/200 .* true\n *100 .* false\n$/);
  const all = await run("--where", "open == false", "--count");
  expect(all).toMatch(
    /^100 objects\nnot counted: [\d,]+ objects without a field of the condition\n$/,
  );
});

test("isNew is true for objects that an earlier dump does not have, and for no others", async () => {
  const later = openHeapFile(join(folder, "later.dump"), join(folder, "app.wasm"));
  const count = (of: Heap, before: Heap, where: string) =>
    of.find({ class: "*/Session", where, before, count: true }).total;
  expect(count(later, heap, "isNew")).toBe(5);
  expect(count(later, heap, "isNew && open == false")).toBe(2);
  expect(count(later, heap, "!isNew")).toBe(300);
  expect(count(later, later, "isNew")).toBe(0);
  expect(count(heap, later, "isNew")).toBe(0);
  later.close();
  const args = ["later.dump", "--wasm", "app.wasm", "--class", "*/Session", "--count"];
  const find = (...more: string[]) => runIn(folder, ["find", ...args, ...more]);
  const since = ["--where", "isNew", "--before"];
  expect(outputOf(find(...since, "app.dump"))).toBe("5 objects\n");
  expect(outputOf(find(...since, "later.dump"))).toBe("0 objects\n");
  expect(failureOf(find("--where", "isNew"))).toContain("isNew with one heap");
  const groups = outputOf(find("--group-by", "isNew", "--before", "app.dump"));
  expect(groups).toMatch(/300 .* false\n *5 .* true\n$/);
});

test("containers are found by what they contain", () => {
  const { objects } = heap.find({ class: "~lib/map/Map*", contains: "Plate" });
  expect(objects).toHaveLength(1);
  const arrays = heap.find({ class: "~lib/array/Array*", contains: "*/Session" }).objects;
  expect(arrays).toHaveLength(1);
});

test("a condition that does not compile is an error with its place", async () => {
  const find = (where: string) => () => heap.find({ class: "*/Session", where });
  expect(find("opne == false")).toThrow(
    expect.objectContaining({
      code: "ERR_WHERE",
      message: expect.stringMatching(/option where, character 1: found opne.*such as open/),
    }),
  );
  const args = ["find", "app.dump", "--wasm", "app.wasm", "--where", "open =="];
  expect(failureOf(await runIn(folder, args))).toContain("option where, character 8");
});

test("hostile expressions are errors", async () => {
  for (const where of HOSTILE_EXPRESSIONS) {
    for (const options of [{ where }, { groupBy: where }]) {
      const find = () => heap.find({ class: "*/Session", ...options });
      expect(find, where.slice(0, 40)).toThrow(expect.objectContaining({ code: "ERR_WHERE" }));
    }
  }
  for (const where of HOSTILE_EXPRESSIONS.slice(8, 10)) {
    const args = ["find", "app.dump", "--wasm", "app.wasm", "--where", where];
    const failure = failureOf(await runIn(folder, args));
    expect(failure).toContain("found an expression of");
    expect(failure.length).toBeLessThan(1000);
  }
});

describe("in a heap snapshot", () => {
  let snapshot: Heap;

  beforeAll(() => {
    const program = `
      class Ticket {
        constructor(key) {
          this.key = key;
          this.open = key % 3 !== 0;
          this.note = key % 2 === 0 ? "guest " + (key % 4) : null;
          this.name = "t" + key;
        }
      }
      globalThis.tickets = Array.from({ length: 30 }, (_, key) => new Ticket(key));
      globalThis.firstTickets = new Set(tickets.slice(0, 4));
      globalThis.oddKeys = [1, 3, 5];
      globalThis.someKeys = ["t1", 1, 3];
      globalThis.byName = new Map(tickets.map((ticket) => [ticket.name, ticket]));
      for (const name of ["t3", "t29"]) byName.delete(name);
      globalThis.byTicket = new Map(tickets.slice(5, 7).map((ticket) => [ticket, ticket.key]));
      globalThis.byKey = new Map(tickets.slice(0, 3).map((ticket) => [ticket.key, ticket]));
      globalThis.marks = new Set([true, "t1"]);
      require("node:v8").writeHeapSnapshot("app.heapsnapshot", { exposeNumericValues: true });
    `;
    execFileSync(process.execPath, ["-e", program], { cwd: folder });
    snapshot = openHeapFile(join(folder, "app.heapsnapshot"));
  });
  afterAll(() => snapshot.close());

  const find = (where: string) => snapshot.find({ class: "Ticket", where, count: true });

  test.each([
    ["open == false", 10],
    ["note != null && this.note.startsWith('guest') && open", 10],
    ["note == null", 15],
    ["key >= 28", 2],
    // Arrays and sets.
    ["this in tickets", 30],
    ["!(this in firstTickets)", 26],
    ["name in someKeys", 1],
    // The keys of a map, without deleted ones, and not its values.
    ["name in byName", 28],
    ["!(this.name in byName)", 2],
    ["this in byName", 0],
    ["this in byTicket", 2],
    ["this in byKey", 0],
    ["name in marks", 1],
    // The names of properties.
    ["'tickets' in this", 0],
    ["'open' in this", 30],
  ])("%s", (where, count) => {
    expect(find(where)).toMatchObject({ total: count, where: { examined: 30, failed: [] } });
  });

  test.each([
    // Tables have no numbers and no booleans, and arrays of numbers have no elements.
    ["key in byKey", 0],
    ["open in marks", 0],
    ["key in oddKeys", 0],
    ["key in someKeys", 2],
  ])("%s is not known of all", (where, count) => {
    const { total, where: rest } = find(where);
    const failed = [{ reason: "a value is not in the input", count: 30 - count }];
    expect([total, rest?.failed]).toEqual([count, failed]);
  });

  const entries = (of: string, name: string, options: { entries: number; offset?: number }) => {
    const [found] = snapshot.find({ class: of, where: `this == ${name}` }).objects;
    const page = snapshot.object(found?.address ?? 0, options).entries;
    return { ...page, entries: page?.entries.map(({ key, value }) => [key?.value, value.value]) };
  };

  test("a page of a map or a set has its keys and values", () => {
    const page = entries("Map", "byName", { entries: 3, offset: 2 });
    expect(page).toMatchObject({ kind: "map", total: 28, offset: 2 });
    expect(page.entries?.map(([key]) => key)).toEqual(['"t2"', '"t4"', '"t5"']);
    expect(page.entries?.every(([, value]) => String(value).startsWith("Ticket @"))).toBe(true);
    const byTicket = entries("Map", "byTicket", { entries: 9 });
    const key = expect.stringMatching(/^Ticket @/);
    expect(byTicket).toMatchObject({ kind: "map", total: 2 });
    expect(byTicket.entries).toEqual(Array(2).fill([key, "(not in the snapshot)"]));
    const first = entries("Set", "firstTickets", { entries: 9 });
    expect(first).toMatchObject({ kind: "set", total: 4 });
    expect(first.entries).toEqual(Array(4).fill([undefined, key]));
  });
});
