/** Lets the random program execute a stream, and compares the results of the analyzer with the collector's. */

import { type Accounting, analyze, type ConstructorView } from "@warpo/heap-analyzer";
import { captureDump } from "@warpo/heap-analyzer/capture";

import { Operation } from "../programs/random/support/operations.ts";
import {
  type HeapTruth,
  readTruth,
  STATE_MARK,
  STATE_SWEEP,
  totalBytes,
} from "../support/truth.ts";
import { isExpectedWarning, isStateNamed, type RandomBuild } from "./builds.ts";
import { type CutTotals, judgeAnswers, noCuts } from "./cut_judge.ts";
import { Disagreement, FalseAlarm } from "./disagreement.ts";
import { heapTotals } from "./heap_totals.ts";
import { type MemoryParts, objectsWithOneReferrer, type Place } from "./referrers.ts";
import { type Random, randomFrom, type Step } from "./stream.ts";

export interface Outcome {
  /** The number of dumps whose live set was compared with a collection. */
  judged: number;
  /** The number of objects whose retained size was compared with the freed objects. */
  cut: number;
  /** The numbers of checked answers to questions. */
  answers: CutTotals;
  /** The first disagreement, which ended the stream. */
  failure?: Failure;
}

export interface Failure {
  /** Whether the analyzer was wrong, or the program itself did not get through. */
  by: "analyzer" | "program";
  message: string;
  /** Whether the numbers are right, but a warning doubts them. */
  isFalseAlarm: boolean;
}

/** The moments of `host.ts` at which the program asks for a dump. */
enum Moment {
  BeforeCollection,
  AfterCollection,
  BeforeCut,
  AfterCut,
}

/** Thrown through the program to end it. */
class Finished extends Error {}

export interface StreamOptions {
  /** Whether answers about single objects are judged too. */
  answers?: boolean;
}

export function judgeStream(
  build: RandomBuild,
  steps: Step[],
  { answers = false }: StreamOptions = {},
): Outcome {
  const judge = new HeapJudge(build, steps, answers);
  try {
    judge.run();
  } catch (error) {
    if (!(error instanceof Finished)) {
      judge.outcome.failure = {
        by: error instanceof Disagreement ? "analyzer" : "program",
        message: error instanceof Error ? error.message : String(error),
        isFalseAlarm: error instanceof FalseAlarm,
      };
    }
  }
  return judge.outcome;
}

interface Cut {
  address: number;
  place: Place;
  retained: number | undefined;
  total: number;
}

class HeapJudge {
  readonly outcome: Outcome = { judged: 0, cut: 0, answers: noCuts() };
  readonly #build: RandomBuild;
  readonly #steps: Step[];
  readonly #judgesAnswers: boolean;
  readonly #exports: WebAssembly.Exports;
  readonly #random: Random = randomFrom(1);
  #at = -1;
  #view: ConstructorView | undefined;
  #cut: Cut | undefined;

