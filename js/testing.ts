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
 * @module
 */
import { readFileSync } from "node:fs";
import { types } from "node:util";
import type { CheckAnswer, UndecidedPlace } from "../index.js";
import { bytes } from "./bytes.js";
import { quote } from "./capture/quote.js";
import { takeSnapshot } from "./capture/snapshot.js";
import { captureDump } from "./capture.js";
import { growth, series, shown, steps } from "./check/findings.js";
import { inconclusive } from "./check/inconclusive.js";
import { descriptor } from "./descriptor.js";
import { HeapAnalyzerError, invalidArgument } from "./errors.js";
import * as native from "./native.js";
import { type Check, readOptions, typed, wholeNumber } from "./options.js";
import { textPath } from "./paths.js";
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
  run: unchecked,
  rounds: wholeNumber(2, 10_000),
  warmup: wholeNumber(0, 1_000_000),
  slow: typed("boolean"),
  strict: typed("boolean"),
  allow: paths,
  allowWarnings: typed("boolean"),
};

/** A text without colours. */
const PLAIN = { color: false, isTerminal: false };

const MODULE_ADVICE = "pass the bytes that it was compiled from, or the path of the file";

/** Options of {@link expectNoLeak}. */
export interface LeakTest {
  /**
   * The program: the exports of an instance of a module that went through `exposeGlobals`, or the instance
   * itself. After `@warpo/heap-analyzer/register` was loaded, whatever has the memory of the instance, as
   * for `captureDump`.
   */
  instance: object;
  /** The module, exposed or not: its bytes, or the path of its file. */
  wasm: Uint8Array | string | URL;
  /**
   * The work of a round. It gets the number of the round, from 1 on. All rounds must do the same work, and
   * finish what they begin: objects that the program releases only later look like a leak.
   */
  run: (round: number) => unknown;
  /** The number of measured rounds (a whole number ≥ 2; default: 8). With fewer than 8, random changes can look like a leak. */
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
 * Runs the work repeatedly, takes a dump in memory after each round, and compares the objects at each place
 * of the program.
 *
 * @throws {LeakError} if a place holds more objects or larger ones after each round than after the one
 *   before. {@link HeapAnalyzerError} as `captureDump` and `openHeap` throw it, and `ERR_INCONCLUSIVE` if a
 *   warning says that numbers may be wrong; also what `run` throws.
 */
export async function expectNoLeak(test: LeakTest): Promise<void> {
  const { instance, wasm, run, rounds, warmup, allow, allowWarnings, slow, strict } = read(test);
  // An instance that cannot be captured is an error before the first round.
  takeSnapshot(instance);
  const module = moduleBytes(wasm);
  const tables: native.PlaceTableHandle[] = [];
  for (let round = 1; round <= warmup + rounds; round++) {
    await run(round);
    if (round > warmup) tables.push(await placeTable(captureDump(instance), module));
  }
  const request = JSON.stringify({
    slow,
    strict,
    minDumps: rounds,
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
  if (!answer.passed) throw new LeakError(`${summary(answer)}\n\n${await ask(PLAIN)}`, answer);
  for (const place of answer.undecided) console.warn(undecidedNote(place, warmup));
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
function summary({ places: [first, ...others] }: CheckAnswer): string {
  if (first === undefined) return "the program holds more after every round";
  const more = others.length === 0 ? "" : `, and ${others.length} more`;
  return `a leak: ${growth(first, shown, "round")}${more}`;
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
  if (types.isUint8Array(wasm)) return bytes("wasm", wasm);
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

/** The options, checked. */
function read(test: unknown) {
  const { instance, wasm, run, ...rest } = readOptions(test, CHECKS, "sync");
  if (instance === undefined)
    throw invalidArgument("instance", "the exports of an instance", instance);
  if (typeof run !== "function") throw invalidArgument("run", "a function", run);
  const {
    rounds = 8,
    warmup = 2,
    allow = [],
    allowWarnings = false,
    slow = false,
    strict = false,
  } = rest;
  return {
    instance,
    wasm,
    run,
    rounds,
    warmup,
    allow,
    allowWarnings,
    slow,
    strict,
  } as Required<LeakTest>;
}
