/**
 * Profiles of a running program: which lines of source allocate, and which of that is still in use.
 *
 * ```js
 * import { createProfiler, instrument } from "@warpo/heap-analyzer/profile";
 *
 * const program = instrument(readFileSync("program.wasm"));
 * const profiler = createProfiler(program);
 * const { instance } = await WebAssembly.instantiate(program.wasm, { ...imports, ...profiler.imports });
 * profiler.attach(instance.exports);
 * instance.exports.work();
 * writeFileSync("heap.pb.gz", profiler.heapProfile());
 * ```
 *
 * The module is changed so that its allocator counts down by the size of each allocation, and calls the host
 * only when the countdown is used up. AssemblyScript, WARPO, C, C++, Rust, Zig, TinyGo and Go are supported.
 *
 * @module
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import type { Heap } from "../index.js";
import { bytes } from "./bytes.js";
import { HeapAnalyzerError, invalidArgument } from "./errors.js";
import { heapHandle } from "./heap.js";
import * as native from "./native.js";
import { callNative } from "./native_errors.js";
import { typed, wholeNumber } from "./option_facts.js";
import { readOptions } from "./options.js";
import { cpuProfile } from "./profile/cpu_profile.js";
import { handlerOf, type ServedProfiles } from "./profile/handler.js";
import { heapProfile, heapText, type SampleValues, valuesOf } from "./profile/heap_profile.js";
import { type Frame, InstrumentedModule } from "./profile/program.js";
import { Sampler } from "./profile/sampler.js";

export { HeapAnalyzerError } from "./errors.js";
export {
  type Frame,
  type InstrumentedModule,
  type InstrumentOptions,
  instrument,
} from "./profile/program.js";

/** Options of {@link createProfiler}. */
export interface ProfilerOptions {
  /**
   * The mean number of bytes between two samples (a whole number ≥ 1, or `Infinity`; default: 524,288). 1
   * records every allocation, so that all figures are exact. `Infinity` records none: only
   * {@link Profiler.totals} counts.
   */
  interval?: number | undefined;
  /** The most frames of a stack (a whole number ≥ 1; default: 64). */
  stackDepth?: number | undefined;
  /** The seed of the random gaps between samples: the same seed gives the same samples (default: 1). */
  seed?: number | undefined;
  /**
   * Whether stacks contain the functions of the host that call the program (default: true). Functions of the host
   * that the program calls are always in a CPU profile.
   */
  hostCallers?: boolean | undefined;
  /** The name of the program in profiles (default: `program.wasm`). */
  name?: string | undefined;
}

/** What an instance allocated. */
export interface AllocationTotals {
  /** The number of all allocations. */
  objects: number;
  /** Their bytes. */
  bytes: number;
}

/** Options of {@link Profiler.cpuProfile}: one of the two. */
export interface CpuProfileOptions {
  /** How long to sample (a whole number ≥ 1). */
  milliseconds?: number | undefined;
  /** What to sample. */
  work?: (() => unknown) | undefined;
}

/** A line of source, and what it allocated. */
export interface AllocationSite extends Frame {
  /** The sampled objects that are alive. */
  samples: number;
  /** The number of its live objects; an estimate unless the profile is exact. */
  count: number;
  /** Their shallow size in bytes; an estimate unless the profile is exact. */
  size: number;
  /** The standard error of `size`; 0 if it is exact. */
  sizeError: number;
  /**
   * The bytes that at least one of the sampled objects retains, each counted once. It is not scaled: if the
   * profile is not exact, all objects of the line together may retain more.
   */
  retainedSize: number;
  /** The shallow size of its objects that are garbage. */
  garbageSize: number;
}

/** What is alive in a heap, by the line of source that allocated it. */
export interface AllocationSites {
  /** Whether every allocation was recorded, so that all numbers are exact. */
  exact: boolean;
  /** The mean number of bytes between two samples. */
  interval: number;
  /** The live bytes of the heap. */
  totalLiveSize: number;
  /** Sampled blocks without an object in the heap: `heap.alloc`, or freed before the dump was taken. */
  otherBlocks: number;
  /** Their bytes. */
  otherBytes: number;
  /** The lines: retained size ↓, size ↓, garbage ↓, then file, line, function. */
  sites: AllocationSite[];
}

