// The class Heap: opened once, asked many times, closed.

import {
  appendFileSync,
  copyFileSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exposeGlobals } from "../dist/capture.js";
import {
  analyze,
  diff,
  type HeapAnalyzerError,
  Heap as HeapClass,
  openHeap,
  openHeapAsync,
  openHeapFile,
  openHeapFileAsync,
} from "../dist/index.js";
import type { ClassCount, ConstructorView, Heap } from "../index.js";
import { runScript } from "./support/child.ts";
import { type LeakyServer, leakyServer } from "./support/leaky_server.ts";

let files: LeakyServer;
let before: Buffer;
let after: Buffer;
let wasm: Buffer;
let folder: string;
let heap: Heap;

beforeAll(async () => {
  files = await leakyServer();
  before = readFileSync(files.before);
  after = readFileSync(files.after);
  wasm = readFileSync(files.wasm);
  folder = mkdtempSync(join(tmpdir(), "heap-analyzer-heap-"));
  heap = openHeap(after, wasm);
});

afterAll(() => {
  heap.close();
  rmSync(folder, { recursive: true });
});

/** The error that a call throws or rejects with. */
async function errorOf(call: () => unknown): Promise<HeapAnalyzerError> {
  try {
    await call();
  } catch (error) {
    return error as HeapAnalyzerError;
  }
  throw new Error("there was no error");
}

/** A view with its instances, without columns. */
const whole = (view: object) => JSON.parse(JSON.stringify(view));

/** The output of a script in a separate process. Its inputs are in the environment. */
function run(script: string): string {
  const env = { AFTER: files.after, WASM: files.wasm };
  const { stdout, ...rest } = runScript(files, script, { bare: true, env });
  expect(rest).toEqual({ status: 0, signal: null, stderr: "" });
  return stdout;
}

const LISTENER = "assembly/server/PriceListener";

/** The address of the listener that retains the most. */
function listener(of = heap): number {
  return of.find({ class: LISTENER, limit: 1 }).objects[0]?.address as number;
}