  constructor(build: RandomBuild, steps: Step[], judgesAnswers: boolean) {
    this.#judgesAnswers = judgesAnswers;
    this.#build = build;
    this.#steps = steps;
    const { exports } = new WebAssembly.Instance(build.module, {
      host: {
        next: () => this.#steps[++this.#at]?.[0] ?? Operation.End,
        operand: (index: number) => this.#steps[this.#at]?.[index + 1] ?? 0,
        dump: (moment: Moment) => this.#dump(moment),
        markingAt: () => (this.#global("state") === STATE_MARK ? this.#global("iter") : 0),
      },
      env: {
        abort: (message: number, file: number, line: number, column: number) => {
          throw new Error(
            `the program failed at ${this.#text(file)}:${line}:${column}: ${this.#text(message)}`,
          );
        },
      },
    });
    this.#exports = exports;
  }

  run(): void {
    (this.#exports.main as () => void)();
  }

  get #memory(): ArrayBuffer {
    return (this.#exports.memory as WebAssembly.Memory).buffer;
  }

  #text(address: number): string {
    if (!address) return "?";
    const length = new DataView(this.#memory).getUint32(address - 4, true);
    return Buffer.from(this.#memory, address, length).toString("utf16le");
  }

  #value(exported: string): number {
    return Number((this.#exports[exported] as WebAssembly.Global).value) >>> 0;
  }

  /** A variable of the collector. */
  #global(name: string): number {
    const exported = this.#build.globals.get(`~lib/rt/itcms/${name}`);
    return exported === undefined ? 0 : this.#value(exported);
  }

  #truth(): HeapTruth {
    const { heapBase, globals } = this.#parts();
    return readTruth(this.#memory, heapBase, globals);
  }

  #parts(): MemoryParts {
    const boundary = (name: string) => this.#value(`__warpo_heap_analyzer:${name}`);
    const globals = new Map<string, number>();
    for (const [name, exported] of this.#build.globals) globals.set(name, this.#value(exported));
    return {
      memory: this.#memory,
      dataEnd: boundary("data_end"),
      stackPointer: boundary("stack_pointer"),
      heapBase: boundary("heap_base"),
      typeInfo: this.#build.typeInfo,
      globals,
    };
  }

  #dump(moment: Moment): void {
    switch (moment) {
      case Moment.BeforeCollection:
        this.#view = this.#analyze();
        this.#compareAccounts(this.#truth());
        this.#judgeAnswers();
        break;
      case Moment.AfterCollection:
        this.#compare("live", this.#truth());
        this.outcome.judged++;
        break;
      case Moment.BeforeCut:
        this.#judgeAnswers();
        this.#cutReference();
        break;
      case Moment.AfterCut:
        this.#measureCut();
    }
  }

  #judgeAnswers(): void {
    if (!this.#judgesAnswers) return;
    const totals = judgeAnswers({
      build: this.#build,
      exports: this.#exports,
      dump: captureDump(this.#exports),
      truth: this.#truth(),
      parts: this.#parts(),
      random: this.#random,
    });
    const sums = this.outcome.answers;
    for (const name of Object.keys(sums) as (keyof CutTotals)[]) sums[name] += totals[name];
  }

  #analyze(): ConstructorView {
    const { wasm, name } = this.#build;
    try {
      return analyze(captureDump(this.#exports), wasm);
    } catch (error) {
      throw new Disagreement(`${name}: the analysis fails: ${(error as Error).message}`);
    }
  }

  #compare(what: string, truth: HeapTruth): void {
    const view = this.#view as ConstructorView;
    const wrong: string[] = [];
    let listed = 0;
    let bytes = 0;
    for (const { className, instances } of view.constructors) {
      for (const { address, shallowSize } of instances) {
        listed++;
        const object = truth.get(address);
        if (!object) wrong.push(`${address} (${className}) is not ${what}`);
        else {
          bytes += object.blockBytes;
          if (object.blockBytes !== shallowSize)
            wrong.push(`${address} has ${object.blockBytes} bytes, not ${shallowSize}`);
          if (!this.#mayBeCalled(className, object.rtId))
            wrong.push(
              `${address} is a ${this.#build.classNames.get(object.rtId)}, not ${className}`,
            );
        }
      }
    }
    if (listed !== truth.size || wrong.length > 0) {
      const found = new Set(
        view.constructors.flatMap(({ instances }) => instances.map(({ address }) => address)),
      );
      for (const [address, { rtId }] of truth)
        if (!found.has(address))
          wrong.push(`${address} (${this.#build.classNames.get(rtId)}) is missing`);
    }
    if (wrong.length === 0 && view.totalLiveSize !== bytes)
      wrong.push(`the live size is ${bytes}, not ${view.totalLiveSize}`);
    const warning = view.warnings.find(({ code }) => !isExpectedWarning(this.#build, code));
    if (wrong.length > 0) this.#disagree(wrong);
    if (warning)
      throw new FalseAlarm(
        `${this.#build.name}, operation ${this.#at}: in doubt: ${warning.message}`,
      );
  }

  /** Every byte of the heap is accounted for, and what others count independently is the same. */
  #compareAccounts(truth: HeapTruth): void {
    const { totalHeapSize, totalLiveSize } = this.#view as Required<ConstructorView>;
    const accounting = this.#view?.accounting as Accounting;
    const { live, garbage, raw, free, overhead, gaps, unread } = accounting;
    const liveBytes = live.global + live.stack + live.pinned;
    const number = (name: string) => (this.#exports[name] as () => number)() >>> 0;
    const { heapBase } = this.#parts();
    const expected = heapTotals(this.#memory, heapBase);
    const wrong: string[] = [];
    const within = (what: string, found: number, least: number, most: number) => {
      if (found < least || found > most)
        wrong.push(`${what}: ${found}, not ${least === most ? least : `${least} to ${most}`}`);
    };
    const same = (what: string, found: number, wanted: number) =>
      within(what, found, wanted, wanted);
    same(
      "the sum of all parts",
      liveBytes + garbage + raw + free.bytes + overhead + gaps + unread,
      expected.heap,
    );
    same("the heap's size", totalHeapSize, expected.heap);
    same("the live parts", liveBytes, totalLiveSize);
    same("unread bytes", unread, 0);
    same("free bytes", free.bytes, expected.free.bytes);
    same("free blocks", free.blocks, expected.free.blocks);
    same("the largest free block", free.largest, expected.free.largest);
    const foreignBytes = number("foreignBytes");
    within("bytes of foreign pages", gaps, foreignBytes - number("forgedBytes"), foreignBytes);
    // Pages that imitate a region of raw blocks cannot always be distinguished from one.
    const mistaken = foreignBytes - gaps;
    const rawBytes = number("rawBytes");
    const inUse = totalBytes(truth) + rawBytes;
    within("bytes in use", liveBytes + garbage + raw, inUse, inUse + mistaken);
    // Without a name for the collector's state, the object at which a sweep has arrived looks raw.
    if (isStateNamed(this.#build) || this.#global("state") !== STATE_SWEEP)
      within("bytes of raw blocks", raw, rawBytes, rawBytes + mistaken);
    same(
      "pinned objects",
      sum(accounting.pinned.map(({ count }) => count)),
      number("countOfPinned"),
    );
    if (wrong.length > 0) this.#disagree(wrong);
  }

  #mayBeCalled(className: string, rtId: number): boolean {
    return (
      className === this.#build.classNames.get(rtId) ||
      (this.#build.debugInformation === "none" && className === `Class#${rtId}`)
    );
  }

  /** Chooses an object that one word refers to, and clears that word. */
  #cutReference(): void {
    const truth = this.#truth();
    this.#view = this.#analyze();
    this.#compare("in the collected heap", truth);
    this.#compareAccounts(truth);
    const candidates = objectsWithOneReferrer(truth, this.#parts());
    const [address, place] = candidates[this.#random(candidates.length || 1)] ?? [];
    if (address === undefined || place === undefined) throw new Finished();
    const instance = this.#view.constructors
      .flatMap(({ instances }) => instances)
      .find((instance) => instance.address === address);
    this.#cut = { address, place, retained: instance?.retainedSize, total: this.#global("total") };
    if ("address" in place) new DataView(this.#memory).setUint32(place.address, 0, true);
    else {
      const exported = this.#build.globals.get(place.global) ?? "";
      (this.#exports[exported] as WebAssembly.Global).value = 0;
    }
  }

  #measureCut(): void {
    const { address, place, retained, total } = this.#cut as Cut;
    const vanished = total - this.#global("total");
    if (vanished !== retained || this.#truth().has(address)) {
      const where = "address" in place ? `the word at ${place.address}` : `global ${place.global}`;
      this.#disagree([
        `the object at ${address}, which only ${where} refers to, retains ${retained}, ` +
          `but ${vanished} bytes vanished with it`,
      ]);
    }
    this.outcome.cut++;
    // The program still expects the objects that were cut off, so it must not continue with other operations.
    const [, times] = this.#steps[this.#at] ?? [];
    if (this.outcome.cut === times) throw new Finished();
  }

  #disagree(wrong: string[]): never {
    const more = wrong.length > 5 ? `\n  and ${wrong.length - 5} more` : "";
    throw new Disagreement(
      `${this.#build.name}, operation ${this.#at}: ${wrong.slice(0, 5).join("\n  ")}${more}`,
    );
  }
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