const INTERVAL = 512 * 1024;

const EXPORT_COUNT = "__warpo_heap_analyzer_profile:count";
const EXPORT_MEMORY = "__warpo_heap_analyzer_profile:memory";
const EXPORT_COUNTDOWN = "__warpo_heap_analyzer_profile:countdown";

/** Records what one instance of a module allocates. {@link createProfiler} makes it. */
export class Profiler {
  /** The functions that the instrumented module imports: add them to the imports of the instance. */
  readonly imports: {
    warpo_heap_analyzer_profile: {
      allocated: (address: number, size: number, countdown: number) => number;
      keep: (address: number, size: number) => void;
      freed: (address: number) => number;
      mask: (nth: number) => bigint;
      keepAs: (address: number, size: number, known: number) => void;
      entered?: (isBelowHost: number) => number;
      known?: (context: bigint, size: number) => number;
    };
  };
  readonly #program: InstrumentedModule;
  readonly #sampler: Sampler;
  readonly #interval: number;
  readonly #name: string;
  readonly #frees: boolean;
  readonly #hostCallers: boolean;
  readonly #startedAt = Date.now();
  readonly #goStacks: native.GoStacks | undefined;
  #exports: Record<string, unknown> | undefined;

  /** {@link createProfiler} calls it. */
  constructor(program: InstrumentedModule, options: unknown) {
    const { frees, call, contexts } = InstrumentedModule.tableOf("program", program);
    const read = readOptions(options, CHECKS, "sync") as ProfilerOptions;
    const { interval = INTERVAL, stackDepth = 64, seed = 1, name = "program.wasm" } = read;
    const { hostCallers = true } = read;
    this.#program = program;
    this.#hostCallers = hostCallers;
    this.#interval = interval;
    this.#name = name;
    this.#frees = frees;
    this.#goStacks =
      program.family === "go" ? callNative(() => native.GoStacks.find(program.wasm)) : undefined;
    const framesAt =
      this.#goStacks && ((stackPointer: number) => this.#goFrames(stackPointer, stackDepth));
    const sampling = { interval, stackDepth, seed, frees, call, framesAt, hostCallers };
    this.#sampler = new Sampler({ ...sampling, contexts });
    this.imports = { warpo_heap_analyzer_profile: this.#sampler.imports };
  }

  /** The program that runs. */
  get program(): InstrumentedModule {
    return this.#program;
  }

  /** The mean number of bytes between two samples. */
  get interval(): number {
    return this.#interval;
  }

  /**
   * Gives the profiler the exports of the instance, from which {@link totals} and the sizes of blocks are read.
   *
   * @throws {HeapAnalyzerError} `ERR_INVALID_ARG_TYPE` if they are not of an instrumented module, or if the
   *   profiler has those of another instance: each instance needs a profiler of its own.
   */
  attach(exports: object): void {
    const found = (exports as Record<string, unknown> | null | undefined)?.[EXPORT_COUNT];
    if (found === undefined) {
      const expected = "the exports of an instance of the instrumented module";
      throw invalidArgument(
        "exports",
        expected,
        exports,
        "compile `wasm` of what instrument() returned",
      );
    }
    if (this.#exports !== undefined && this.#exports !== exports) {
      const message = "the profiler is attached to another instance: create one for each instance";
      throw new HeapAnalyzerError("ERR_INVALID_ARG_TYPE", message);
    }
    this.#exports = exports as Record<string, unknown>;
  }

  /**
   * What the instance allocated until now, all of it counted and not estimated.
   *
   * @throws {HeapAnalyzerError} `ERR_INVALID_ARG_TYPE` before {@link attach}.
   */
  totals(): AllocationTotals {
    const value = (name: string) => {
      const global = this.#exports?.[name] as { value: bigint } | undefined;
      if (global === undefined) {
        const message =
          "the profiler is not attached: call profiler.attach(instance.exports) first";
        throw new HeapAnalyzerError("ERR_INVALID_ARG_TYPE", message);
      }
      return Number(global.value);
    };
    return { objects: value(EXPORT_COUNT), bytes: this.#sampler.bytes(value(EXPORT_COUNTDOWN)) };
  }

  /**
   * What was allocated by which stack, and how much of it is in use, as compressed `profile.proto` for pprof:
   * `alloc_objects`, `alloc_space`, `inuse_objects`, `inuse_space`. Go and TinyGo free without a call, so
   * their profiles have only the first two.
   *
   * @throws {HeapAnalyzerError} `ERR_OUT_OF_MEMORY`.
   */
  heapProfile(): Uint8Array<ArrayBuffer> {
    return this.#encoded("inuse_space");
  }

  /**
   * The same with `alloc_space` as the type that tools show first.
   *
   * @throws {HeapAnalyzerError} `ERR_OUT_OF_MEMORY`.
   */
  allocationProfile(): Uint8Array<ArrayBuffer> {
    return this.#encoded("alloc_space");
  }

  /**
   * Where the process spends its time, as compressed `profile.proto`: `samples` (how often a stack was seen),
   * `cpu` (time) and `wasm` (time within the module, without functions of the host). The engine samples every
   * millisecond. `milliseconds` says for how long; with `work`, the profile ends when the work is done.
   *
   * Only one CPU profile can be made at a time.
   *
   * @throws {HeapAnalyzerError} `ERR_INVALID_OPTION` or `ERR_INVALID_ARG_TYPE`; also what `work` throws, and
   *   the errors of `node:inspector`.
   */
  async cpuProfile(options: CpuProfileOptions): Promise<Uint8Array<ArrayBuffer>> {
    const read = readOptions(options, CPU_CHECKS, "sync") as Partial<CpuProfileOptions>;
    const { milliseconds, work } = read;
    if ((milliseconds === undefined) === (work === undefined)) {
      const message = "cpuProfile: expected either the option milliseconds or the option work";
      throw new HeapAnalyzerError("ERR_INVALID_OPTION", message);
    }
    const info = {
      program: this.#program,
      name: this.#name,
      ...this.scriptInfo(),
      hostCallers: this.#hostCallers,
    };
    const encoded = await cpuProfile(info, work ?? (milliseconds as number));
    return new Uint8Array(encoded) as Uint8Array<ArrayBuffer>;
  }

  /**
   * Answers requests of `node:http` for `/debug/pprof/` as Go programs do: `heap` and `allocs`, with `?seconds=10` what
   * changed during these seconds, and with `?debug=1` as text; `profile?seconds=30`; `cmdline`; and an index. The
   * profiles `block`, `goroutine`, `mutex` and `threadcreate`, which collectors ask for by default, are empty. It
   * binds no port; bind the server to `127.0.0.1`, because a profile shows what a program does.
   */
  get handler(): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
    return handlerOf(this.served());
  }

  /**
   * What a server of the profiles serves.
   *
   * @internal
   */
  served(): ServedProfiles {
    return {
      now: () => valuesOf(this.#info()),
      heap: (defaultType, since) => this.#encoded(defaultType, since),
      heapText: (since) => heapText(this.#info(), since),
      cpu: (milliseconds) => this.cpuProfile({ milliseconds }),
      wait: (milliseconds) => wait(milliseconds),
    };
  }

  /**
   * Has a function called before each sample is recorded, when all that was recorded before is complete.
   *
   * @internal
   */
  beforeSamples(called: () => void): void {
    this.#sampler.beforeSample = called;
  }

  /**
   * What a CPU profile needs to know of the program.
   *
   * @internal
   */
  scriptInfo(): { shift: number; script: string | undefined } {
    const { shift, script } = this.#sampler;
    return { shift, script };
  }

  /** The frames on the stack of a goroutine. They are there because Go suspends and resumes them. */
  #goFrames(stackPointer: number, depth: number): number[] {
    const memory = this.#memory();
    if (memory === undefined) return [];
    const found = this.#goStacks?.stack(new Uint8Array(memory.buffer), stackPointer, depth) ?? [];
    return found.map((address) => -address);
  }

  #symbolize(frames: number[]): Frame[][] {
    const inMemory = frames.filter((frame) => frame < 0).map((frame) => -frame);
    const named: Frame[] =
      this.#goStacks === undefined ? [] : JSON.parse(this.#goStacks.symbolize(inMemory));
    const offsets = frames.filter((frame) => frame >= 0);
    const symbols = this.#program.symbolize(offsets);
    let [nextNamed, nextSymbols] = [0, 0];
    return frames.map((frame) =>
      frame < 0 ? [named[nextNamed++] as Frame] : (symbols[nextSymbols++] as Frame[]),
    );
  }

  #memory(): { buffer: ArrayBuffer } | undefined {
    return this.#exports?.[EXPORT_MEMORY] as { buffer: ArrayBuffer } | undefined;
  }

