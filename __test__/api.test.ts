// The public API as programs use it, from every kind of module and thread.

import { deepStrictEqual } from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { runInNewContext } from "node:vm";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { captureDump, exposeGlobals } from "../dist/capture.js";
import {
  analyze,
  analyzeAsync,
  analyzeFile,
  analyzeFileAsync,
  diff,
  diffAsync,
  diffFile,
  diffFileAsync,
  HeapAnalyzerError,
} from "../dist/index.js";
import type { ConstructorView, Progress } from "../index.js";
import {
  type LeakyServer,
  leakyServer,
  type ServerExports,
  startServer,
} from "./support/leaky_server.ts";
import { WINDOWS } from "./support/system.ts";

const ROOT = resolve(__dirname, "..");
const CLI = join(ROOT, "dist/heap_analyzer/cli.js");

let files: LeakyServer;
let before: Buffer;
let after: Buffer;
let wasm: Buffer;

beforeAll(async () => {
  files = await leakyServer();
  before = readFileSync(files.before);
  after = readFileSync(files.after);
  wasm = readFileSync(files.wasm);
});

/** A view with all its lazy properties. */
function whole(view: object): unknown {
  return JSON.parse(JSON.stringify(view));
}

/** Runs `use` with a pipe, which blocks work until something is written to it. */
async function withPipe(use: (pipe: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "heap-analyzer-api-"));
  try {
    const pipe = join(folder, "slow.dump");
    execFileSync("mkfifo", [pipe]);
    await use(pipe);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface CodedError extends Error {
  code?: string;
}

/** The error that `action` throws or rejects with. */
async function errorOf(action: () => unknown): Promise<CodedError> {
  try {
    await action();
  } catch (error) {
    return error as CodedError;
  }
  throw new Error("nothing was thrown");
}

describe("the variants agree", () => {
  test("analyze on bytes and files, sync and async", async () => {
    const options = { sort: "count", top: 5 } as const;
    const view = whole(analyze(after, wasm, options));
    expect(whole(await analyzeAsync(after, wasm, options))).toEqual(view);
    expect(whole(analyzeFile(files.after, files.wasm, options))).toEqual(view);
    expect(whole(await analyzeFileAsync(files.after, files.wasm, options))).toEqual(view);
  });

  test("diff on bytes and files, sync and async", async () => {
    const options = { sort: "alloc", top: 5 } as const;
    const view = whole(diff(before, after, wasm, options));
    expect(whole(await diffAsync(before, after, wasm, options))).toEqual(view);
    expect(whole(diffFile(files.before, files.after, files.wasm, options))).toEqual(view);
    expect(whole(await diffFileAsync(files.before, files.after, files.wasm, options))).toEqual(
      view,
    );
  });

  test("in the code and the text of an error, except for the name of the input", async () => {
    const notADump = files.wasm;
    const errors = [
      await errorOf(() => analyze(wasm, wasm)),
      await errorOf(() => analyzeAsync(wasm, wasm)),
      await errorOf(() => analyzeFile(notADump, files.wasm)),
      await errorOf(() => analyzeFileAsync(notADump, files.wasm)),
      await errorOf(() => diff(wasm, after, wasm)),
      await errorOf(() => diffAsync(wasm, after, wasm)),
      await errorOf(() => diffFile(notADump, files.after, files.wasm)),
      await errorOf(() => diffFileAsync(notADump, files.after, files.wasm)),
    ];
    const names = ["dump", "dump", notADump, notADump, "before", "before", notADump, notADump];
    const text =
      "this is a WebAssembly module, not a heap dump: were the dump and the module swapped?";
    expect(errors.map(({ message }) => message)).toEqual(names.map((name) => `${name}: ${text}`));
    expect(new Set(errors.map(({ code }) => code))).toEqual(new Set(["ERR_DUMP_MAGIC"]));
    const advice =
      "pass the dump first, then the module; write dumps with @warpo/heap-analyzer/capture";
    expect(new Set(errors.map((error) => (error as HeapAnalyzerError).advice))).toEqual(
      new Set([advice]),
    );
    expect(errors.every((error) => error instanceof Error)).toBe(true);
  });

  test("with the command line's JSON, byte for byte", () => {
    const cli = (...args: string[]) =>
      execFileSync(process.execPath, [CLI, ...args, "--wasm", files.wasm], {
        encoding: "utf8",
        maxBuffer: 1 << 28,
      });
    const json = ({ warnings, partial, ...view }: { warnings: unknown[]; partial: boolean }) => {
      expect([warnings, partial]).toEqual([[], false]);
      return `${JSON.stringify(view, null, 2)}\n`;
    };
    const { accounting: _, ...view } = analyze(after, wasm);
    expect(json(view)).toBe(cli("analyze", files.after));
    expect(json(analyze(after, wasm))).toBe(cli("analyze", files.after, "--accounting"));
    expect(json(diff(before, after, wasm))).toBe(cli("diff", files.before, files.after));
  });
});

describe("a view", () => {
  test("creates instances when they are first read, and then keeps them", () => {
    const [row] = analyze(after, wasm).constructors;
    if (!row) throw new Error("no row");
    const descriptor = () => Object.getOwnPropertyDescriptor(row, "instances");
    expect(descriptor()).toHaveProperty("get", expect.any(Function));
    const instances = row.instances;
    expect(instances).toHaveLength(row.count);
    expect(descriptor()).toHaveProperty("value", instances);
    expect(row.instances).toBe(instances);
  });

  test("has the same instances as columns", () => {
    for (const row of analyze(after, wasm).constructors) {
      const { addresses, shallowSizes, retainedSizes } = row.instanceColumns;
      expect(row.instances).toEqual(
        Array.from(addresses, (address, nth) => ({
          address,
          shallowSize: shallowSizes[nth],
          retainedSize: retainedSizes[nth],
        })),
      );
    }
  });

  test("of a comparison has its new instances first in the columns", () => {
    for (const row of diff(before, after, wasm).constructors) {
      expect(row.instanceColumns.newCount).toBe(row.newCount);
      const kinds = row.instances.map(({ changeKind }) => changeKind);
      const expected = [
        ...Array<string>(row.newCount).fill("new"),
        ...Array<string>(row.deletedCount).fill("delete"),
      ];
      expect(kinds).toEqual(expected);
    }
  });

  test("does not list the columns in JSON", () => {
    const [row] = analyze(after, wasm).constructors;
    expect(Object.keys(whole(row ?? {}) as object)).toEqual([
      "className",
      "count",
      "totalShallowSize",
      "totalRetainedSize",
      "instances",
    ]);
  });

  test("has rows that equal plain objects, and can be cloned to another thread", () => {
    const view = analyze(after, wasm);
    const plain = view.constructors.map((row) => ({
      className: row.className,
      count: row.count,
      totalShallowSize: row.totalShallowSize,
      totalRetainedSize: row.totalRetainedSize,
      instances: row.instances.map((instance) => ({ ...instance })),
    }));
    deepStrictEqual(view.constructors, plain);
    deepStrictEqual(structuredClone(view).constructors, plain);
    // As WARPO's tests ask: with whole buffers, and the first row as an object of its own.
    const [dump, module] = [after, wasm].map((bytes) => Uint8Array.from(bytes).buffer);
    const [row] = analyze(dump as ArrayBuffer, module as ArrayBuffer).constructors;
    const { className, count, totalShallowSize, totalRetainedSize, instances = [] } = row ?? {};
    expect(instances.length).toBe(count);
    deepStrictEqual(row, {
      className,
      count,
      totalShallowSize,
      totalRetainedSize,
      instances: instances.map(({ address, shallowSize, retainedSize }) => ({
        address,
        shallowSize,
        retainedSize,
      })),
    });
  });

  test.each([
    ["constructors", () => analyze(after, wasm)],
    ["changes", () => diff(before, after, wasm)],
  ])("of %s that was closed keeps what was read, and refuses the rest", (_, open) => {
    const view = open();
    const [first, second] = view.constructors;
    const instances = first?.instances;
    view.close();
    view.close();
    expect(first?.instances).toBe(instances);
    expect(first?.instanceColumns.addresses).toHaveLength(instances?.length ?? -1);
    expect(() => second?.instances).toThrow(
      expect.objectContaining({
        code: "ERR_VIEW_CLOSED",
        message: expect.stringContaining("close()"),
      }),
    );
  });

  test("closes at the end of a block with `using`", () => {
    const view = analyze(after, wasm);
    view[Symbol.dispose]();
    expect(() => view.constructors[0]?.instances).toThrow("the view was closed");
  });

  test("without instances has empty lists", () => {
    for (const row of analyze(after, wasm, { instances: 0 }).constructors) {
      expect(row.instances).toEqual([]);
      expect(row.instanceColumns.addresses).toHaveLength(0);
    }
    for (const row of diff(before, after, wasm, { instances: 0 }).constructors) {
      expect(row.instances).toEqual([]);
      expect(row.instanceColumns).toMatchObject({ newCount: 0 });
    }
  });

  test("adds up: the live size is the sum of all instances", () => {
    const view = analyze(after, wasm);
    const sizes = view.constructors.flatMap((row) => row.instances.map((one) => one.shallowSize));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(view.totalLiveSize);
  });

  test("carries warnings with their codes", () => {
    const { warnings } = analyze(Buffer.concat([after, Buffer.alloc(4)]), wasm);
    expect(warnings).toEqual([
      {
        code: "WARN_MEMORY_NOT_WHOLE_PAGES",
        message: expect.stringContaining("not a whole number of 64 KiB pages"),
      },
    ]);
  });
});

describe("bytes", () => {
  const result = () => whole(analyze(after, wasm, { top: 3 }));

  test("may be a view into a larger buffer", () => {
    const larger = new Uint8Array(after.length + 64);
    larger.set(after, 13);
    const view = larger.subarray(13, 13 + after.length);
    expect(whole(analyze(view, wasm, { top: 3 }))).toEqual(result());
  });

  test("may be of another realm, as in test runners that isolate tests", () => {
    const foreign = runInNewContext(`new Uint8Array(${after.length})`) as Uint8Array;
    expect(foreign).not.toBeInstanceOf(Uint8Array);
    foreign.set(after);
    expect(whole(analyze(foreign, wasm, { top: 3 }))).toEqual(result());
  });

  test("may be shared memory", async () => {
    const shared = new Uint8Array(new SharedArrayBuffer(after.length + 5), 5);
    shared.set(after);
    expect(whole(analyze(shared, wasm, { top: 3 }))).toEqual(result());
    expect(whole(await analyzeAsync(shared, wasm, { top: 3 }))).toEqual(result());
  });

  test("may change after the call of an async function", async () => {
    const dump = Buffer.from(after);
    const module = Buffer.from(wasm);
    const pending = analyzeAsync(dump, module, { top: 3 });
    dump.fill(0);
    module.fill(0);
    expect(whole(await pending)).toEqual(result());
  });

  test.each([
    ["a path", "after.dump", "string; to read files, call the …File variant"],
    ["nothing", undefined, "undefined"],
    ["null", null, "null"],
    ["an object", {}, "object"],
    ["a number array", [1, 2], "an Array"],
    ["words", new Uint32Array(4), "a Uint32Array"],
    ["a promise", Promise.resolve(), "a Promise; await it first"],
    ["a response", new Response(), "a Response; pass new Uint8Array(await response.arrayBuffer())"],
    [
      "a module",
      new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)),
      "a WebAssembly.Module; pass the bytes that it was compiled from",
    ],
  ])("must not be %s", async (_, value, found) => {
    const expected = `argument "dump" must be a Uint8Array, Buffer or ArrayBuffer, found ${found}`;
    for (const call of [analyze, analyzeAsync]) {
      const error = await errorOf(() => call(value as never, wasm));
      expect(error).toBeInstanceOf(HeapAnalyzerError);
      expect([error.message, error.code]).toEqual([expected, "ERR_INVALID_ARG_TYPE"]);
    }
  });

  test("are checked, and the error names the argument", async () => {
    const bad = 1 as never;
    const message = async (action: () => unknown) => (await errorOf(action)).message;
    expect(await message(() => analyze(after, bad))).toContain('"wasm"');
    expect(await message(() => diff(bad, after, wasm))).toContain('"before"');
    expect(await message(() => diff(before, bad, wasm))).toContain('"after"');
    expect(await message(() => diff(before, after, bad))).toContain('"wasm"');
  });
});

