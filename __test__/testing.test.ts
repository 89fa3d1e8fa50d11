// `expectNoLeak` on a real program: what it finds, what it lets pass, and its errors.

import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exposeGlobals } from "../dist/capture.js";
import { HeapAnalyzerError } from "../dist/index.js";
import { expectNoLeak, LeakError } from "../dist/testing.js";
import { runCompiler } from "./support/compile.ts";

interface Program extends WebAssembly.Exports {
  work(count: number): void;
  leak(count: number): void;
}

let folder: string;
let file: string;
let wasm: Uint8Array;

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "heap-analyzer-testing-")));
  file = join(folder, "leak.wasm");
  const program = await runCompiler(["leak.ts", "--debug"], {
    baseDir: join(__dirname, "programs"),
    transform: true,
  });
  wasm = program.wasm;
  writeFileSync(file, wasm);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function start(bytes = exposeGlobals(wasm)): Promise<Program> {
  const module = await WebAssembly.compile(bytes);
  const { exports } = await WebAssembly.instantiate(module, { env: { abort() {} } });
  return exports as Program;
}

/** The error that a promise rejects with. */
async function errorOf(promise: Promise<unknown>): Promise<Error & { code: string }> {
  return await promise.then(
    () => expect.fail("nothing was thrown"),
    (error) => error,
  );
}

const PATH = "global leak/kept > ~lib/array/Array<leak/Entry>[*] > leak/Entry";

describe("a leak", () => {
  async function leakError(options: object = {}): Promise<LeakError> {
    const instance = await start();
    const run = () => {
      instance.work(100);
      instance.leak(25);
    };
    const error = await errorOf(expectNoLeak({ instance, wasm, run, ...options }));
    expect(error).toBeInstanceOf(LeakError);
    return error as LeakError;
  }

  test("is an error whose message is the report", async () => {
    const error = await leakError();
    expect(error).toBeInstanceOf(HeapAnalyzerError);
    expect([error.name, error.code]).toEqual(["LeakError", "ERR_LEAK"]);
    await expect(`${error.message}`).toMatchFileSnapshot("golden/leak-error.txt");
  });

  test("is in the error's answer, with as many numbers as rounds", async () => {
    const { answer } = await leakError({ rounds: 10, warmup: 0 });
    expect(answer.passed).toBe(false);
    expect(answer.places.map(({ path }) => path)).toContain(PATH);
    expect(answer.places[0]?.counts).toEqual([25, 50, 75, 100, 125, 150, 175, 200, 225, 250]);
  });

  test("passes if all that grows is allowed, by path or by fingerprint", async () => {
    const instance = await start();
    const run = () => instance.leak(25);
    const allow: string[] = [];
    // What is allowed explains nothing any more, so more may come to light.
    for (;;) {
      const options = { instance, wasm, run, allow, warmup: 0 };
      const error = await expectNoLeak(options).then(
        () => undefined,
        (error: unknown) => error as LeakError,
      );
      if (error === undefined) break;
      expect(error.answer.places.length).toBeGreaterThan(0);
      for (const { path, fingerprint } of error.answer.places) {
        allow.push(allow.length % 2 === 0 && path !== null ? path : fingerprint);
      }
    }
    expect(allow[0]).toBe(PATH);
  });

  test("of one object every second round is found with slow", async () => {
    const instance = await start();
    const run = (round: number) => instance.leak(round % 2);
    await expectNoLeak({ instance, wasm, run });
    await expect(expectNoLeak({ instance, wasm, run, slow: true })).rejects.toThrow(LeakError);
  });
});

describe("steady work", () => {
  test.each<[string, () => Uint8Array | string | URL]>([
    ["the bytes of the module", () => wasm],
    ["the exposed bytes", () => exposeGlobals(wasm)],
    ["a path", () => file],
    ["a URL", () => pathToFileURL(file)],
  ])("passes, with %s", async (_, module) => {
    const instance = await start();
    await expectNoLeak({ instance, wasm: module(), run: () => instance.work(100) });
  });

  test("runs in warm-up rounds and measured rounds, one after the other", async () => {
    const instance = await start();
    const rounds: number[] = [];
    let isRunning = false;
    const run = async (round: number) => {
      expect(isRunning).toBe(false);
      isRunning = true;
      await new Promise(setImmediate);
      rounds.push(round);
      isRunning = false;
    };
    await expectNoLeak({ instance, wasm, run });
    expect(rounds).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    rounds.length = 0;
    await expectNoLeak({ instance, wasm, run, rounds: 2, warmup: 1 });
    expect(rounds).toEqual([1, 2, 3]);
  });
});

describe("an error", () => {
  test("of the work is passed on", async () => {
    const instance = await start();
    const failure = new Error("the work failed");
    const run = () => Promise.reject(failure);
    await expect(expectNoLeak({ instance, wasm, run })).rejects.toBe(failure);
  });

  test("comes before the first round if no dump can be taken", async () => {
    const instance = await start(wasm as Uint8Array<ArrayBuffer>);
    const run = () => expect.fail("it ran");
    const error = await errorOf(expectNoLeak({ instance, wasm, run }));
    expect(error.code).toBe("ERR_GLOBALS_NOT_EXPOSED");
  });

  test("says that numbers may be wrong, unless warnings are allowed", async () => {
    const instance = await start();
    const pointer = instance["__warpo_heap_analyzer:stack_pointer"] as WebAssembly.Global;
    pointer.value -= 2;
    const options = { instance, wasm, run: () => {} };
    const error = await errorOf(expectNoLeak(options));
    expect(error.code).toBe("ERR_INCONCLUSIVE");
    expect(error.message).toContain("allowWarnings");
    await expectNoLeak({ ...options, allowWarnings: true });
  });

  const wrong: [string, object, string, string][] = [
    ["a missing file", { wasm: "no.wasm" }, "ERR_IO", 'cannot read the module "no.wasm": ENOENT'],
    ["a module in place of its bytes", { wasm: {} }, "ERR_INVALID_ARG_TYPE", "pass the bytes"],
    ["no module", { wasm: undefined }, "ERR_INVALID_ARG_TYPE", '"wasm"'],
    ["no instance", { instance: undefined }, "ERR_INVALID_ARG_TYPE", '"instance"'],
    ["no work", { run: 1 }, "ERR_INVALID_ARG_TYPE", '"run" must be a function'],
    ["one round", { rounds: 1 }, "ERR_INVALID_OPTION", "a whole number from 2"],
    ["half a round", { warmup: 0.5 }, "ERR_INVALID_OPTION", "a whole number"],
    ["a path that is none", { allow: [1] }, "ERR_INVALID_ARG_TYPE", "allow[0]"],
    ["one path in place of a list", { allow: "a" }, "ERR_INVALID_ARG_TYPE", "an array"],
    ["an unknown option", { round: 3 }, "ERR_INVALID_OPTION", "did you mean rounds?"],
  ];
  test.each(wrong)("for %s", async (_, options, code, message) => {
    const instance = await start();
    const all = { instance, wasm, run: () => {}, ...options };
    const error = await errorOf(expectNoLeak(all as Parameters<typeof expectNoLeak>[0]));
    expect([error.code, error.message]).toEqual([code, expect.stringContaining(message)]);
  });
});
