/** What a program allocated, as a profile for pprof. */
import * as native from "../native.js";
import { callNative } from "../native_errors.js";
import type { Frame } from "./program.js";
import type { Sampler } from "./sampler.js";
import type { StackFrame } from "./stack.js";

/** A profile before it is encoded; `crates/outputs/src/exports/profile.rs` reads it. */
export interface CallProfile {
  sampleTypes: [name: string, unit: string][];
  defaultSampleType: string;
  periodType: [name: string, unit: string];
  period: number;
  timeNanos: number;
  durationNanos: number;
  program: string;
  comments: string[];
  locations: Frame[][];
  samples: { stack: number[]; values: number[] }[];
  /** The blocks in use, by which `retainedBySite` finds them in a dump. */
  sampledBlocks?: { interval: number; places: Frame[]; blocks: number[] };
}

/** Functions of allocators, as `operator new`, and those that a linker puts around them. A profile names their callers. */
const ALLOCATORS = [
  /^~lib\/rt\//,
  /^operator[ _]new/,
  /^(dl|emmalloc_|c\.malloc\.|__wrap_)?(malloc|calloc|realloc|reallocarray|memalign|valloc|aligned_alloc|aligned_alloc_inner|posix_memalign)$/,
  /(__rust|__rdl|__rg)_(alloc|alloc_zeroed|realloc)$/,
  /^runtime\./,
  /^<?alloc::(alloc|raw_vec)::/,
  /^(mem|heap)\.(\w*Allocator|\w*c_allocator_impl)\./,
];

export function isAllocator(name: string): boolean {
  return ALLOCATORS.some((pattern) => pattern.test(name));
}

/** Files of the standard libraries of C (wasi-libc, Emscripten), C++, Rust and Zig. Their functions have frames of their own, inlined or not. */
const LIBRARY_FILES = [
  /(^|\/)libc-(top|bottom)-half\//,
  /(^|\/)system\/lib\/libc\//,
  /(^|\/)(c\+\+\/v\d+|libcxx|libcxxabi)\//,
  /(^|\/)library\/(core|alloc|std)\/src\//,
  /\/lib\/std\/[\w/]+\.zig$/,
];
const LIBRARY_FUNCTIONS = /^~lib\/|^<?(std|core|alloc)::/;

function isLibrary({ function: name, file }: Frame): boolean {
  return LIBRARY_FUNCTIONS.test(name) || LIBRARY_FILES.some((pattern) => pattern.test(file));
}

/** The program's function of a frame whose line is one of AssemblyScript's library, which was copied there. */
function ownFunction(frame: Frame): Frame {
  return frame.file.startsWith("~lib/") ? { function: frame.function, file: "", line: 0 } : frame;
}

/** The functions at offsets in a module, or at addresses of Go's: for each the innermost first. */
export type Symbolize = (frames: number[]) => Frame[][];

/** Names the frames of stacks. */
export class Locations {
  readonly list: Frame[][] = [];
  readonly #numbers = new Map<StackFrame, number>();
  /** How many places are of the program; those of the host are after them. */
  readonly #ofProgram: number;

  constructor(symbolize: Symbolize, stacks: Iterable<readonly StackFrame[]>) {
    const frames = new Set<StackFrame>();
    for (const stack of stacks) for (const frame of stack) frames.add(frame);
    const offsets = [...frames].filter((frame) => typeof frame === "number");
    const named = symbolize(offsets);
    for (const [nth, offset] of offsets.entries()) this.#add(offset, named[nth] as Frame[]);
    this.#ofProgram = this.list.length;
    for (const frame of frames) {
      if (typeof frame === "string") this.#add(frame, [hostSymbol(frame)]);
    }
  }

