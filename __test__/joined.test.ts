// A dump together with the heap snapshot of its host: the command line and the API, on a program that was captured in Node.

import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { growth, openHeapFile, openHeapFileAsync } from "../dist/index.js";
import type { Heap } from "../index.js";
import { failureOf, outputOf, runIn } from "./support/command_line.ts";

const SAMPLES = join(import.meta.dirname, "samples/border");
const FIRST_ID = 2 ** 31;

let folder: string;
let heap: Heap;
let truth: Record<string, number[]>;

const inFolder = (name: string) => join(folder, name);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "joined-"));
  const unpacked = (name: string) => gunzipSync(readFileSync(join(SAMPLES, `${name}.gz`)));
  // What is beside the heap snapshot is found by its name.
  for (const name of ["tickets.dump.gz", "tickets.heapsnapshot.zst", "tickets.numbers.json.gz"]) {
    copyFileSync(join(SAMPLES, name), inFolder(name));
  }
  writeFileSync(inFolder("app.wasm"), unpacked("program.wasm"));
  truth = JSON.parse(unpacked("tickets.truth.json").toString());
  const host = inFolder("tickets.heapsnapshot.zst");
  heap = openHeapFile(inFolder("tickets.dump.gz"), inFolder("app.wasm"), { host });
});
afterAll(() => {
  heap.close();
  rmSync(folder, { recursive: true, force: true });
});

/** An address of each kind that the host holds, by the start of the name. */
function addressOf(kind: string): number {
  const name = Object.keys(truth).find((key) => key.startsWith(kind)) as string;
  return truth[name]?.[3] as number;
}

const HOST = ["--host", "tickets.heapsnapshot.zst"];

function run(command: string, ...args: string[]) {
  return runIn(folder, [command, "tickets.dump.gz", "--wasm", "app.wasm", ...HOST, ...args]);
}

test("a path leads from JavaScript to the object that it holds by number", () => {
  const held = addressOf("T1");
  const { path, roots, retainedParts } = heap.object(held);
  expect(roots).toEqual([]);
  expect(path?.root.kind).toBe("global");
  expect(path?.steps.at(-1)).toMatchObject({
    label: "handle",
    evidence: { kind: "derived", hits: 40, values: 40 },
    address: held,
  });
  expect(retainedParts).toMatchObject({ javascript: 0 });
  const text = outputOf(run("paths", "--object", `${held}`));
  expect(text).toContain(".handle (derived: 40 of 40 values)");
});

test("every kind of holder that the host uses is found, and what is lost has none", () => {
  const kinds = ["T1", "T2", "T3", "T4", "T5", "T6"].map((kind) => {
    const { referrers } = heap.referrers(addressOf(kind));
    return referrers.flatMap(({ className, labelText, evidence }) =>
      evidence === undefined ? [] : `${className}${labelText} ${evidence.kind}`,
    );
  });
  expect(kinds).toEqual([
    ["Ticket.handle derived"],
    ["Internref[[PrimitiveValue]] exact"],
    [expect.stringMatching(/^Map\["\d+"\] derived$/)],
    [expect.stringMatching(/^Array\[\d+\] derived$/)],
    [expect.stringMatching(/^Uint32Array\[\d+\] derived$/)],
    [expect.stringMatching(/->h derived$/)],
  ]);
  for (const lost of truth.lost as number[]) {
    const { roots } = heap.object(lost);
    expect(roots).toMatchObject([{ kind: "pinned" }]);
  }
});