describe("paths", () => {
  test("may be text, file URLs, or the bytes of a path", async () => {
    const expected = whole(analyzeFile(files.after, files.wasm));
    const urls = [pathToFileURL(files.after), pathToFileURL(files.wasm)] as const;
    const buffers = [Buffer.from(files.after), Buffer.from(files.wasm)] as const;
    for (const [dump, module] of [urls, buffers]) {
      expect(whole(analyzeFile(dump, module))).toEqual(expected);
      expect(whole(await analyzeFileAsync(dump, module))).toEqual(expected);
    }
  });

  test.runIf(process.platform === "linux")("may be bytes that are not UTF-8", async () => {
    const folder = mkdtempSync(join(tmpdir(), "paths-"));
    const dump = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff, 0xfe])]);
    copyFileSync(files.after, dump);
    const expected = whole(analyzeFile(files.after, files.wasm));
    expect(whole(analyzeFile(dump, files.wasm))).toEqual(expected);
    expect(whole(await analyzeFileAsync(dump, files.wasm))).toEqual(expected);
    rmSync(folder, { recursive: true });
  });

  test.each<[unknown, string, string]>([
    [3, "must be a path (string, URL or Buffer), found number", "ERR_INVALID_ARG_TYPE"],
    [null, "must be a path (string, URL or Buffer), found null", "ERR_INVALID_ARG_TYPE"],
    ["", "is an empty path; expected the path of a file", "ERR_INVALID_ARG_VALUE"],
    ["a\0b", "is a path with a null byte; expected the path of a file", "ERR_INVALID_ARG_VALUE"],
    [
      Buffer.from("ASHD\0"),
      "is a path with a null byte; a Uint8Array is read as the bytes of a path: to analyze bytes, " +
        "call the variant without File; expected the path of a file",
      "ERR_INVALID_ARG_VALUE",
    ],
    [
      new URL("https://example.org/a.dump"),
      "is the URL https://example.org/a.dump, which names no file; expected the path of a file",
      "ERR_INVALID_ARG_VALUE",
    ],
  ])("such as %j are refused", async (path, message, code) => {
    for (const call of [analyzeFile, analyzeFileAsync]) {
      const error = await errorOf(() => call(path as never, files.wasm));
      expect([error.message, error.code]).toEqual([`argument "dump" ${message}`, code]);
    }
  });
});

