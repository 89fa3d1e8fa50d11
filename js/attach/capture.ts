// Takes a dump of an instance of the target, and writes it to a file.
//
// A process of Node writes the memory itself, straight into the file: 512 MiB in a second. Elsewhere, and where
// the target sees other files than this process, only pages that are not zero travel over the connection.

import { ftruncateSync, statSync, writeSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { hasEmptyStack } from "../capture/snapshot.js";
import { HeapAnalyzerError } from "../errors.js";
import { answerError, base64 } from "../inspector/answer.js";
import { fitting } from "../inspector/calls.js";
import type { RemoteObject } from "../inspector/protocol.js";
import { anything, listOf, optional, record, type Shape, whole } from "../inspector/shape.js";
import * as native from "../native.js";
import { callNative } from "../native_errors.js";
import { Exchange } from "./exchange.js";
import {
  call,
  objectOf,
  type Parts,
  partsOf,
  type RemoteInstance,
  readValue,
  releaseObjects,
  SHORT_LIVED,
} from "./instances.js";
import { flushed, type Unpublished, written } from "./output.js";
import { type Pause, TIME_TO_REST } from "./pause.js";
import { COPY_PAGES, READ_COPY, READ_PAGES, WRITE_FILE } from "./remote_code.js";

const PAGE = 64 * 1024;
const MAX_PAGES = 65_536;
/** Pages of one answer: 8 MiB, 11 MiB in base64. */
const PAGES_AT_ONCE = 128;
const PAGES = listOf(anything, PAGES_AT_ONCE);
/** The most globals of a module. */
const MAX_GLOBALS = 1_000_000;
/** Milliseconds between two looks at what the target writes. */
const WATCH = 500;
/** The longest copy, in milliseconds: a day. */
const MAX_TIME = 86_400_000;
const MAGIC = Buffer.from("ASHD");
const VERSION = 2;
/** The bit of the version that marks a dump during which nothing of the program was running. */
const AT_REST = 0x4000_0000;
const HEADER_SIZE = 24;
/** Which word of the header after the magic is the start of the heap. */
const HEAP_BASE = 2;

/** What was captured beside the file. */
export interface Captured {
  /** In bytes. */
  memorySize: number;
  /** The address at which the heap of the program starts. */
  heapBase: number;
  /** Milliseconds for which the target copied its memory, as it says. */
  time: number;
  /** What may be wrong with the dump, as sentences. */
  warnings: string[];
}

/** What is done with a dump that is complete and has no name yet: its descriptor can be read. */
type Before = (captured: Captured, descriptor: number) => Promise<void>;

/**
 * Writes a dump of an instance. The file has no name until it is published; its owner alone can read it.
 *
 * @param wasm the module of the instance.
 * @param pause if the thread of the instance is paused. Otherwise the dump is taken when it rests.
 */
export async function writeInstanceDump(
  instance: RemoteInstance,
  wasm: Uint8Array,
  path: string,
  { pause, before }: { pause?: Pause; before?: Before } = {},
): Promise<{ captured: Captured; file: Unpublished }> {
  const layout = callNative(() => native.dumpGlobals(wasm));
  const target = resolve(path);
  if (statSync(target, { throwIfNoEntry: false })?.isFile() === false) {
    throw new HeapAnalyzerError(
      "ERR_DUMP_PATH",
      `cannot write the dump ${path}: it exists and is not a regular file`,
    );
  }
  let captured: Captured | undefined;
  try {
    const file = await written(path, "the dump", async (descriptor) => {
      const to = { descriptor, folder: dirname(target) };
      captured = await capture(instance, layout, to, pause);
      await before?.(captured, descriptor);
      await flushed(descriptor, instance.thread.session);
    });
    return { captured: captured as unknown as Captured, file };
  } finally {
    await releaseObjects(instance.thread);
  }
}

/** Where a dump goes: an open file, and a folder of its disk. */
interface DumpPlace {
  descriptor: number;
  folder: string;
}

/** What the target says of a copy of its memory. */
interface CaptureResult {
  values: number[];
  size: number;
  time: number;
  /** How many functions ran, if the program did not rest. */
  frames?: unknown;
  /** Whether functions may be suspended on stacks of their own. */
  suspends?: unknown;
}

async function capture(
  instance: RemoteInstance,
  layout: native.DumpGlobalsData,
  to: DumpPlace,
  pause: Pause | undefined,
): Promise<Captured> {
  const indexes = [...layout.values];
  for (const { global } of layout.boundaries) if (global !== undefined) indexes.push(global);
  const headerSize = HEADER_SIZE + 4 * layout.values.length;
  const parts = await partsOf(instance);
  const start = () => startTurn(instance, parts, indexes, pause !== undefined);
  const fs = await fileSystem(instance);
  const taken =
    (fs === undefined ? undefined : await writtenByTarget(instance, start, fs, to, headerSize)) ??
    (await copyPages(instance, await start(), to.descriptor, headerSize));
  if (taken.values.length !== indexes.length) {
    throw answerError(
      "the capture",
      `answered ${taken.values.length} globals, not ${indexes.length}`,
    );
  }
  const words = headerWords(layout, indexes, taken.values);
  if (!hasEmptyStack(words.slice(HEAP_BASE - 1)) && isAtRest(instance, taken, pause))
    words[0] = VERSION + AT_REST;
  writeHeader(to.descriptor, headerSize, words);
  const heapBase = words[HEAP_BASE] ?? 0;
  const { size: memorySize, time } = taken;
  return { memorySize, heapBase, time, warnings: warningsOf(instance, taken, pause) };
}

/** The memory of an instance: whole pages. */
const memorySize: Shape<number> = (value, path) =>
  PAGE * whole(MAX_PAGES)(typeof value === "number" ? value / PAGE : value, path);
const TAKEN = {
  values: listOf(whole(2 ** 32 - 1), MAX_GLOBALS),
  size: memorySize,
  time: whole(MAX_TIME),
  frames: optional(anything),
  suspends: optional(anything),
};
const OF_FILE = record({ ...TAKEN, unwritable: optional(anything) });
const OF_COPY = record({ ...TAKEN, numbers: listOf(whole(MAX_PAGES - 1), MAX_PAGES) });
const UNWRITABLE = record({ unwritable: optional(anything) });

/**
 * Lets the target write its memory into a file, and copies that. Undefined if it cannot open the file: in a container, its
 * files are others.
 */
async function writtenByTarget(
  instance: RemoteInstance,
  start: () => Promise<Turn>,
  fs: object,
  { descriptor, folder }: DumpPlace,
  headerSize: number,
): Promise<CaptureResult | undefined> {
  const { session } = instance.thread;
  const exchange = new Exchange(folder);
  // Who writes is not silent.
  const watch = setInterval(() => exchange.hasChanged() && session.renew(), WATCH).unref();
  try {
    const more = [fs, { value: exchange.path }, { value: headerSize }];
    const { value } = await takeAtRest(instance, await start(), WRITE_FILE, more, true);
    if (fitting("the capture", UNWRITABLE, value).unwritable === true) return undefined;
    const taken = fitting("the capture", OF_FILE, value);
    await exchange.copyTo(descriptor, headerSize + taken.size, session);
    return taken;
  } finally {
    clearInterval(watch);
    exchange.remove();
  }
}

/** Whether no function of the program was running. */
function isAtRest(
  { isShared }: RemoteInstance,
  { frames, suspends }: CaptureResult,
  pause: Pause | undefined,
): boolean {
  const ran = pause === undefined ? frames !== undefined : pause.frames.length > 0;
  return !ran && !isShared && suspends === false;
}

function warningsOf(
  instance: RemoteInstance,
  { frames }: CaptureResult,
  pause: Pause | undefined,
): string[] {
  const warnings: string[] = [];
  const damage =
    "the stack is not empty, and the allocator or the collector may have been interrupted";
  if (pause === undefined && frames !== undefined && frames !== 0) {
    warnings.push(
      `the program did not come to rest within ${TIME_TO_REST / 1000} s, so the dump was taken in the middle of its work: ${damage}`,
    );
  }
  if (pause !== undefined && pause.frames.length > 0) {
    const number = `${pause.frames.length} WebAssembly function${pause.frames.length === 1 ? "" : "s"}`;
    warnings.push(`the program was paused in the middle of its work, in ${number}, so ${damage}`);
  }
  if (instance.isShared) {
    warnings.push("the memory is shared: other threads may have written to it during the copy");
  }
  return warnings;
}

/** The words of the header after the magic: version, boundaries, count, values. */
function headerWords(
  layout: native.DumpGlobalsData,
  indexes: number[],
  values: number[],
): number[] {
  const globalValue = (global: number) => values[indexes.indexOf(global)] ?? 0;
  const boundaries = layout.boundaries.map(({ global, value }) =>
    global === undefined ? (value ?? 0) : globalValue(global),
  );
  return [VERSION, ...boundaries, layout.values.length, ...layout.values.map(globalValue)];
}

function writeHeader(descriptor: number, headerSize: number, words: number[]): void {
  const header = Buffer.alloc(headerSize);
  MAGIC.copy(header);
  words.forEach((word, nth) => {
    header.writeUInt32LE(word, MAGIC.length + 4 * nth);
  });
  writeSync(descriptor, header, 0, headerSize, 0);
}

/** Objects of the target that one attempt needs. */
interface Turn extends Parts {
  indexes: number[];
  /** Which attempt took the dump. */
  state: string;
  /** `setTimeout`, if the realm or its thread has one and the thread is not paused. */
  schedule: string | undefined;
}

async function startTurn(
  { thread, realm }: RemoteInstance,
  parts: Parts,
  indexes: number[],
  isPaused: boolean,
): Promise<Turn> {
  const { session } = thread;
  // An argument must belong to the realm of the instance, so other realms than a thread's own have no timer.
  const evaluate = async (expression: string) => {
    const parameters = { expression, contextId: realm.id, objectGroup: SHORT_LIVED };
    return (await session.call("Runtime.evaluate", parameters)).result.objectId;
  };
  const state = objectOf(await evaluate("({ taken: false })"), "the target");
  const schedule = isPaused ? undefined : await evaluate("globalThis.setTimeout");
  return { ...parts, indexes, state, schedule };
}

/** Runs a function of `remote_code.ts` when the stack is empty, or at once if the program never rests. */
async function takeAtRest(
  { thread: { session } }: RemoteInstance,
  { globals, memories, indexes, state, schedule }: Turn,
  code: string,
  more: object[],
  returnByValue: boolean,
): Promise<RemoteObject> {
  const start = (when: object, late?: "is nothing") => {
    const fixed = [{ objectId: memories }, { value: indexes }, { objectId: state }, when];
    const calling = { returnByValue, awaitPromise: when !== NOW, late };
    return call(session, globals, code, [...fixed, ...more], calling);
  };
  if (schedule === undefined) return await start(NOW);
  // A program that never rests never answers it.
  const atRest = start({ objectId: schedule }, "is nothing");
  atRest.catch(() => {});
  const inTime = await Promise.race([atRest, delay(TIME_TO_REST)]);
  if (inTime !== LATE) return inTime;
  const now = await start(NOW);
  // The first attempt has begun meanwhile, and takes its time.
  return now.objectId === undefined && (now.value ?? null) === null ? await atRest : now;
}

const LATE = Symbol("late");
/** The argument `schedule` of a call that does not wait. */
const NOW = { value: null };

/** Does not keep this process from ending: most programs rest much sooner. */
function delay(time: number): Promise<typeof LATE> {
  return new Promise((resolve) => setTimeout(resolve, time, LATE).unref());
}

/** The target's `fs`, if it is the main thread of a Node process. */
async function fileSystem({ thread, realm }: RemoteInstance): Promise<object | undefined> {
  if (thread.kind !== "node" || realm !== thread.realms[0]) return undefined;
  const { result, exceptionDetails } = await thread.session.call("Runtime.evaluate", {
    expression: 'process.getBuiltinModule?.("node:fs") ?? require("node:fs")',
    includeCommandLineAPI: true,
    contextId: realm.id,
    objectGroup: SHORT_LIVED,
  });
  const { objectId } = result;
  return exceptionDetails === undefined && objectId !== undefined ? { objectId } : undefined;
}

/** Lets the target copy its pages, and fetches those that are not zero. */
async function copyPages(
  instance: RemoteInstance,
  turn: Turn,
  descriptor: number,
  headerSize: number,
): Promise<CaptureResult> {
  const { session } = instance.thread;
  const held = await takeAtRest(instance, turn, COPY_PAGES, [], false);
  const copy = objectOf(held.objectId, "the capture");
  try {
    const taken = await readValue(session, copy, READ_COPY, [], "the capture", OF_COPY);
    const { numbers, size } = taken;
    const isInOrder = numbers.every(
      (page, nth) => nth === 0 || page > (numbers[nth - 1] as number),
    );
    if (!isInOrder || (numbers.at(-1) ?? -1) >= size / PAGE) {
      throw answerError(
        "the capture",
        `answered pages that a memory of ${size} bytes does not have`,
      );
    }
    ftruncateSync(descriptor, headerSize + size);
    for (let from = 0; from < numbers.length; from += PAGES_AT_ONCE) {
      const to = Math.min(from + PAGES_AT_ONCE, numbers.length);
      const range = [{ value: from }, { value: to }];
      const pages = await readValue(session, copy, READ_PAGES, range, "the capture", PAGES);
      for (let nth = from; nth < to; nth++) {
        const page = base64(pages[nth - from], "the capture", PAGE);
        writeSync(descriptor, page, 0, PAGE, headerSize + (numbers[nth] as number) * PAGE);
      }
    }
    return taken;
  } finally {
    await session.call("Runtime.releaseObject", { objectId: copy }).catch(() => {});
  }
}
