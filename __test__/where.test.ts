// Conditions over fields: how many sessions are not open, and which keys are not in an array, in the API and the command
// line, for a dump and for a heap snapshot.

import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openHeapFile } from "../dist/index.js";
import type { Heap } from "../index.js";
import { failureOf, outputOf, runIn } from "./support/command_line.ts";
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

test("in a heap snapshot, properties are fields", () => {
  const program = `
    class Ticket {
      constructor(key) {
        this.open = key % 3 !== 0;
        this.note = key % 2 === 0 ? "guest " + (key % 4) : null;
      }
    }
    globalThis.tickets = Array.from({ length: 30 }, (_, key) => new Ticket(key));
    globalThis.ticketOrder = new Set(tickets.slice(0, 4));
    require("node:v8").writeHeapSnapshot("app.heapsnapshot");
  `;
  execFileSync(process.execPath, ["-e", program], { cwd: folder });
  const file = join(folder, "app.heapsnapshot");
  const snapshot = openHeapFile(file);
  const count = (where: string) => snapshot.find({ class: "Ticket", where, count: true }).total;
  expect(count("open == false")).toBe(10);
  expect(count("this.note.startsWith('guest') && open")).toBe(10);
  expect(count("note == null")).toBe(15);
  expect(count("!(this in ticketOrder)")).toBe(26);
  expect(count("this in tickets")).toBe(30);
  snapshot.close();
});