describe("a heap", () => {
  test("is the same from bytes and files, with and without the event loop", async () => {
    const heaps = [
      openHeap(after, wasm, { prepare: true }),
      await openHeapAsync(after, wasm),
      openHeapFile(files.after, files.wasm),
      await openHeapFileAsync(files.after, files.wasm, { prepare: true }),
    ];
    for (const other of heaps) {
      expect(other.summary()).toEqual(heap.summary());
      expect(other.object(listener())).toEqual(heap.object(listener()));
      other.close();
    }
  });

  test("reports its classes once while it is opened", async () => {
    const classes: ClassCount[][] = [];
    const onClasses = (counts: ClassCount[]) => classes.push(counts);
    const opened = await openHeapFileAsync(files.after, files.wasm, { onClasses });
    await openHeapAsync(after, wasm, { onClasses });
    const rows = opened.constructors({ sort: "shallow", instances: 0 }).constructors;
    const expected = rows.map(({ className, count, totalShallowSize: shallowSize }) =>
      expect.objectContaining({ className, count, shallowSize }),
    );
    expect(classes).toHaveLength(2);
    for (const counts of classes) {
      expect(counts).toHaveLength(rows.length);
      expect(counts).toEqual(expect.arrayContaining(expected));
    }
    const fail = () => Promise.reject(new Error("the listener failed"));
    const failed = openHeapFileAsync(files.after, files.wasm, { onClasses: fail });
    await expect(failed).rejects.toThrow("the listener failed");
    expect(() => openHeap(after, wasm, { onClasses } as object)).toThrow(
      "unknown option onClasses",
    );
  });

  test("has the views, the accounting and the warnings of the one-shot functions", () => {
    const view = analyze(after, wasm, { sort: "count", top: 3, instances: 2 });
    const options = { sort: "count", top: 3, instances: 2 } as const;
    expect(whole(heap.constructors(options))).toEqual(whole(view));
    expect(heap.accounting).toEqual(view.accounting);
    expect(heap.warnings).toEqual(view.warnings);
    expect(heap.partial).toBe(false);
  });

  test("compares with an earlier heap as diff does", () => {
    const earlier = openHeap(before, wasm);
    expect(whole(heap.compareWith(earlier, { sort: "alloc" }))).toEqual(
      whole(diff(before, after, wasm, { sort: "alloc" })),
    );
  });

  test("gives the same views off the event loop", async () => {
    const earlier = openHeap(before, wasm);
    const options = { top: 3, instances: 2 };
    expect(whole(await heap.constructorsAsync(options))).toEqual(whole(heap.constructors(options)));
    expect(whole(await heap.compareWithAsync(earlier, options))).toEqual(
      whole(heap.compareWith(earlier, options)),
    );
  });

  test("names the dump in the warnings of everything that compares two heaps", async () => {
    const odd = join(folder, "odd.dump");
    writeFileSync(odd, Buffer.concat([before, Buffer.alloc(100)]));
    const earlier = openHeapFile(odd, files.wasm);
    const later = openHeapFile(files.after, files.wasm);
    for (const { warnings } of [
      later.compareWith(earlier),
      await later.compareWithAsync(earlier),
      later.suspects({ before: earlier }),
      later.paths({ newSince: earlier }),
    ]) {
      expect(warnings.map(({ message }) => message)).toEqual([
        `${odd}: ${earlier.warnings[0]?.message}`,
      ]);
    }
  });

  test("refuses to compare addresses with a heap of another module", async () => {
    const other = openHeap(before, exposeGlobals(wasm));
    for (const call of [
      () => heap.compareWith(other),
      () => heap.paths({ newSince: other }),
      () => heap.pathsAsync({ newSince: other }),
    ]) {
      const { code, message } = await errorOf(call);
      expect(code).toBe("ERR_MODULE_MISMATCH");
      expect(message).toContain("were opened with different modules");
    }
  });

  test("keeps its own copy of bytes", () => {
    const dump = Uint8Array.from(after);
    const own = openHeap(dump, wasm);
    dump.fill(0xff);
    expect(own.object(listener())).toEqual(heap.object(listener()));
  });

  test("is prepared after it was opened, and gives the same answers", async () => {
    const address = listener();
    const [one, other] = [openHeap(after, wasm), openHeap(after, wasm)];
    one.prepare();
    const unprepared = other.memorySize;
    expect(unprepared).toBeGreaterThan(after.length);
    const preparation = other.prepareAsync();
    expect(await other.pathsAsync(address)).toEqual(heap.paths(address));
    expect(await preparation).toBeUndefined();
    expect(other.memorySize).toBeGreaterThan(unprepared);
    expect(other.memorySize).toBe(one.memorySize);
    expect(one.paths(address)).toEqual(heap.paths(address));
    const signal = AbortSignal.abort();
    expect((await errorOf(() => openHeap(after, wasm).prepareAsync({ signal }))).code).toBe(
      "ABORT_ERR",
    );
    const closed = openHeap(after, wasm);
    closed.close();
    expect((await errorOf(() => closed.prepare())).code).toBe("ERR_HEAP_CLOSED");
    expect((await errorOf(() => closed.memorySize)).code).toBe("ERR_HEAP_CLOSED");
    expect((await errorOf(() => closed.prepareAsync())).code).toBe("ERR_HEAP_CLOSED");
  });

  test("is a Heap, which only openHeap makes", () => {
    expect(heap).toBeInstanceOf(HeapClass);
    const Constructor = HeapClass as unknown as new () => Heap;
    expect(() => new Constructor()).toThrow("call openHeap");
  });

  test("gives the same answers synchronously and asynchronously", async () => {
    const address = listener();
    expect(await heap.findAsync({ class: LISTENER })).toEqual(heap.find({ class: LISTENER }));
    expect(await heap.objectAsync(address)).toEqual(heap.object(address));
    expect(await heap.referrersAsync(address)).toEqual(heap.referrers(address));
    expect(await heap.pathsAsync(address)).toEqual(heap.paths(address));
    expect(await heap.dominatorsAsync({ by: "class" })).toEqual(heap.dominators({ by: "class" }));
    expect(await heap.unreachableAsync({ maxNodes: 3 })).toEqual(heap.unreachable({ maxNodes: 3 }));
  });

  test("answers many questions at the same time", async () => {
    const fresh = openHeap(after, wasm);
    const expected = heap.paths(listener());
    const answers = Array.from({ length: 20 }, () => fresh.pathsAsync(listener()));
    for (const answer of await Promise.all(answers)) expect(answer).toEqual(expected);
    fresh.close();
  });
});

