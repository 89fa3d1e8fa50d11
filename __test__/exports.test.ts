// Exports as streams of Node: what ends them, and what they hold up.

import { copyFileSync, mkdtempSync, readFileSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { finished, pipeline } from "node:stream/promises";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { captureDump } from "../dist/capture.js";
import { type HeapAnalyzerError, openHeap, openHeapFile } from "../dist/index.js";
import type { Heap } from "../index.js";
import { runScript } from "./support/child.ts";
import {
  type LeakyServer,
  leakyServer,
  type ServerExports,
  startServer,
} from "./support/leaky_server.ts";

let files: LeakyServer;
let before: Heap;
let heap: Heap;
/** A dump with 40,000 listeners: its export has many pieces. */
let large: Uint8Array;
let wasm: Buffer;
let folder: string;

beforeAll(async () => {
  files = await leakyServer();
  wasm = readFileSync(files.wasm);
  before = openHeapFile(files.before, files.wasm);
  heap = openHeapFile(files.after, files.wasm);
  const exports = await startServer(new Uint8Array(wasm));
  (exports as unknown as ServerExports).serve(40_000);
  large = captureDump(exports);
  folder = mkdtempSync(join(tmpdir(), "heap-analyzer-exports-"));
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** The error that a stream fails with while it is read to its end. */
async function errorOf(stream: Readable): Promise<HeapAnalyzerError> {
  try {
    await buffer(stream);
  } catch (error) {
    return error as HeapAnalyzerError;
  }
  throw new Error("the stream came to its end");
}

/** The first piece of a stream, which is read no further. */
async function firstPiece(stream: Readable): Promise<Buffer> {
  for (;;) {
    const piece = stream.read() as Buffer | null;
    if (piece !== null) return piece;
    await new Promise((resolve) => stream.once("readable", resolve));
  }
}

type Start = (heap: Heap, signal?: AbortSignal) => Readable;

const OBJECTS = {
  table: "object",
  dumpId: "1".repeat(64),
  moduleId: "2".repeat(64),
  capturedAt: new Date(0),
  dumpSize: 1,
} as const;

const formats: [string, Start][] = [
  ["heapsnapshot", (heap, signal) => heap.export("heapsnapshot", { signal })],
  ["pprof", (heap, signal) => heap.export("pprof", { signal })],
  ["heap-diff", (heap, signal) => heap.export("heap-diff", { before, signal })],
  ["parquet", (heap, signal) => heap.export("parquet", { ...OBJECTS, signal })],
];

describe.each(formats)("an export as %s", (_, start) => {
  test("has the same bytes each time, also while others are made", async () => {
    const [one, ...others] = await Promise.all([1, 2, 3].map(() => buffer(start(heap))));
    expect(one?.length).toBeGreaterThan(100);
    for (const other of others) expect(other.equals(one as Buffer)).toBe(true);
  });

  test("has the same bytes from a heap of bytes, but for the names of files", async () => {
    const ofBytes = openHeap(readFileSync(files.after), wasm);
    const text = (await buffer(start(ofBytes))).toString("latin1");
    const ofFile = (await buffer(start(heap))).toString("latin1");
    expect(text.replace('"target":"dump"', `"target":${JSON.stringify(files.after)}`)).toBe(ofFile);
  });

  test("is aborted by a signal, before it begins or at any piece", async () => {
    const opened = openHeap(large, wasm);
    expect((await errorOf(start(opened, AbortSignal.abort()))).name).toBe("AbortError");
    const controller = new AbortController();
    const stream = start(opened, controller.signal);
    await firstPiece(stream);
    controller.abort();
    expect(stream.destroyed).toBe(true);
    await expect(finished(stream)).rejects.toMatchObject({ name: "AbortError" });
    opened.close();
  });

  test("of a closed heap is refused", () => {
    const closed = openHeap(large, wasm);
    closed.close();
    expect(() => start(closed)).toThrow(expect.objectContaining({ code: "ERR_HEAP_CLOSED" }));
  });
});

test("an export waits for its reader", async () => {
  const opened = openHeap(large, wasm);
  const stream = opened.export("heapsnapshot");
  await firstPiece(stream);
  await setTimeout(200);
  const waiting = stream.readableLength;
  const rest = await buffer(stream);
  expect(waiting).toBeGreaterThan(0);
  expect(waiting).toBeLessThan(1 << 19);
  expect(rest.length).toBeGreaterThan(1 << 20);
  opened.close();
});

test("a reader that stops early stops the export, and the heap can be asked on", async () => {
  const opened = openHeap(large, wasm);
  const stream = opened.export("heapsnapshot");
  for await (const piece of stream) {
    expect(piece).toBeInstanceOf(Buffer);
    break;
  }
  expect(stream.destroyed).toBe(true);
  expect(opened.summary().totalLiveSize).toBeGreaterThan(1 << 20);
  opened.close();
});

test("a consumer that fails ends the export", async () => {
  const opened = openHeap(large, wasm);
  const stream = opened.export("heapsnapshot");
  const failing = async (pieces: AsyncIterable<Buffer>) => {
    for await (const _ of pieces) throw new Error("the disk is full");
  };
  await expect(pipeline(stream, failing)).rejects.toThrow("the disk is full");
  expect(stream.destroyed).toBe(true);
  opened.close();
});

describe("close of a heap", () => {
  test("makes an export that is being read fail", async () => {
    const opened = openHeap(large, wasm);
    const stream = opened.export("heapsnapshot");
    const failure = errorOf(stream);
    await setTimeout(0);
    opened.close();
    expect((await failure).code).toBe("ERR_HEAP_CLOSED");
  });

  test("makes an export fail that is read on later, and does not end it early", async () => {
    const opened = openHeap(large, wasm);
    const [waiting, unread] = [opened.export("heapsnapshot"), opened.export("pprof")];
    await firstPiece(waiting);
    // If its next piece is being made, it fails now, and otherwise when it is read.
    waiting.on("error", () => {});
    opened.close();
    await setTimeout(50);
    expect((await errorOf(waiting)).code).toBe("ERR_HEAP_CLOSED");
    expect((await errorOf(unread)).code).toBe("ERR_HEAP_CLOSED");
  });

  test("leaves an export alone that has ended", async () => {
    const opened = openHeap(large, wasm);
    const whole = await buffer(opened.export("pprof"));
    opened.close();
    expect(whole.length).toBeGreaterThan(100);
  });
});

test("a dump that changes while an export is read is an error in the middle", async () => {
  const dump = join(folder, "changing.dump");
  copyFileSync(files.after, dump);
  const opened = openHeapFile(dump, files.wasm);
  truncateSync(dump, 1000);
  const error = await errorOf(opened.export("heapsnapshot"));
  expect(error.code).toBe("ERR_DUMP_CHANGED");
  expect(error.message).toContain(dump);
  // Numbers and names of classes need no contents.
  expect((await buffer(opened.export("pprof"))).length).toBeGreaterThan(100);
});

test("a process ends although an export is not read to its end", () => {
  const script = `
    const { openHeapFile } = require(${JSON.stringify(join(__dirname, "../dist/index.js"))});
    const heap = openHeapFile(after, wasm);
    const stream = heap.export("heapsnapshot");
    stream.once("readable", () => console.log(stream.read().length > 0));`;
  const { status, stdout, stderr } = runScript(files, script);
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: "true\n", stderr: "" });
});

describe("what cannot be exported is refused at once", () => {
  const cases: [string, () => unknown, string, string][] = [
    [
      "an unknown format",
      () => heap.export("csv" as "pprof"),
      "ERR_INVALID_OPTION",
      "format: found csv; expected heapsnapshot, pprof, heap-diff, parquet",
    ],
    [
      "no format",
      () => heap.export(undefined as unknown as "pprof"),
      "ERR_INVALID_ARG_TYPE",
      "format",
    ],
    [
      "an option of another format",
      () => heap.export("pprof", { strings: false } as object),
      "ERR_INVALID_OPTION",
      "unknown option strings",
    ],
    [
      "a comparison with nothing",
      () => heap.export("heap-diff", {} as { before: Heap }),
      "ERR_INVALID_OPTION",
      "before: found none; expected an earlier heap",
    ],
    [
      "one heap with an earlier one",
      () => heap.export("pprof", { before } as object),
      "ERR_INVALID_OPTION",
      "before: found an earlier heap; expected none",
    ],
    [
      "an earlier heap that is none",
      () => heap.export("heap-diff", { before: "before.dump" } as unknown as { before: Heap }),
      "ERR_INVALID_ARG_TYPE",
      "before",
    ],
    [
      "samples below zero",
      () => heap.export("heap-diff", { before, samples: -1 }),
      "ERR_INVALID_OPTION",
      "options.samples: found -1",
    ],
    [
      "progress, which a stream does not report",
      () => heap.export("pprof", { onProgress() {} } as object),
      "ERR_INVALID_OPTION",
      "onProgress",
    ],
  ];
  test.each(cases)("%s", (_, call, code, message) => {
    expect(call).toThrow(expect.objectContaining({ code }));
    expect(call).toThrow(message);
  });
});
