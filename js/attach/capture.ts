// Takes a dump of an instance of the target, and writes it to a file.
//
// A process of Node writes the memory itself, straight into the file: 512 MiB in a second. Elsewhere, and where
// the target sees other files than this process, only pages that are not zero travel over the connection.

import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { HeapAnalyzerError } from "../errors.js";
import * as native from "../native.js";
import { callNative } from "../native_errors.js";
import { reason, resolveSymlinks } from "../whole_file.js";
import { answerError, at, base64, count, list, text, type UncheckedAnswer } from "./answer.js";
import {
  call,
  type Parts,
  partsOf,
  type RemoteInstance,
  releaseObjects,
  SHORT_LIVED,
} from "./instances.js";
import { type Pause, TIME_TO_REST } from "./pause.js";
import { COPY_PAGES, READ_COPY, READ_PAGES, WRITE_FILE } from "./remote_code.js";
import { unfinished } from "./unfinished.js";

const PAGE = 64 * 1024;
const MAX_PAGES = 65_536;
/** Pages of one answer: 8 MiB, 11 MiB in base64. */
const PAGES_AT_ONCE = 128;
/** The longest copy, in milliseconds: a day. */
const MAX_TIME = 86_400_000;
const MAGIC = Buffer.from("ASHD");
const VERSION = 2;
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

/**
 * Writes a dump of an instance. The file appears only when it is complete; its owner alone can read it.
 *
 * @param wasm the module of the instance.
 * @param pause if the thread of the instance is paused. Otherwise the dump is taken when it rests.
 * @param before called with the complete file, before it gets its final name.
 */