describe("an error", () => {
  test("of the system has a cause with the properties of Node's errors", async () => {
    for (const call of [analyzeFile, analyzeFileAsync]) {
      const error = await errorOf(() => call("no.dump", files.wasm));
      expect(error.code).toBe("ERR_IO");
      expect(error.message).toMatch(/^no\.dump: cannot open the file: /);
      expect(error.cause).toMatchObject({
        code: "ENOENT",
        errno: expect.any(Number),
        path: "no.dump",
        syscall: "open",
      });
    }
  });

  test("of the engine is a HeapAnalyzerError, sync and async", async () => {
    for (const call of [analyze, analyzeAsync]) {
      const error = await errorOf(() => call(wasm, wasm));
      expect(error).toBeInstanceOf(HeapAnalyzerError);
      expect(error.name).toBe("HeapAnalyzerError");
      expect(error.cause).toBeUndefined();
    }
  });

  test("of an asynchronous call has a stack with its caller", async () => {
    async function theCaller() {
      await analyzeAsync(wasm, wasm);
    }
    expect((await errorOf(theCaller)).stack).toContain("theCaller");
  });
});

describe("options", () => {
  test.each([
    [
      { sort: "delta" },
      'option sort: found "delta"; expected "retained", "shallow", "count" or "retained-set"',
    ],
    [
      { sort: "" },
      'option sort: found ""; expected "retained", "shallow", "count" or "retained-set"',
    ],
    [{ top: 0 }, "option top: found 0; expected a whole number ≥ 1"],
    [{ top: 1.5 }, "option top: found 1.5; expected a whole number ≥ 1"],
    [{ top: -1 }, "option top: found -1; expected a whole number ≥ 1"],
    [{ top: Number.NaN }, "option top: found NaN; expected a whole number ≥ 1"],
    [{ top: Number.POSITIVE_INFINITY }, "option top: found inf; expected a whole number ≥ 1"],
    [{ instances: -1 }, "option instances: found -1; expected a whole number ≥ 0"],
    [{ instances: 0.5 }, "option instances: found 0.5; expected a whole number ≥ 0"],
  ])("such as %j are refused, sync and async", async (options, message) => {
    for (const call of [analyze, analyzeAsync]) {
      const error = await errorOf(() => call(after, wasm, options as never));
      expect([error.message, error.code]).toEqual([message, "ERR_INVALID_OPTION"]);
    }
  });

  test("such as a number for a switch are refused", async () => {
    for (const name of ["force", "partial"]) {
      const error = await errorOf(() => analyze(after, wasm, { [name]: 1 } as never));
      expect([error.message, error.code]).toEqual([
        `argument "options.${name}" must be a boolean, found number`,
        "ERR_INVALID_ARG_TYPE",
      ]);
    }
  });

  test("of diff have other orders", async () => {
    const error = await errorOf(() => diff(before, after, wasm, { sort: "retained" as never }));
    expect(error.message).toBe(
      'option sort: found "retained"; expected "delta", "alloc", "freed" or "count"',
    );
  });

  test.each([
    [{ sort: 1 }, 'argument "options.sort" must be a string, found number'],
    [{ top: "3" }, 'argument "options.top" must be a number, found string'],
    [{ instances: {} }, 'argument "options.instances" must be a number, found object'],
  ])("of another type, such as %j, are refused", async (options, message) => {
    const error = await errorOf(() => analyze(after, wasm, options as never));
    expect([error.message, error.code]).toEqual([message, "ERR_INVALID_ARG_TYPE"]);
  });

  test("may be undefined or null, one by one or all", async () => {
    const expected = whole(analyze(after, wasm));
    const absent = { sort: undefined, top: null, signal: null, onProgress: null };
    expect(whole(await analyzeAsync(after, wasm, absent))).toEqual(expected);
    expect(whole(await analyzeAsync(after, wasm, null))).toEqual(expected);
    expect(whole(analyze(after, wasm, null))).toEqual(expected);
  });

  test.each([
    [{ srot: "count" }, "unknown option srot; did you mean sort?"],
    [{ instance: 3 }, "unknown option instance; did you mean instances?"],
    [
      { colour: 1 },
      "unknown option colour; the options are sort, top, instances, force, partial, raw, globals, coredumpInstance, hostRoots, retainedSet",
    ],
    [{ signal: undefined }, "option signal works only in the …Async functions"],
  ])("that do not exist, such as %j, are refused", async (options, message) => {
    const error = await errorOf(() => analyze(after, wasm, options as never));
    expect([error.message, error.code]).toEqual([message, "ERR_INVALID_OPTION"]);
  });

  test("that limit the rows do not change the totals", () => {
    const view = analyze(after, wasm, { top: 1 });
    expect(view.constructors).toHaveLength(1);
    expect(view.totalLiveSize).toBe(analyze(after, wasm).totalLiveSize);
  });
});

