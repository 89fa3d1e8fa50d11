/** Records the allocations that an instrumented module reports. */
import { Contexts } from "./contexts.js";
import { LiveSamples } from "./live_samples.js";
import { randomNumbers } from "./random.js";
import { type EngineFrame, framesOf, hostFrame, type StackFrame, scriptOf } from "./stack.js";

/** What was allocated by one stack: what the samples stand for. */
export interface StackTotals {
  /** The innermost first, without the allocator's wrapper. */
  frames: StackFrame[];
  allocatedObjects: number;
  allocatedBytes: number;
}

/** The frames of allocators, which are not part of a stack. */
const ALLOCATOR_DEPTH = 8;

/** The function here that makes the sample, a function added to the module, that of the allocator, its caller. */
const [ADDED, CALLER] = [1, 3] as const;

/** The function of the program that asks who called; before it is the function here that is asked. */
const ENTERED = 1;

/** A countdown that no program uses up, and that is exact with its bytes. */
const NEVER = 2 ** 52;

const MOST_STACKS = 2 ** 20;

/** How many samples wait until their frames are read. */
const MOST_WAITING = 64;

/**
 * What is known of the stack of a live sample is its number plus 1. For the nth sample that waits, it is this plus n.
 */
const WAITING = MOST_STACKS + 1;

/** A sample with the stack as the engine captured it. The engine finds frames in it when it is read. */
interface WaitingSample {
  error: Error;
  block: number;
  size: number;
  /** That of a module that has them. */
  context: bigint | undefined;
}

export interface SamplerOptions {
  /** The mean number of bytes between two samples; 1 records every allocation. */
  interval: number;
  stackDepth: number;
  seed: number;
  /** Whether blocks are freed one by one. */
  frees: boolean;
  /** The offset of the call of the host that gives it a sample. */
  call: number;
  /** Whether stacks contain the functions of the host that call the program. */
  hostCallers: boolean;
  /** Whether the module knows the way of calls to each allocation. */
  contexts: boolean;
  /** The frames on a stack in memory, for programs that keep their stacks there. */
  framesAt?: ((stackPointer: number) => StackFrame[]) | undefined;
}

export class Sampler {
  readonly #options: SamplerOptions;
  readonly #mostFrames: number;
  readonly #random: () => number;
  readonly #stacks: StackTotals[] = [];
  readonly #numbers = new Map<string, number>();
  /** Samples whose stacks have no number yet. Read together, they cost half: the engine's code is in the caches. */
  #waiting: WaitingSample[] = [];
  readonly #live = new LiveSamples();
  readonly #contexts: Contexts | undefined;
  /** Stacks of the host that called the program, by their frames. */
  readonly #entries = new Map<string, number>();
  #nextEntry = 1;
  /** The gap before the first sample, until the first allocation. */
  #first: number | undefined;
  /** How far all code moved after it was instrumented, as by `exposeGlobals`. */
  #shift = 0;
  #script: string | undefined;
  /** Is called before each sample is recorded. */
  beforeSample: (() => void) | undefined;
  /** All countdowns that were given, less what was left of them. */
  #counted = 0;

  constructor(options: SamplerOptions) {
    this.#options = options;
    this.#mostFrames = options.stackDepth + ALLOCATOR_DEPTH;
    this.#random = randomNumbers(options.seed);
    this.#first = this.#gap();
    if (options.contexts) this.#contexts = new Contexts();
  }