export async function writeInstanceDump(
  instance: RemoteInstance,
  wasm: Uint8Array,
  path: string,
  pause?: Pause,
  before?: (captured: Captured, file: string) => Promise<void>,
): Promise<Captured> {
  const layout = callNative(() => native.dumpGlobals(wasm));
  const target = resolve(path);
  mkdirSync(dirname(target), { recursive: true });
  if (statSync(target, { throwIfNoEntry: false })?.isFile() === false) {
    throw new HeapAnalyzerError(
      "ERR_DUMP_PATH",
      `cannot write the dump ${path}: it exists and is not a regular file`,
    );
  }
  // The folder is in the folder of the dump, so that the file only has to be renamed.
  const folder = mkdtempSync(join(dirname(resolveSymlinks(target)), ".warpo-heap-analyzer-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const done = unfinished(remove);
  try {
    const file = join(folder, "memory");
    const captured = await capture(instance, layout, file, pause);
    await before?.(captured, file);
    renameSync(file, resolveSymlinks(target));
    return captured;
  } catch (error) {
    if (error instanceof HeapAnalyzerError) throw error;
    throw new HeapAnalyzerError(
      "ERR_DUMP_WRITE",
      `cannot write the dump ${path}: ${reason(error)}`,
      { cause: error },
    );
  } finally {
    remove();
    done();
    await releaseObjects(instance.thread);
  }
}

async function capture(
  instance: RemoteInstance,
  layout: native.DumpGlobalsData,
  file: string,
  pause: Pause | undefined,
): Promise<Captured> {
  const indexes = [...layout.values];
  for (const { global } of layout.boundaries) if (global !== undefined) indexes.push(global);
  const headerSize = HEADER_SIZE + 4 * layout.values.length;
  const parts = await partsOf(instance);
  const start = () => startTurn(instance, parts, indexes, pause !== undefined);

  let result: UncheckedAnswer;
  const fs = await fileSystem(instance);
  if (fs !== undefined) {
    const more = [fs, { value: file }, { value: headerSize }];
    result = await takeAtRest(instance, await start(), WRITE_FILE, more, true);
    if (statSync(file, { throwIfNoEntry: false }) === undefined) {
      // The target is in a container: its files are others.
      result = undefined;
    }
  }
  if (result === undefined) {
    result = await copyPages(instance, await start(), file, headerSize);
  }
  const memorySize = count(result, "size", "the capture", MAX_PAGES * PAGE);
  const values = list(result, "values", "the capture", indexes.length);
  const words = headerWords(layout, indexes, values);
  writeHeader(file, headerSize, memorySize, words);
  const heapBase = words[HEAP_BASE] ?? 0;
  const time = count(result, "time", "the capture", MAX_TIME);
  return { memorySize, heapBase, time, warnings: warningsOf(instance, result, pause) };
}

function warningsOf(
  instance: RemoteInstance,
  result: UncheckedAnswer,
  pause: Pause | undefined,
): string[] {
  const warnings: string[] = [];
  const damage =
    "the stack is not empty, and the allocator or the collector may have been interrupted";
  const frames = at(result, "frames");
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
  values: UncheckedAnswer[],
): number[] {
  const globalValue = (global: number) => {
    const nth = indexes.indexOf(global);
    return count(values, `${nth}`, `global ${global}`, 2 ** 32 - 1);
  };
  const boundaries = layout.boundaries.map(({ global, value }) =>
    global === undefined ? (value ?? 0) : globalValue(global),
  );
  return [VERSION, ...boundaries, layout.values.length, ...layout.values.map(globalValue)];
}

function writeHeader(path: string, headerSize: number, memorySize: number, words: number[]): void {
  const header = Buffer.alloc(headerSize);
  MAGIC.copy(header);
  words.forEach((word, nth) => {
    header.writeUInt32LE(word, MAGIC.length + 4 * nth);
  });
  const file = openSync(path, "r+");
  try {
    const { size } = fstatSync(file);
    if (size !== headerSize + memorySize) {
      throw answerError(
        "the target",
        `wrote a file of ${size} bytes, expected ${headerSize + memorySize}`,
      );
    }
    writeSync(file, header, 0, headerSize, 0);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
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
  const evaluate = async (expression: string) =>
    at(
      await session.call("Runtime.evaluate", {
        expression,
        contextId: realm.id,
        objectGroup: SHORT_LIVED,
      }),
      "result.objectId",
    );
  const state = text({ id: await evaluate("({ taken: false })") }, "id", "the target");
  const schedule = isPaused ? undefined : await evaluate("globalThis.setTimeout");
  const timer = typeof schedule === "string" ? schedule : undefined;
  return { ...parts, indexes, state, schedule: timer };
}

/** Runs a function of `remote_code.ts` when the stack is empty, or at once if the program never rests. */
async function takeAtRest(
  { thread: { session } }: RemoteInstance,
  { globals, memories, indexes, state, schedule }: Turn,
  code: string,
  more: object[],
  returnByValue: boolean,
): Promise<UncheckedAnswer> {
  const start = (when: object) => {
    const fixed = [{ objectId: memories }, { value: indexes }, { objectId: state }, when];
    return call(session, globals, code, [...fixed, ...more], returnByValue, when !== NOW);
  };
  if (schedule !== undefined) {
    const atRest = start({ objectId: schedule });
    // If it does not settle in time, it fails or answers null later.
    atRest.catch(() => {});
    const inTime = await Promise.race([atRest, delay(TIME_TO_REST)]);
    if (inTime !== LATE) return inTime;
  }
  return await start(NOW);
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
  const answer = await thread.session.call("Runtime.evaluate", {
    expression: 'process.getBuiltinModule?.("node:fs") ?? require("node:fs")',
    includeCommandLineAPI: true,
    contextId: realm.id,
    objectGroup: SHORT_LIVED,
  });
  const objectId = at(answer, "result.objectId");
  return at(answer, "exceptionDetails") === undefined && typeof objectId === "string"
    ? { objectId }
    : undefined;
}

/** Lets the target copy its pages, and fetches those that are not zero. */
async function copyPages(
  instance: RemoteInstance,
  turn: Turn,
  path: string,
  headerSize: number,
): Promise<UncheckedAnswer> {
  const { session } = instance.thread;
  const held = await takeAtRest(instance, turn, COPY_PAGES, [], false);
  const copy = text(held, "objectId", "the capture");
  try {
    const result = await call(session, copy, READ_COPY, [], true);
    const size = count(result, "size", "the capture", MAX_PAGES * PAGE);
    const numbers = list(result, "numbers", "the capture", size / PAGE);
    const file = openSync(path, "wx", 0o600);
    try {
      ftruncateSync(file, headerSize + size);
      for (let from = 0; from < numbers.length; from += PAGES_AT_ONCE) {
        const to = Math.min(from + PAGES_AT_ONCE, numbers.length);
        const answer = await call(
          session,
          copy,
          READ_PAGES,
          [{ value: from }, { value: to }],
          true,
        );
        const pages = list({ pages: answer }, "pages", "the capture", to - from);
        for (let nth = from; nth < to; nth++) {
          const number = count(numbers, `${nth}`, "the capture", size / PAGE - 1);
          const page = base64(pages[nth - from], "the capture", PAGE);
          writeSync(file, page, 0, PAGE, headerSize + number * PAGE);
        }
      }
    } finally {
      closeSync(file);
    }
    return result;
  } finally {
    await session.call("Runtime.releaseObject", { objectId: copy }).catch(() => {});
  }
}