test("limited instances are the first ones, in lists and in columns", async () => {
  const [all, some] = [analyze(after, wasm), analyze(after, wasm, { instances: 2 })];
  expect(some.constructors.map((row) => row.count)).toEqual(
    all.constructors.map((row) => row.count),
  );
  for (const [nth, row] of some.constructors.entries()) {
    const whole = all.constructors[nth]?.instances;
    expect(row.instances).toEqual(whole?.slice(0, 2));
    expect(row.instanceColumns.addresses).toHaveLength(Math.min(2, row.count));
  }
  const changes = (await diffAsync(before, after, wasm, { instances: 1 })).constructors;
  for (const row of changes) {
    expect(row.instances).toHaveLength(1);
    expect(row.instanceColumns.newCount).toBe(Math.min(1, row.newCount));
  }
});

describe("progress", () => {
  const PHASES = [
    "module",
    "blocks",
    "objects",
    "references",
    "search",
    "dominators",
    "sizes",
    "view",
  ];

  test("ends with a fraction of 1", async () => {
    const reports: Progress[] = [];
    await analyzeAsync(after, wasm, { onProgress: (progress) => reports.push(progress) });
    expect(reports.at(-1)).toEqual({ phase: "view", fraction: 1, bytes: after.length });
  });

  test("of a comparison is of both dumps", async () => {
    const reports: Progress[] = [];
    const onProgress = (progress: Progress) => reports.push(progress);
    await diffFileAsync(files.before, files.after, files.wasm, { onProgress });
    expect(reports.at(-1)?.bytes).toBe(before.length + after.length);
  });

  test.skipIf(WINDOWS)("is reported during the work, and never decreases", async () => {
    const reports: Progress[] = [];
    await withPipe(async (pipe) => {
      let reported = () => {};
      const firstReport = new Promise<void>((resolve) => {
        reported = resolve;
      });
      const onProgress = (progress: Progress) => {
        reports.push(progress);
        reported();
      };
      const pending = analyzeFileAsync(pipe, files.wasm, { onProgress });
      const writer = await open(pipe, "w");
      await firstReport;
      await writer.writeFile(after);
      await writer.close();
      await pending;
    });
    expect(reports.length).toBeGreaterThan(1);
    expect(reports[0]?.fraction).toBe(0);
    for (const [nth, { phase, fraction }] of reports.entries()) {
      expect(PHASES).toContain(phase);
      expect(fraction).toBeGreaterThanOrEqual(reports[nth - 1]?.fraction ?? 0);
    }
  });

  test("ends the work with the error that its listener throws", async () => {
    const mistake = new Error("a mistake of the caller");
    const onProgress = () => {
      throw mistake;
    };
    expect(await errorOf(() => analyzeAsync(after, wasm, { onProgress }))).toBe(mistake);
  });

  test("needs a function as its listener", async () => {
    const error = await errorOf(() => analyzeAsync(after, wasm, { onProgress: 1 as never }));
    expect([error.message, error.code]).toEqual([
      'argument "options.onProgress" must be a function, found number',
      "ERR_INVALID_ARG_TYPE",
    ]);
  });
});