  /** Reads sizes from the headers of blocks, because a block can be resized where it is. */
  #sizeNow(): (address: number, size: number) => number {
    const memory = this.#memory();
    if (this.#program.family !== "assemblyscript" || memory === undefined) return (_, size) => size;
    const view = new DataView(memory.buffer);
    return (address, size) =>
      address + 4 <= view.byteLength ? (view.getUint32(address, true) & ~3) + 4 : size;
  }

  #info() {
    return {
      symbolize: (frames: number[]) => this.#symbolize(frames),
      sampler: this.#sampler,
      interval: this.#interval,
      frees: this.#frees,
      sizeNow: this.#sizeNow(),
      name: this.#name,
      startedAt: this.#startedAt,
    };
  }

  #encoded(defaultType: string, since?: SampleValues): Uint8Array<ArrayBuffer> {
    const encoded = heapProfile(this.#info(), defaultType, since);
    return new Uint8Array(encoded) as Uint8Array<ArrayBuffer>;
  }
}

const CHECKS = {
  interval: (name: string, value: unknown) =>
    value === Number.POSITIVE_INFINITY ? value : wholeNumber(1)(name, value),
  stackDepth: wholeNumber(1, 1000),
  seed: wholeNumber(0),
  hostCallers: typed("boolean"),
  name: typed("string"),
};