  #add(frame: StackFrame, symbols: Frame[]): void {
    // Functions of an allocator may be inlined into their callers.
    const caller = symbols.findIndex(({ function: name }) => !isAllocator(name));
    this.#numbers.set(frame, this.list.push(symbols.slice(Math.max(0, caller))) - 1);
  }

  /**
   * The line that a stack is attributed to: the innermost one outside of the standard library, or the function if
   * the program's lines are not known. If the line is one of the library that was copied into a function of the
   * program, it is that function. A line of the host only if it called the allocator.
   */
  site(frames: readonly StackFrame[]): Frame {
    const numbers = this.stack(frames);
    const named = (ofProgram: boolean) =>
      numbers
        .filter((number) => number < this.#ofProgram === ofProgram)
        .flatMap((number) => this.list[number] as Frame[])
        .filter((frame) => !isLibrary(frame));
    const own = named(true);
    // A constructor allocates its object before its first line: the line is that of its caller.
    const site = own.find(({ line }) => line > 0) ?? own[0] ?? named(false)[0];
    if (site !== undefined) return ownFunction(site);
    return this.list[numbers[0] ?? -1]?.[0] ?? { function: "(unknown)", file: "", line: 0 };
  }

  /** The places of a stack, by number, the innermost first, without functions of the allocator. */
  stack(frames: readonly StackFrame[]): number[] {
    const numbers = frames.map((frame) => this.#numbers.get(frame) as number);
    const isOwn = (number: number) =>
      (this.list[number] as Frame[]).every((frame) => isAllocator(frame.function));
    const first = numbers.findIndex((number) => !isOwn(number));
    return first === -1 ? numbers : numbers.slice(first);
  }
}

function hostSymbol(frame: string): Frame {
  const [name = "", file = "", line = "0"] = frame.split("\n");
  return { function: name, file, line: Number(line) };
}

export interface HeapProfileInfo {
  symbolize: Symbolize;
  sampler: Sampler;
  interval: number;
  frees: boolean;
  /** The current size of a sampled block. */
  sizeNow: (address: number, size: number) => number;
  name: string;
  startedAt: number;
}

/** The blocks in use, each with the line that allocated it. */
function sampledBlocks({ sampler, interval, sizeNow }: HeapProfileInfo, locations: Locations) {
  const numbers = new Map<string, number>();
  const places: Frame[] = [];
  const placeOf = sampler.stacks.map(({ frames }) => {
    const site = locations.site(frames);
    const key = JSON.stringify(site);
    const number = numbers.get(key) ?? places.push(site) - 1;
    numbers.set(key, number);
    return number;
  });
  const blocks: number[] = [];
  for (const [address, size, stack] of sampler.live()) {
    blocks.push(address, sizeNow(address, size), placeOf[stack] as number);
  }
  return { interval, places, blocks };
}

/** What each stack allocated until a moment. */
export type SampleValues = readonly (readonly number[])[];

/** For each stack: objects and bytes allocated, and if it is known, objects and bytes in use. */
export function valuesOf({ sampler, frees, sizeNow }: HeapProfileInfo): number[][] {
  const values = sampler.stacks.map(({ allocatedObjects, allocatedBytes }) =>
    frees ? [allocatedObjects, allocatedBytes, 0, 0] : [allocatedObjects, allocatedBytes],
  );
  for (const [address, size, stack] of sampler.live()) {
    const weight = sampler.weight(size);
    const sum = values[stack] as [number, number, number, number];
    sum[2] += weight;
    sum[3] += weight * sizeNow(address, size);
  }
  return values;
}

/** The values less those of an earlier moment. */
function valuesSince(info: HeapProfileInfo, since: SampleValues | undefined): number[][] {
  return valuesOf(info).map((values, stack) =>
    values.map((value, nth) => Math.round(value - (since?.[stack]?.[nth] ?? 0))),
  );
}

/** The profile as text, as Go's with `debug=1`: the stacks with most bytes in use first. */
export function heapText(info: HeapProfileInfo, since: SampleValues | undefined): string {
  const { stacks } = info.sampler;
  const locations = new Locations(
    info.symbolize,
    stacks.map(({ frames }) => frames),
  );
  const line = ([objects = 0, bytes = 0, usedObjects = 0, usedBytes = 0]: number[]) =>
    `${usedObjects}: ${usedBytes} [${objects}: ${bytes}] @`;
  const rows = valuesSince(info, since).map((values, stack) => ({ values, stack }));
  const shown = rows.filter(({ values }) => values.some((value) => value !== 0));
  const size = ({ values }: (typeof rows)[0]) => values[3] ?? (values[1] as number);
  shown.sort((one, other) => size(other) - size(one));
  const total = [0, 1, 2, 3].map((nth) =>
    shown.reduce((sum, { values }) => sum + (values[nth] ?? 0), 0),
  );
  const text = shown.map(({ values, stack }) => {
    const numbers = locations.stack((stacks[stack] as { frames: StackFrame[] }).frames);
    const frames = numbers.flatMap((number) => locations.list[number] as Frame[]);
    const named = frames.map((frame) => `#\t${frame.function}\t${frame.file}:${frame.line}\n`);
    return `${line(values)} ${numbers.map((number) => `0x${(number + 1).toString(16)}`).join(" ")}\n${named.join("")}\n`;
  });
  return `heap profile: ${line(total)} heap/${2 * info.interval}\n${text.join("")}`;
}

/** The profile, encoded; what changed since a moment, if there is one. */
export function heapProfile(
  info: HeapProfileInfo,
  defaultType: string,
  since: SampleValues | undefined,
): Buffer {
  const { sampler, interval, frees, startedAt } = info;
  const { stacks } = sampler;
  const locations = new Locations(
    info.symbolize,
    stacks.map(({ frames }) => frames),
  );
  const values = valuesSince(info, since);
  const now = Date.now();
  const profile: CallProfile = {
    sampleTypes: [
      ["alloc_objects", "count"],
      ["alloc_space", "bytes"],
      ...(frees
        ? ([
            ["inuse_objects", "count"],
            ["inuse_space", "bytes"],
          ] as [string, string][])
        : []),
    ],
    defaultSampleType: frees ? defaultType : "alloc_space",
    periodType: ["space", "bytes"],
    period: Number.isFinite(interval) ? interval : 0,
    timeNanos: now * 1e6,
    durationNanos: Math.max(0, now - startedAt) * 1e6,
    program: info.name,
    comments: frees
      ? []
      : ["This program's collector frees without a call, so what is in use is not known."],
    locations: locations.list,
    samples: stacks.map(({ frames }, nth) => ({
      stack: locations.stack(frames),
      values: values[nth] as number[],
    })),
  };
  // The blocks of a change are those of no moment.
  const hasBlocks = since === undefined && frees && Number.isFinite(interval);
  if (hasBlocks) profile.sampledBlocks = sampledBlocks(info, locations);
  return encode(profile);
}

export function encode(profile: CallProfile): Buffer {
  const text = JSON.stringify(profile);
  return callNative(() => native.encodeProfile(text));
}