test("no slot of the engine is to be cut, but what refers to its object", () => {
  const text = outputOf(run("paths", "--object", `${addressOf("T2")}`));
  expect(text).toContain("[[PrimitiveValue]]");
  expect(text).not.toMatch(/(cut|cutting) \S*\[\[/i);
  expect(text).toContain("what refers to the Internref");
});

test("an object of JavaScript is asked by its id", () => {
  const [edge] = heap.referrers(addressOf("T1")).referrers;
  const id = edge?.addressText as string;
  expect(id).toMatch(/^@\d+$/);
  expect(edge?.address).toBe(FIRST_ID + Number(id.slice(1)));
  const text = outputOf(run("object", id));
  expect(text).toContain(`Ticket at ${id}`);
  expect(text).toMatch(/retains \d+ B of JavaScript and \d+ B of wasm/);
});

test("the summary counts pinned objects by what is known of their holders", () => {
  const text = outputOf(run("summary"));
  expect(text).toMatch(/^JavaScript \S+ MiB in [\d,]+ objects\nwasm \S+ KiB in [\d,]+ objects\n/);
  const { joined } = heap.summary();
  expect(joined?.pinned).toMatchObject({ exact: 40, derived: 200 });
  expect(text).toContain("40 with an exact holder, 200 with a derived holder");
});

test("the other questions are answered for both heaps", () => {
  const { children } = heap.dominators({ limit: 3 });
  for (const { retainedSize, retainedParts } of children) {
    const { javascript, wasm } = retainedParts ?? { javascript: 0, wasm: 0 };
    expect(javascript + wasm).toBe(retainedSize);
  }
  const groups = heap.dominators({ by: "class", limit: 3 }).groups;
  expect(groups.every(({ retainedParts }) => retainedParts !== undefined)).toBe(true);
  const [suspect] = heap.suspects({ limit: 1 }).suspects;
  expect(suspect?.text).toMatch(/retains? \S+ \w+ of JavaScript/);
  expect(heap.find({ class: "Ticket", limit: 1 }).objects[0]?.addressText).toMatch(/^@\d+$/);
  expect(heap.report()).toContain("<title>");
});

test("questions of one heap are refused", () => {
  expect(failureOf(run("waste"))).toContain("unknown option '--host'");
  expect(() => heap.unreachable()).toThrow(expect.objectContaining({ code: "ERR_NOT_IN_JOINED" }));
});

test("a class has the bytes of each heap, and heaps that were joined are not compared", () => {
  const { constructors, totalLiveSize, totalLiveParts } = heap.constructors();
  const { joined } = heap.summary();
  const [javascript, wasm] = [joined?.javascript.liveSize, joined?.wasm.liveSize];
  expect(totalLiveParts).toEqual({ javascript, wasm });
  expect((javascript ?? 0) + (wasm ?? 0)).toBe(totalLiveSize);
  const tickets = constructors.find(({ className }) => className === "Ticket");
  expect(tickets).toMatchObject({
    totalShallowParts: { javascript: 40 * 40, wasm: 0 },
    totalRetainedParts: { javascript: 40 * 40, wasm: 40 * 48 },
    retainedSetParts: { javascript: 40 * 40, wasm: 40 * 48 },
  });
  const refused = expect.objectContaining({ code: "ERR_NOT_IN_JOINED" });
  expect(() => heap.compareWith(heap)).toThrow(refused);
  expect(() => heap.suspects({ before: heap })).toThrow(refused);
  expect(() => growth([heap, heap])).toThrow(refused);
  expect(() => growth([heap.placeTable(), heap.placeTable()])).toThrow(refused);
});

test("options of the host need the host, and it goes with one dump", () => {
  const dump = ["tickets.dump.gz", "--wasm", "app.wasm"];
  const ask = (...args: string[]) => failureOf(runIn(folder, args));
  expect(ask("summary", ...dump, "--numbers", "x")).toContain("'--numbers' needs --host");
  expect(ask("suspects", ...dump, "--before", "tickets.dump.gz", ...HOST)).toContain("one dump");
  expect(ask("summary", "tickets.dump.gz", ...HOST)).toContain("needs --wasm");
  const files = [inFolder("tickets.dump.gz"), inFolder("app.wasm")] as const;
  expect(() => openHeapFile(...files, { numbers: "x" })).toThrow("options.numbers: needs");
});

test("numbers of another dump are refused", async () => {
  const numbers = JSON.parse(
    gunzipSync(readFileSync(inFolder("tickets.numbers.json.gz"))).toString(),
  );
  writeFileSync(inFolder("other.json"), JSON.stringify({ ...numbers, dumpSha256: "00" }));
  const files = [inFolder("tickets.dump.gz"), inFolder("app.wasm")] as const;
  const options = { host: inFolder("tickets.heapsnapshot.zst"), numbers: inFolder("other.json") };
  await expect(openHeapFileAsync(...files, options)).rejects.toMatchObject({
    code: "ERR_NUMBERS_MOMENT",
  });
});

test("it is known who pinned an object", () => {
  const numbers = JSON.parse(
    gunzipSync(readFileSync(inFolder("tickets.numbers.json.gz"))).toString(),
  );
  const { dumpSize, dumpSha256 } = numbers;
  const lost = truth.lost?.[0] as number;
  const handles = {
    format: "warpo-heap-analyzer handles 1",
    dumpSize,
    dumpSha256,
    stacks: [["open (file:///app/tickets.mjs:12:38)"]],
    pins: [[lost, 0]],
  };
  writeFileSync(inFolder("pins.json"), JSON.stringify(handles));
  const text = outputOf(run("object", `${lost}`, "--handles", "pins.json"));
  expect(text).toContain("pinned by\n  at open (file:///app/tickets.mjs:12:38)");
});