  /** What the instrumented module imports. */
  get imports() {
    return {
      allocated: this.#allocated,
      ...this.#live.imports,
      ...(this.#contexts && { entered: this.#entered, ...this.#contexts.imports }),
    };
  }

  /** The stacks that allocated. */
  get stacks(): readonly StackTotals[] {
    this.#numberWaiting();
    for (const [known, count, bytes] of this.#contexts?.taken() ?? []) {
      const totals = this.#stacks[known - 1] as StackTotals;
      totals.allocatedObjects += count;
      totals.allocatedBytes += bytes;
    }
    return this.#stacks;
  }

  /** How far all code moved after it was instrumented. */
  get shift(): number {
    this.#numberWaiting();
    return this.#shift;
  }

  /** The engine's name of the module, after the first sample. */
  get script(): string | undefined {
    this.#numberWaiting();
    return this.#script;
  }

  /** The live samples: address, size, and the number of the stack. */
  *live(): Generator<[address: number, size: number, stack: number]> {
    this.#numberWaiting();
    for (const [address, size, known] of this.#live) yield [address, size, known - 1];
  }

  /** How many allocations a sample of this size stands for. */
  weight(size: number): number {
    const { interval } = this.#options;
    if (interval === 1) return 1;
    // A block of no bytes is never sampled, except together with others that used up the gap.
    return 1 / -Math.expm1(-Math.max(size, 1) / interval);
  }

  /** The import that the module calls when the countdown is used up. Returns the next countdown. */
  readonly #allocated = (address: number, signedSize: number, countdown: number): number => {
    this.beforeSample?.();
    this.#counted -= countdown;
    if (this.#first !== undefined) {
      // Before it, the module did not know the gap.
      const left = this.#first + countdown;
      this.#first = undefined;
      if (left > 0) {
        this.#counted += left;
        return left;
      }
    }
    const block = address >>> 0;
    const size = signedSize >>> 0;
    const inMemory = this.#options.framesAt?.(block) ?? [];
    if (this.#waiting.length === MOST_WAITING) this.#numberWaiting();
    if (inMemory.length > 0) {
      const stack = this.#numbered(inMemory.join(), () => inMemory);
      this.#add(stack, size);
      if (this.#options.frees) this.#live.record(stack + 1);
    } else {
      // Here and not in another function, because each frame takes the engine time.
      const { stackTraceLimit } = Error;
      Error.stackTraceLimit = this.#mostFrames;
      const error = new Error();
      Error.stackTraceLimit = stackTraceLimit;
      const context = this.#contexts?.missing;
      const nth = this.#waiting.push({ error, block, size, context }) - 1;
      if (this.#options.frees) this.#live.record(WAITING + nth);
    }
    const next = this.#gap();
    this.#counted += next;
    return next;
  };

  /**
   * The import that the module calls when the host called it, or when that is not sure. Returns a number of the stack
   * of the host.
   */
  readonly #entered = (isBelowHost: number): number => {
    if (!this.#records() || (isBelowHost === 0 && !this.#options.hostCallers)) return 0;
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = this.#mostFrames;
    const error = new Error();
    Error.stackTraceLimit = stackTraceLimit;
    const frames = (framesOf([error])[0] as EngineFrame[]).slice(ENTERED);
    const key = frames.map((frame) => `${frame.getPosition()} ${scriptOf(frame)}`).join();
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const number = this.#nextEntry++;
    if (this.#entries.size < MOST_STACKS) this.#entries.set(key, number);
    return number;
  };

  /** Whether the module may record samples of known contexts by itself. */
  #records(): boolean {
    return this.#options.interval === 1 && this.beforeSample === undefined;
  }

  /** The bytes of all allocations, given the countdown of the module. */
  bytes(countdown: number): number {
    return this.#counted - countdown;
  }

  /** Counts a sample for a stack. */
  #add(stack: number, size: number): void {
    const weight = this.weight(size);
    const totals = this.#stacks[stack] as StackTotals;
    totals.allocatedObjects += weight;
    totals.allocatedBytes += weight * size;
  }

  /** Gives the stacks of the samples that wait their numbers. */
  #numberWaiting(): void {
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = [];
    const stacks = framesOf(waiting.map(({ error }) => error));
    for (const [nth, { block, size, context }] of waiting.entries()) {
      const stack = this.#stackNumber(stacks[nth] as EngineFrame[]);
      this.#add(stack, size);
      // While others are to be called before each sample, the module does not record any by itself.
      if (context !== undefined && this.#records()) this.#contexts?.add(context, stack + 1);
      this.#live.replace(block, WAITING + nth, stack + 1);
    }
  }

  #gap(): number {
    const { interval } = this.#options;
    if (interval === 1) return 0;
    if (interval === Number.POSITIVE_INFINITY) return NEVER;
    // A whole number, so that countdowns are exact. A sample is what uses it up, so the chance is the same.
    return Math.ceil(-Math.log(1 - this.#random()) * interval);
  }

  #stackNumber(frames: EngineFrame[]): number {
    const added = frames[ADDED];
    if (added === undefined) return this.#numbered("", () => []);
    const script = scriptOf(added);
    const shift = added.getPosition() - this.#options.call;
    this.#shift = shift;
    this.#script = script;
    // A position is found fast, and the name and the line of a function of the host are not.
    let key = "";
    let end = frames.length;
    if (!this.#options.hostCallers) {
      while (end > CALLER && scriptOf(frames[end - 1]) !== script) end--;
    }
    for (let nth = CALLER; nth < end; nth++) {
      const frame = frames[nth] as EngineFrame;
      const file = scriptOf(frame);
      key += file === script ? `${frame.getPosition()},` : `${frame.getPosition()} ${file},`;
    }
    return this.#numbered(key, () =>
      frames
        .slice(CALLER, end)
        .map((frame) =>
          scriptOf(frame) === script ? frame.getPosition() - shift : hostFrame(frame),
        ),
    );
  }

  /** The number of a stack that has this key alone. */
  #numbered(key: string, frames: () => StackFrame[]): number {
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    if (this.#stacks.length === MOST_STACKS) return MOST_STACKS - 1;
    const number = this.#stacks.length;
    this.#numbers.set(key, number);
    this.#stacks.push({ frames: frames(), allocatedObjects: 0, allocatedBytes: 0 });
    return number;
  }
}
