// Remembers who pinned which object of a program. `HEAP_HANDLES` turns it on; `register` then replaces the exports
// `__pin` and `__unpin` of each instance by functions that report here.

import { descriptor } from "../descriptor.js";
import { HeapAnalyzerError } from "../errors.js";
import { quote } from "./quote.js";
import {
  type Exports,
  type HiddenExports,
  type PinsOfMoment,
  type PrepareExports,
  registry,
} from "./registry.js";

/** So many pins of an instance have all their stacks. Afterwards, stacks become rarer, because each takes 3 to 5 µs. */
const ALL_STACKS = 1000;
/** The most pins, on average, from one stack to the next. */
const MAX_INTERVAL = 256;
const MAX_STACKS = 10_000;
/** Frames of a stack. */
const MAX_FRAMES = 16;

/**
 * The pins of an instance. Addresses are kept as odd numbers, so that the log is not a holder of the objects to whoever
 * looks for their addresses.
 */
export class PinLog {
  readonly #isComplete: boolean;
  readonly #pins = new Map<number, number>();
  readonly #stacks = new Map<string, number>();
  #pinned = 0;
  #sampled = 0;
  #untilNext = 1;

  /** @param isComplete whether to take the stack of each pin. */
  constructor(isComplete: boolean) {
    this.#isComplete = isComplete;
  }

  /** @param caller the frames of this function, and those that it called, are left out of the stack. */
  pin(address: number, caller: object): void {
    this.#pinned++;
    let stack = -1;
    if (this.#isComplete || --this.#untilNext === 0) {
      stack = this.#takeStack(caller);
      this.#untilNext = this.#interval();
    }
    this.#pins.set(address + 1, 2 * stack + 1);
  }

  unpin(address: number): void {
    this.#pins.delete(address + 1);
  }

  ofMoment(): PinsOfMoment {
    return {
      pinned: this.#pinned,
      sampled: this.#sampled,
      pins: [...this.#pins].map(([key, value]) => [(key - 1) >>> 0, (value - 1) / 2]),
      stacks: [...this.#stacks.keys()].map((stack) => stack.split("\n")),
    };
  }

  /** Pins until the next stack. Random, because a program may pin in a rhythm. */
  #interval(): number {
    const mean = Math.min(MAX_INTERVAL, Math.floor(this.#pinned / ALL_STACKS));
    return mean <= 1 ? 1 : 1 + Math.floor(Math.random() * (2 * mean - 1));
  }

  #takeStack(caller: object): number {
    const stack = stackOf(caller);
    const known = this.#stacks.get(stack);
    if (known === undefined && this.#stacks.size === MAX_STACKS) return -1;
    this.#sampled++;
    if (known !== undefined) return known;
    this.#stacks.set(stack, this.#stacks.size);
    return this.#stacks.size - 1;
  }
}

/** The frames of the callers of a function, one in a line. */
function stackOf(caller: object): string {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = MAX_FRAMES;
  const taken: { stack?: unknown } = {};
  Error.captureStackTrace(taken, caller as () => void);
  Error.stackTraceLimit = limit;
  const lines = String(taken.stack).split("\n    at ");
  return lines.slice(1).join("\n");
}

/**
 * What `HEAP_HANDLES` asks for.
 *
 * @throws {HeapAnalyzerError} `ERR_INVALID_OPTION`.
 */
export function pinWatcher(wanted: string | undefined): PrepareExports | undefined {
  if (!wanted) return undefined;
  if (wanted !== "1" && wanted !== "all") {
    throw new HeapAnalyzerError(
      "ERR_INVALID_OPTION",
      `HEAP_HANDLES is ${quote(wanted)}: expected 1, or all for the stack of every pin`,
    );
  }
  return (shown, hidden) => watchPins(shown, hidden, wanted === "all");
}

/** Replaces `__pin` and `__unpin` among the exports that a program will see. */
function watchPins(
  shown: Record<string, unknown>,
  hidden: HiddenExports,
  isComplete: boolean,
): void {
  const { __pin: pin, __unpin: unpin } = shown;
  if (typeof pin !== "function" || typeof unpin !== "function") return;
  const log = new PinLog(isComplete);
  const ownPin = (address: number) => {
    const result = pin(address);
    // A null pointer is not pinned.
    if (address !== 0) log.pin(address, ownPin);
    return result;
  };
  const ownUnpin = (address: number) => {
    unpin(address);
    log.unpin(address);
  };
  shown.__pin = named(ownPin, pin);
  shown.__unpin = named(ownUnpin, unpin);
  registry.pinLogs ??= new WeakMap();
  registry.pinLogs.set(hidden, log);
}

/** Gives a function the name of the one that it replaces. */
function named<T extends object>(own: T, original: { name: string }): T {
  return Object.defineProperty(own, "name", descriptor({ value: original.name }));
}

/** The pins of an instance, if they are watched. */
export function pinsOf(exports: Exports): PinsOfMoment | undefined {
  return registry.pinLogs?.get(exports)?.ofMoment();
}