describe("a signal", () => {
  test("that was aborted before the call stops the work, and its reason is the cause", async () => {
    const reason = new Error("too late");
    const error = await errorOf(() =>
      analyzeAsync(after, wasm, { signal: AbortSignal.abort(reason) }),
    );
    expect([error.name, error.code, error.cause]).toEqual(["AbortError", "ABORT_ERR", reason]);
  });

  /** Keeps all threads of the pool busy, so that later work has not started. */
  const busy = () => Array.from({ length: 64 }, () => diffAsync(before, after, wasm));

  test("stops waiting work", async () => {
    const controller = new AbortController();
    const others = busy();
    const pending = errorOf(() => analyzeAsync(after, wasm, { signal: controller.signal }));
    controller.abort();
    const { name, code } = await pending;
    await Promise.all(others);
    expect([name, code]).toEqual(["AbortError", "ABORT_ERR"]);
  });

  test("of one call does not affect other calls", async () => {
    const controller = new AbortController();
    const others = busy();
    const aborted = errorOf(() =>
      diffFileAsync(files.before, files.after, files.wasm, { signal: controller.signal }),
    );
    controller.abort();
    expect((await aborted).code).toBe("ABORT_ERR");
    expect(await Promise.all(others)).toHaveLength(64);
  });

  test.skipIf(WINDOWS)("stops work that is under way", async () => {
    const controller = new AbortController();
    await withPipe(async (pipe) => {
      const pending = errorOf(() =>
        analyzeFileAsync(pipe, files.wasm, { signal: controller.signal }),
      );
      // The other end of a pipe opens only when the work reads it.
      const writer = await open(pipe, "w");
      controller.abort();
      expect((await pending).code).toBe("ABORT_ERR");
      await writer.close();
    });
  });

  test("that is never aborted has no effect, and has no listeners afterwards", async () => {
    const { signal } = new AbortController();
    const listening: string[] = [];
    const { addEventListener, removeEventListener } = signal;
    signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      listening.push(args[0]);
      addEventListener.apply(signal, args);
    };
    signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      listening.pop();
      removeEventListener.apply(signal, args);
    };
    const view = await analyzeAsync(after, wasm, { signal });
    expect(view.constructors.length).toBeGreaterThan(0);
    expect(listening).toEqual([]);
  });
});

