/**
 * Leak tests for a test suite, under vitest, jest, node:test, mocha or any other runner.
 *
 * ```js
 * import { exposeGlobals } from "@warpo/heap-analyzer/capture";
 * import { expectNoLeak } from "@warpo/heap-analyzer/testing";
 *
 * test("a request leaves nothing in memory", async () => {
 *   const wasm = readFileSync("build/server.wasm");
 *   const { instance } = await WebAssembly.instantiate(exposeGlobals(wasm), imports);
 *   await expectNoLeak({ instance, wasm, run: () => instance.exports.serve(100) });
 * });
 * ```
 *
 * Without an instance, it judges the JavaScript heap of the thread that it runs in:
 *
 * ```js
 * import { expectNoLeak, TIME_LIMIT } from "@warpo/heap-analyzer/testing";
 *
 * test("a request leaves nothing in memory", () => expectNoLeak({ run: () => serve(100) }), TIME_LIMIT);
 * ```
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { types } from "node:util";
import type { Bytes, CheckAnswer, UndecidedPlace } from "../index.js";
import { bytes } from "./bytes.js";
import { quote } from "./capture/quote.js";
import { takeSnapshot } from "./capture/snapshot.js";
import { captureDump } from "./capture.js";
import { growth, series, shown, steps } from "./check/findings.js";
import { inconclusive } from "./check/inconclusive.js";
import { descriptor } from "./descriptor.js";
import { HeapAnalyzerError, invalidArgument } from "./errors.js";
import * as native from "./native.js";
import { type Check, invalidOption, typed, wholeNumber } from "./option_facts.js";
import { readOptions } from "./options.js";
import { textPath } from "./paths.js";
import {
  type HeapName,
  keepHostTable,
  RoundFolder,
  type RoundTables,
} from "./testing/host_heap.js";
import { TimeLimit } from "./testing/time_limit.js";
import { formatCount, formatSize } from "./units.js";
import { reason } from "./whole_file.js";
import { controlled } from "./work.js";

const unchecked: Check = (_, value) => value;

const paths: Check = (name, value) => {
  if (!Array.isArray(value))
    throw invalidArgument(name, "an array of fingerprints or paths", value);
  return value.map((path, nth) => typed("string")(`${name}[${nth}]`, path));
};

const CHECKS: Record<keyof LeakTest, Check> = {
  instance: unchecked,
  wasm: unchecked,
  host: typed("boolean"),
  run: unchecked,
  rounds: wholeNumber(2, 10_000),
  warmup: wholeNumber(0, 1_000_000),
  slow: typed("boolean"),
  strict: typed("boolean"),
  allow: paths,
  allowWarnings: typed("boolean"),
  timeLimit: wholeNumber(1, 2 ** 31 - 1),
};

/** The milliseconds after which a test of the JavaScript heap ends, unless `timeLimit` is given. */
const DEFAULT_LIMIT = 60_000;

/**
 * Milliseconds to pass to the runner as the time limit of a test of the JavaScript heap. {@link expectNoLeak} ends such a
 * test 15 seconds sooner, with an error that says how far it is.
 */
export const TIME_LIMIT = DEFAULT_LIMIT + 15_000;

/** A text without colours. */
const PLAIN = { color: false, isTerminal: false };

const MODULE_ADVICE = "pass the bytes that it was compiled from, or the path of the file";

/** Options of {@link expectNoLeak}. */
export interface LeakTest {
  /**
   * The program: the exports of an instance of a module that went through `exposeGlobals`, or the instance
   * itself. After `@warpo/heap-analyzer/register` was loaded, whatever has the memory of the instance, as
   * for `captureDump`. Without it, the JavaScript heap of this thread is judged.
   */
  instance?: object | undefined;
  /** The module of the instance, exposed or not: its bytes, or the path of its file. */
  wasm?: Bytes | string | URL | undefined;
  /**
   * Judge the JavaScript heap of this thread (default: only if there is no instance). With an instance, both
   * heaps are judged.
   */
  host?: boolean | undefined;
  /**
   * The work of a round. It gets the number of the round, from 1 on. All rounds must do the same work, and
   * finish what they begin: objects that the program releases only later look like a leak.
   */
  run: (round: number) => unknown;
  /**
   * The number of measured rounds (a whole number ≥ 2; default: 8). With fewer than 8, random changes can look like a leak.
   * A test of the JavaScript heap alone ends before the last round if nothing can grow in all of them any more.
   */
  rounds?: number | undefined;
  /** The number of rounds before these, in which caches fill (a whole number ≥ 0; default: 2). */
  warmup?: number | undefined;
  /** Also find places that grow only in every second round. Random changes look like this more often. */
  slow?: boolean | undefined;
  /**
   * Fail for places that may have stopped growing, too: those that grew in every round up to one of the last, or
   * by less and less. By default (false) they pass with a note on the console.
   */
  strict?: boolean | undefined;
  /** The places that may grow: their fingerprints, as in the message of a `LeakError`, or the texts of their paths. */
  allow?: readonly string[] | undefined;
  /** Decide even if a warning says that numbers may be wrong (default: false). */
  allowWarnings?: boolean | undefined;
  /**
   * The milliseconds after which the test ends with an error (default: 60,000 if the JavaScript heap is
   * judged, none otherwise). Work that does not give way, such as an endless loop, is not interrupted.
   */
  timeLimit?: number | undefined;
}