describe("an answer", () => {
  test("about an object names its class, fields and referrers", () => {
    const object = heap.object(listener());
    expect(object).toMatchObject({ className: LISTENER, state: "live", referrerCount: 1 });
    expect(object.fields.map(({ name }) => name)).toContain("product");
  });

  test("about a path begins at the global that leaks", () => {
    const { path, cut, independentReferrers } = heap.paths(listener());
    expect(path?.root).toEqual({ kind: "global", name: "assembly/server/prices" });
    expect(path?.steps.map(({ className }) => className)).toEqual([
      "assembly/server/PriceFeed",
      `~lib/array/Array<${LISTENER}>`,
      LISTENER,
    ]);
    expect(path?.steps[1]?.label).toBe("listeners");
    expect(path?.stable).toBe(true);
    expect(independentReferrers.total).toBe(1);
    expect(cut?.freed).toBe(heap.object(listener()).retainedSize);
  });

  test("lists one page, and says how many entries there are", () => {
    const first = heap.find({ class: LISTENER, limit: 3 });
    const second = heap.find({ class: LISTENER, limit: 3, offset: 3 });
    const both = heap.find({ class: LISTENER, limit: 6 });
    expect([...first.objects, ...second.objects]).toEqual(both.objects);
    expect([first.total, first.offset, first.limit]).toEqual([160, 0, 3]);
  });
});

describe("the retained size of a class as a set", () => {
  const rows = () => heap.constructors().constructors;

  test("is that of the merged paths of the class", () => {
    for (const { className, retainedSetSize } of rows()) {
      const paths = heap.paths({ class: className });
      expect([className, retainedSetSize]).toEqual([className, paths.retainedSetSize]);
    }
  });

  test("is the same from analyze, if it is asked for", () => {
    const sets = analyze(after, wasm, { retainedSet: true }).constructors;
    expect(sets.map((row) => row.retainedSetSize)).toEqual(
      rows().map((row) => row.retainedSetSize),
    );
    expect(analyze(after, wasm).constructors[0]?.retainedSetSize).toBeUndefined();
  });

  test("is at most the live size and the sum, and not part of JSON", () => {
    const { totalLiveSize } = heap.summary();
    for (const row of rows()) {
      expect(row.retainedSetSize).toBeGreaterThanOrEqual(row.totalShallowSize);
      expect(row.retainedSetSize).toBeLessThanOrEqual(
        Math.min(totalLiveSize, row.totalRetainedSize),
      );
      expect(JSON.stringify(row)).not.toContain("retainedSetSize");
    }
  });

  test("orders the rows, if it is asked to", () => {
    const sizes = (view: ConstructorView) => view.constructors.map((row) => row.retainedSetSize);
    const sorted = sizes(heap.constructors({ sort: "retained-set" }));
    expect(sorted).toEqual([...sorted].sort((one, other) => (other ?? 0) - (one ?? 0)));
    expect(sizes(analyze(after, wasm, { sort: "retained-set", retainedSet: true }))).toEqual(
      sorted,
    );
  });
});

describe("a wrong question", () => {
  const cases: [string, () => unknown, string, string][] = [
    [
      "an address without an object",
      () => heap.object(3),
      "ERR_NO_OBJECT",
      "there is no object at",
    ],
    ["an unknown class", () => heap.find({ class: "PriceListner" }), "ERR_UNKNOWN_CLASS", LISTENER],
    ["an unknown option", () => heap.find({ clas: "x" } as object), "ERR_INVALID_OPTION", "class?"],
    [
      "an address of a wrong type",
      () => heap.object("x" as never),
      "ERR_INVALID_ARG_TYPE",
      "string",
    ],
    [
      "a group that has no text",
      () => heap.dominators({ by: Object.create(null) as never }),
      "ERR_INVALID_ARG_TYPE",
      "options.by",
    ],
    ["an address beyond 4 GiB", () => heap.object(2 ** 32), "ERR_NO_OBJECT", "0x100000000"],
    ["an address beyond 2^53", () => heap.object(2 ** 60), "ERR_INVALID_OPTION", "whole number"],
    ["a limit of 0", () => heap.find({ limit: 0 }), "ERR_INVALID_OPTION", "a whole number ≥ 1"],
    ["no target of paths", () => heap.paths({} as never), "ERR_INVALID_OPTION", "exactly one of"],
    ["a heap that is none", () => heap.compareWith({} as never), "ERR_INVALID_ARG_TYPE", "a Heap"],
    [
      "a threshold above 1",
      () => heap.suspects({ threshold: 2 }),
      "ERR_INVALID_OPTION",
      "at most 1",
    ],
    [
      "a graph without nodes",
      () => heap.unreachable({ maxNodes: 0 }),
      "ERR_INVALID_OPTION",
      "a whole number ≥ 1",
    ],
  ];
  test.each(cases)("is an error: %s", async (_, call, code, part) => {
    const error = await errorOf(call);
    expect(error.code).toBe(code);
    expect(error.message).toContain(part);
  });
});