test("twenty calls at the same time have the same result as one", async () => {
  const expected = whole(analyze(after, wasm));
  const views = await Promise.all(Array.from({ length: 20 }, () => analyzeAsync(after, wasm)));
  for (const view of views) expect(whole(view)).toEqual(expected);
});

test("a live program is analyzed without a file", async () => {
  const exports = await startServer(new Uint8Array(wasm));
  const running = exports as unknown as ServerExports;
  running.serve(40);
  running.__collect();
  const first = captureDump(exports);
  running.serve(120);
  running.__collect();
  const second = captureDump(exports);
  const [row] = diff(first, second, wasm).constructors;
  expect(row).toMatchObject({ className: "assembly/server/PriceListener", countDelta: 120 });
});

test("the module may also be the exposed one", () => {
  const exposed = exposeGlobals(wasm);
  expect(whole(analyze(after, exposed))).toEqual(whole(analyze(after, wasm)));
});

describe("the package is loaded", () => {
  let folder: string;

  beforeAll(() => {
    // Inside the package, so that it is found by its own name.
    mkdirSync(join(ROOT, "build"), { recursive: true });
    folder = realpathSync(mkdtempSync(join(ROOT, "build", "api-")));
  });

  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const expected = () => String(analyze(after, wasm).totalLiveSize);

  /** Runs a script that finds its inputs in `argv` and prints the live size. */
  function run(file: string, script: string): string {
    const path = join(folder, file);
    writeFileSync(path, script);
    return execFileSync(process.execPath, [path, files.after, files.wasm], { encoding: "utf8" });
  }

  test("by import, with names and as a namespace", () => {
    const script = `
      import { analyzeFile } from "@warpo/heap-analyzer";
      import * as all from "@warpo/heap-analyzer";
      const [dump, wasm] = process.argv.slice(2);
      if (all.analyzeFile !== analyzeFile) throw new Error("two packages");
      process.stdout.write(String(analyzeFile(dump, wasm).totalLiveSize));`;
    expect(run("imports.mjs", script)).toBe(expected());
  });

  test("by require", () => {
    const script = `
      const { analyzeFile } = require("@warpo/heap-analyzer");
      const [dump, wasm] = process.argv.slice(2);
      process.stdout.write(String(analyzeFile(dump, wasm).totalLiveSize));`;
    expect(run("requires.cjs", script)).toBe(expected());
  });

  test("in a test runner, by its own name", async () => {
    const required = createRequire(import.meta.url)("@warpo/heap-analyzer") as {
      analyze: typeof analyze;
    };
    const view: ConstructorView = required.analyze(after, wasm);
    expect(String(view.totalLiveSize)).toBe(expected());
  });

  test("in a worker, which posts its result", async () => {
    const script = `
      const { parentPort, workerData } = require("node:worker_threads");
      const { analyze } = require("@warpo/heap-analyzer");
      const view = analyze(workerData.dump, workerData.wasm, { top: 2 });
      parentPort.postMessage(JSON.parse(JSON.stringify(view)));`;
    const path = join(folder, "worker.cjs");
    writeFileSync(path, script);
    const workers = Array.from({ length: 3 }, () => {
      const worker = new Worker(path, { workerData: { dump: after, wasm } });
      return new Promise((done, failed) => {
        worker.once("message", done);
        worker.once("error", failed);
      });
    });
    const view = whole(analyze(after, wasm, { top: 2 }));
    expect(await Promise.all(workers)).toEqual([view, view, view]);
  });

  test("in jest", () => {
    const fixture = `
      const { readFileSync } = require("node:fs");
      const { analyze, analyzeAsync } = require("@warpo/heap-analyzer");
      const bytes = (name) => Uint8Array.from(readFileSync(process.env[name]));
      test("analyze takes arrays and Buffers", async () => {
        const [dump, wasm] = [bytes("DUMP"), bytes("WASM")];
        const view = analyze(dump, wasm);
        expect(view.totalLiveSize).toBe(Number(process.env.EXPECTED));
        expect(analyze(readFileSync(process.env.DUMP), wasm).totalLiveSize).toBe(view.totalLiveSize);
        expect((await analyzeAsync(dump, wasm)).constructors).toHaveLength(view.constructors.length);
        expect(() => analyze("path", wasm)).toThrow("must be a Uint8Array");
      });`;
    const path = join(folder, "fixture.test.js");
    writeFileSync(path, fixture);
    const jest = join(ROOT, "node_modules/jest/bin/jest.js");
    const config = JSON.stringify({ rootDir: folder, testEnvironment: "node", transform: {} });
    const { status, stderr } = spawnSync(process.execPath, [jest, "--config", config], {
      encoding: "utf8",
      cwd: folder,
      env: { ...process.env, DUMP: files.after, WASM: files.wasm, EXPECTED: expected() },
    });
    expect(stderr).toContain("1 passed, 1 total");
    expect(status).toBe(0);
  });
});