/** Something grew from round to round. Its message is a report for people. */
export class LeakError extends HeapAnalyzerError {
  /** The answer, as `check --format json` prints it. */
  readonly answer: CheckAnswer;

  constructor(message: string, answer: CheckAnswer) {
    super("ERR_LEAK", message);
    this.answer = answer;
  }
}

// On the prototype, as in the built-in error classes, so that it is not a property of each error.
Object.defineProperty(
  LeakError.prototype,
  "name",
  descriptor({ value: "LeakError", configurable: true, writable: true }),
);

/**
 * Runs the work repeatedly, takes a dump of the program or a heap snapshot of this thread after each round, and
 * compares the objects at each place.
 *
 * Snapshots are written to a private folder for temporary files, which is deleted at the end.
 *
 * @throws {LeakError} if a place holds more objects or larger ones after each round than after the one
 *   before. {@link HeapAnalyzerError} as `captureDump` and `openHeap` throw it, `ERR_INCONCLUSIVE` if a
 *   warning says that numbers may be wrong, and `ERR_TIME_LIMIT` if the time limit is over; also what `run` throws.
 */
export async function expectNoLeak(test: LeakTest): Promise<void> {
  const options = read(test);
  const { instance, wasm, host } = options;
  // An instance that cannot be captured is an error before the first round.
  if (instance !== undefined) takeSnapshot(instance);
  const module = instance === undefined ? undefined : moduleBytes(wasm);
  const heaps: HeapName[] = [];
  if (instance !== undefined) heaps.push("program");
  if (host) heaps.push("host");
  const folder = host ? new RoundFolder() : undefined;
  try {
    const { kept, isDecided } = await runRounds(options, folder, module);
    const problems: LeakError[] = [];
    for (const heap of heaps) {
      const place = heaps.length > 1 ? IN_HEAP[heap] : "";
      const problem = await judge(kept.tables(heap), options, { place, isDecided });
      if (problem !== undefined) problems.push(problem);
    }
    const [first, second] = problems;
    if (first === undefined) return;
    throw second === undefined
      ? first
      : new LeakError(`${first.message}\n\n${second.message}`, first.answer);
  } finally {
    folder?.remove();
  }
}

/** Where a leak is, if two heaps are judged. */
const IN_HEAP = { program: "in the program, ", host: "in the JavaScript heap, " };

/**
 * Runs the rounds, and keeps the place tables of the measured ones.
 *
 * @returns whether it ended before the last round, because nothing of the JavaScript heap can grow in all of them.
 */
async function runRounds(
  options: Options,
  folder: RoundFolder | undefined,
  module: Uint8Array | undefined,
): Promise<{ kept: RoundTables; isDecided: boolean }> {
  const kept = folder ?? inMemory();
  const { instance, host, run, warmup, rounds, slow, timeLimit } = options;
  const limit = new TimeLimit(
    timeLimit ?? (host ? DEFAULT_LIMIT : undefined),
    timeLimit === undefined,
  );
  const progress = { done: 0, warmup, all: warmup + rounds };
  for (let round = 1; round <= warmup + rounds; round++) {
    progress.done = round - 1;
    limit.check(progress);
    await limit.within(run(round), progress);
    if (round <= warmup) continue;
    if (instance !== undefined && module !== undefined) {
      kept.keep("program", await placeTable(captureDump(instance), module));
    }
    if (folder === undefined) continue;
    await keepHostTable(folder);
    // A snapshot takes much longer than a dump.
    if (instance !== undefined || round === warmup + rounds) continue;
    if (!native.mayGrow(folder.tables("host"), rounds, slow)) return { kept, isDecided: true };
  }
  return { kept, isDecided: false };
}

/** Tables that grow the JavaScript heap, which is not judged. */
function inMemory(): RoundTables {
  const tables: native.PlaceTableHandle[] = [];
  return { keep: (_, table) => void tables.push(table), tables: () => tables };
}

/**
 * Judges the tables of a heap.
 *
 * @param place where a leak is, if that is not clear.
 * @param isDecided whether it is known that nothing grows.
 * @returns the error for a leak.
 */
