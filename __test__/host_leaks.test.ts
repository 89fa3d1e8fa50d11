// `expectNoLeak` on the JavaScript heap of its own process: what it finds, what it lets pass, its errors, its time
// limit, and that it leaves no files. The tests run in processes of their own, as what vitest does in between counts.

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exposeGlobals } from "../dist/capture.js";
import { collectGarbage } from "../dist/testing/host_heap.js";
import { expectNoLeak, TIME_LIMIT } from "../dist/testing.js";
import { runCompiler } from "./support/compile.ts";

const PROGRAM = join(import.meta.dirname, "snapshots/leak_tests.cjs");

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "heap-analyzer-host-leaks-"));
});

afterAll(() => rmSync(folder, { recursive: true }));

/** A place of an answer. */
interface Place {
  path: string | null;
  className: string;
  counts: number[];
  perInterval: { count: number };
}

interface Outcome {
  code?: string;
  message?: string;
  places?: Place[];
  /** What is in the folder for temporary files during the first round and after the test. */
  during: string[];
  after: string[];
  notes: string[];
  /** The rounds that were run, with those of the warm-up. */
  ran: number;
}

/** What a test of a process of its own ends with. */
async function outcome(kind: string, options: object = {}): Promise<Outcome> {
  const temporary = mkdtempSync(join(folder, "tmp-"));
  const env = { ...process.env, TMPDIR: temporary, TEMP: temporary, TMP: temporary };
  const args = [PROGRAM, kind, JSON.stringify(options)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return JSON.parse(stdout);
}

describe("a leak", () => {
  test("is named by path, constructor and rate", async () => {
    const { code, message, places = [], ran } = await outcome("map", { rounds: 5 });
    expect([code, ran]).toEqual(["ERR_LEAK", 7]);
    const place = places.find(({ className }) => className === "Visit");
    expect(place?.perInterval.count).toBe(3);
    expect(place?.path).toMatch(/->visits > Map\[\*\] > Visit$/);
    expect(place?.counts).toEqual([9, 12, 15, 18, 21]);
    expect(message).toMatch(/^a leak: 3 more Visit per round \(.*retained\)/);
    expect(message).toContain("->visits");
  });

  test("of listeners and of closures is found, but not what a mock records", async () => {
    const { message } = await outcome("listener", { rounds: 4 });
    expect(message).toContain("Kept");
    const mocked = await outcome("mocked", { rounds: 4 });
    expect([mocked.code, mocked.message]).toEqual([undefined, undefined]);
  });

  test("is not what a mock records while the path to it changes; a log on such a path is one", async () => {
    const mocked = await outcome("mockedOnAnotherPath", { rounds: 6 });
    expect([mocked.code, mocked.message]).toEqual([undefined, undefined]);
    const { code, message } = await outcome("loggedOnAnotherPath", { rounds: 6 });
    expect([code, message]).toEqual(["ERR_LEAK", expect.stringContaining("1 more")]);
  });

  test("of plain objects and arrays under new keys is found by the keys", async () => {
    const keys = await outcome("keys", { rounds: 4 });
    expect(keys.places?.map(({ path }) => path)).toContainEqual(
      expect.stringMatching(/->byKey > .*\(string\)$/),
    );
    const tokens = await outcome("tokens", { rounds: 4 });
    expect(tokens.places?.map(({ path }) => path)).toContainEqual(
      // The arrays, with the symbols by which they are found.
      expect.stringMatching(/->byToken > Object\[\*\] > Array$/),
    );
  });

  test("is not what the console of jest keeps to print it later", async () => {
    const { code, message } = await outcome("printed", { rounds: 8 });
    expect([code, message]).toEqual([undefined, undefined]);
  });
});

test("garbage is collected without a flag, and finalizers have run", async () => {
  let finalized = 0;
  const registry = new FinalizationRegistry(() => finalized++);
  const register = () => {
    const garbage = {};
    registry.register(garbage, undefined);
    return new WeakRef(garbage);
  };
  const weak = register();
  await collectGarbage();
  expect([weak.deref(), finalized]).toEqual([undefined, 1]);
});

describe("steady work", () => {
  test("passes, whatever it allocates, prints, and awaits; and no file stays", async () => {
    const { code, message, during, after, notes, ran } = await outcome("steady", { rounds: 7 });
    expect([code, message]).toEqual([undefined, undefined]);
    // It ends when nothing can grow in all rounds any more: at the earliest after three that are measured.
    expect(ran).toBeGreaterThanOrEqual(5);
    expect(ran).toBeLessThanOrEqual(9);
    expect(during).toHaveLength(1);
    expect(during[0]).toMatch(/^warpo-heap-analyzer-leak-test-/);
    expect(after).toEqual([]);
    expect(notes.filter((note) => note.includes("undecided"))).toEqual([]);
  });
});

describe("no file stays", () => {
  test("after a leak, an error of the work, and an exit of the process", async () => {
    expect((await outcome("map", { rounds: 2, warmup: 0 })).after).toEqual([]);
    const failed = await outcome("failing", { rounds: 2, warmup: 0 });
    expect([failed.message, failed.after]).toEqual(["the work failed", []]);
    const temporary = join(folder, "exit");
    mkdirSync(temporary);
    const env = { ...process.env, TMPDIR: temporary, TEMP: temporary, TMP: temporary };
    await promisify(execFile)(process.execPath, [PROGRAM, "exiting", "{}"], { env });
    expect(readdirSync(temporary)).toEqual([]);
  });
});

describe("the time limit", () => {
  test("ends a test whose work does not end", async () => {
    const started = Date.now();
    const { code, message, after } = await outcome("hanging", { timeLimit: 300, warmup: 0 });
    expect([code, after]).toEqual(["ERR_TIME_LIMIT", []]);
    expect(message).toContain("time limit of 0.3 s: 0 of 8 measured rounds are done");
    expect(Date.now() - started).toBeLessThan(TIME_LIMIT);
  });

  test("of a runner is longer, so that the error is seen", () => expect(TIME_LIMIT).toBe(75_000));

  test("also ends a test of an instance, if it is given", async () => {
    const { instance, wasm } = await program();
    const run = () => new Promise(() => {});
    const test = expectNoLeak({ instance, wasm, run, timeLimit: 50 });
    await expect(test).rejects.toMatchObject({ code: "ERR_TIME_LIMIT" });
  });
});

/** An instance of a program that leaks when it is asked to. */
async function program() {
  const { wasm } = await runCompiler(["leak.ts", "--debug"], {
    baseDir: join(import.meta.dirname, "programs"),
    transform: true,
  });
  const module = await WebAssembly.compile(exposeGlobals(wasm));
  const instance = await WebAssembly.instantiate(module, { env: { abort() {} } });
  const exports = instance.exports as { leak(count: number): void; work(count: number): void };
  return { instance: exports, wasm };
}

describe("with an instance and host", () => {
  test("a leak of the program and one of its host are both reported", async () => {
    const { wasm } = await program();
    const file = join(folder, "leak.wasm");
    writeFileSync(file, wasm);
    const { code, message } = await outcome("both", { wasm: file, host: true, rounds: 4 });
    expect(code).toBe("ERR_LEAK");
    expect(message).toContain("a leak: in the program, 25 more leak/Entry per round");
    expect(message).toContain("a leak: in the JavaScript heap, ");
    expect(message).toMatch(/\+4 objects, .* per interval: Kept/);
  });
});

describe("an error", () => {
  const run = () => {};
  test.each<[string, object, string, string]>([
    ["nothing to judge", { run, host: false }, "ERR_INVALID_OPTION", "an instance, or true"],
    ["no work", {}, "ERR_INVALID_ARG_TYPE", '"run" must be a function'],
    ["a module alone", { run, wasm: "a.wasm" }, "ERR_INVALID_ARG_TYPE", '"instance"'],
    ["no time", { run, timeLimit: 0 }, "ERR_INVALID_OPTION", "timeLimit"],
  ])("for %s", async (_, options, code, message) => {
    const error = await expectNoLeak(options as never).catch((error) => error);
    expect([error.code, error.message]).toEqual([code, expect.stringContaining(message)]);
  });
});