const CPU_CHECKS = {
  milliseconds: wholeNumber(1),
  work: (name: string, value: unknown) => {
    if (typeof value !== "function") throw invalidArgument(name, "a function", value);
    return value;
  },
};

/** The most sites in a text. */
const SHOWN = 20;

/**
 * Which lines of source allocated what is alive in a heap, and how much memory that retains. The profile must
 * be of the same moment as the dump of the heap: take both without running the program between.
 *
 * @param profile the profiler, or what its `heapProfile()` returned.
 * @throws {HeapAnalyzerError} `ERR_PROFILE` if the profile has no addresses of blocks, as that of a program in Go, or
 *   is of another run; `ERR_INVALID_ARG_TYPE`,
 *   `ERR_HEAP_CLOSED` or `ERR_OUT_OF_MEMORY`.
 */
export function retainedBySite(heap: Heap, profile: Profiler | Uint8Array): AllocationSites {
  const handle = heapHandle("heap", heap);
  const encoded = profile instanceof Profiler ? profile.heapProfile() : bytes("profile", profile);
  return JSON.parse(callNative(() => native.allocationSites(handle, encoded, SHOWN)).json);
}

/**
 * Makes a profiler for one instance of an instrumented module.
 *
 * @throws {HeapAnalyzerError} `ERR_INVALID_ARG_TYPE` or `ERR_INVALID_OPTION`.
 */
export function createProfiler(program: InstrumentedModule, options?: ProfilerOptions): Profiler {
  return new Profiler(program, options);
}