describe("a heap that was closed", () => {
  test("refuses every use", async () => {
    const closed = openHeap(after, wasm);
    const open = openHeap(after, wasm);
    closed.close();
    closed.close();
    for (const call of [
      () => closed.summary(),
      () => closed.accounting,
      () => closed.warnings,
      () => closed.partial,
      () => closed.constructors(),
      () => closed.compareWith(open),
      () => open.compareWith(closed),
      () => open.suspects({ before: closed }),
      () => closed.findAsync({ class: LISTENER }),
      () => closed.constructorsAsync(),
      () => open.compareWithAsync(closed),
    ]) {
      expect((await errorOf(call)).code).toBe("ERR_HEAP_CLOSED");
    }
  });

  test("leaves the views that were made from it", () => {
    const closed = openHeap(after, wasm);
    const view = closed.constructors();
    closed.close();
    expect(whole(view)).toEqual(whole(heap.constructors()));
  });

  test("aborts the questions that wait", async () => {
    const closed = openHeap(after, wasm);
    const others = Array.from({ length: 8 }, () => heap.findAsync({ contains: "u" }));
    const pending = Array.from({ length: 8 }, () =>
      errorOf(async () => {
        await closed.findAsync({ contains: "u" });
        throw new Error("it was answered");
      }),
    );
    closed.close();
    for (const { code, message } of await Promise.all(pending)) {
      // Work that was done already is an answer.
      if (message !== "it was answered") expect(code).toBe("ERR_HEAP_CLOSED");
    }
    expect(await Promise.all(others)).toHaveLength(8);
  });

  test("is closed at the end of a block with `using`", () => {
    const closed = openHeap(after, wasm);
    closed[Symbol.dispose]();
    expect(() => closed.summary()).toThrow("the heap was closed");
  });
});

test("a signal aborts a question", async () => {
  const signal = AbortSignal.abort(new Error("too late"));
  const error = await errorOf(() => heap.findAsync({ class: LISTENER, signal }));
  expect([error.name, error.code]).toEqual(["AbortError", "ABORT_ERR"]);
});

describe("a dump file that was changed or replaced", () => {
  /** A heap of a copy of the dump, which `change` then changes. */
  function changed(name: string, change: (dump: string) => void): Heap {
    const dump = join(folder, `${name}.dump`);
    copyFileSync(files.after, dump);
    const opened = openHeapFile(dump, files.wasm, { prepare: true });
    change(dump);
    return opened;
  }

  const cases: [string, (dump: string) => void, string][] = [
    ["grew", (dump) => appendFileSync(dump, "x"), "bytes instead of"],
    ["was removed", (dump) => unlinkSync(dump), "no file"],
    [
      "was truncated",
      (dump) => writeFileSync(dump, after.subarray(0, 1000)),
      "1000 bytes instead of",
    ],
    [
      "was replaced",
      (dump) => {
        copyFileSync(files.after, `${dump}.new`);
        renameSync(`${dump}.new`, dump);
      },
      "",
    ],
    ["was written again", (dump) => utimesSync(dump, 1, 1), "a later time of modification"],
  ];
  test.each(cases)("is an error for contents when it %s", async (name, change, found) => {
    const opened = changed(name, change);
    const { code, message } = await errorOf(() => opened.object(listener()));
    expect(code).toBe("ERR_DUMP_CHANGED");
    expect(message).toContain(join(folder, `${name}.dump`));
    expect(message).toContain(found);
    // Numbers need no contents.
    expect(opened.summary().totalLiveSize).toBe(heap.summary().totalLiveSize);
  });

  test("may be found again after the working directory has changed", () => {
    const script = `
      const { copyFileSync } = require("node:fs");
      const { openHeapFile } = require("@warpo/heap-analyzer");
      process.chdir(${JSON.stringify(folder)});
      copyFileSync(process.env.AFTER, "relative.dump");
      const heap = openHeapFile("relative.dump", process.env.WASM);
      process.chdir("/");
      console.log(heap.object(${listener()}).className);`;
    expect(run(script)).toBe(`${LISTENER}\n`);
  });
});

test("a heap in a worker gives the same answers, and ends with it", () => {
  const script = `
    const { Worker } = require("node:worker_threads");
    const source = \`
      const { parentPort } = require("node:worker_threads");
      const { openHeapFile } = require("@warpo/heap-analyzer");
      const heap = openHeapFile(process.env.AFTER, process.env.WASM);
      parentPort.postMessage(heap.summary().totalLiveSize);
      heap.findAsync({ contains: "u" });
    \`;
    for (let nth = 0; nth < 4; nth++) {
      const worker = new Worker(source, { eval: true });
      worker.on("message", (size) => { console.log(size); worker.terminate(); });
    }`;
  const size = String(heap.summary().totalLiveSize);
  expect(run(script).trim().split("\n")).toEqual([size, size, size, size]);
});