async function judge(
  tables: native.PlaceTableHandle[],
  { slow, strict, allow, allowWarnings, warmup }: Options,
  { place, isDecided }: { place: string; isDecided: boolean },
): Promise<LeakError | undefined> {
  const request = JSON.stringify({
    slow,
    strict,
    minDumps: tables.length,
    accepted: allow.map(acceptedPlace),
  });
  const ask = async (as?: native.TableData) => {
    const answered = await controlled(undefined, (control) =>
      native.check(tables, request, as, control),
    );
    return answered.text;
  };
  const answer = JSON.parse(await ask()) as CheckAnswer;
  const codes = inconclusive(answer.warnings);
  if (codes.length > 0 && !allowWarnings) throw inconclusiveError(answer, codes);
  if (isDecided) return undefined;
  if (!answer.passed) {
    return new LeakError(`${summary(answer, place)}\n\n${await ask(PLAIN)}`, answer);
  }
  for (const one of answer.undecided) console.warn(undecidedNote(one, warmup));
  return undefined;
}

/** What is undecided about a place, and what to raise. The places have no numbers of the warm-up. */
function undecidedNote(place: UndecidedPlace, warmup: number): string {
  const { counts, bytes, stoppedAfter } = place;
  const hasEqualCounts = counts.every((count) => count === counts[0]);
  const numbers = hasEqualCounts ? series(bytes, formatSize) : series(counts, formatCount);
  const how =
    stoppedAfter === null
      ? "grows less and less from round to round"
      : `stopped growing after round ${warmup + stoppedAfter}`;
  const raise =
    stoppedAfter === null
      ? "raise warmup until it is full, or rounds"
      : `raise warmup to ${warmup + stoppedAfter}, or rounds`;
  return (
    `expectNoLeak: undecided: ${steps(place).join(" > ")} ${how} (${numbers}); ` +
    `to decide, ${raise}; with strict it fails`
  );
}

/** The place table of a dump, of which nothing else stays in memory. */
async function placeTable(dump: Uint8Array, module: Uint8Array): Promise<native.PlaceTableHandle> {
  const heap = await controlled(undefined, (control) => native.openHeap(dump, module, {}, control));
  try {
    return await controlled(undefined, (control) => heap.placeTableAsync(control));
  } finally {
    heap.close();
  }
}

/** The first line of the message, which is all that some runners show in their lists. */
function summary({ places: [first, ...others] }: CheckAnswer, place: string): string {
  if (first === undefined) return `${place}more is held after every round`;
  const more = others.length === 0 ? "" : `, and ${others.length} more`;
  return `a leak: ${place}${growth(first, shown, "round")}${more}`;
}

function inconclusiveError({ warnings }: CheckAnswer, codes: string[]): HeapAnalyzerError {
  const messages = warnings
    .filter(({ code }) => codes.includes(code))
    .map(({ message }) => message);
  return new HeapAnalyzerError(
    "ERR_INCONCLUSIVE",
    `numbers may be wrong, so the leak test is inconclusive: ${messages.join("; ")}; ` +
      "remove the cause, or pass allowWarnings: true",
  );
}

function moduleBytes(wasm: unknown): Uint8Array {
  if (types.isUint8Array(wasm) || types.isAnyArrayBuffer(wasm)) return bytes("wasm", wasm);
  if (typeof wasm !== "string" && typeof (wasm as URL | null)?.href !== "string") {
    throw invalidArgument("wasm", "a Uint8Array or a path", wasm, MODULE_ADVICE);
  }
  const file = textPath("wasm", wasm);
  try {
    return readFileSync(file);
  } catch (error) {
    const message = `cannot read the module ${quote(file)}: ${reason(error)}`;
    throw new HeapAnalyzerError("ERR_IO", message, { cause: error });
  }
}

function acceptedPlace(text: string) {
  return /^[0-9a-f]{12}$/.test(text) ? { fingerprint: text } : { path: text };
}

/** The options, with all defaults. */
type Options = ReturnType<typeof read>;

/** The options, checked. */
function read(test: unknown) {
  const { instance, wasm, run, ...rest } = readOptions(test, CHECKS, "sync");
  if (instance === undefined && wasm !== undefined)
    throw invalidArgument("instance", "the exports of an instance", instance);
  if (typeof run !== "function") throw invalidArgument("run", "a function", run);
  const {
    host = instance === undefined,
    rounds = 8,
    warmup = 2,
    allow = [],
    allowWarnings = false,
    slow = false,
    strict = false,
    timeLimit,
  } = rest as Omit<LeakTest, "instance" | "wasm" | "run">;
  if (!host && instance === undefined) {
    throw invalidOption("options.host: found false and no instance; expected an instance, or true");
  }
  return {
    instance: instance as object | undefined,
    wasm,
    host,
    run: run as LeakTest["run"],
    rounds,
    warmup,
    allow,
    allowWarnings,
    slow,
    strict,
    timeLimit,
  };
}
