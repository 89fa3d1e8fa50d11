/** Runs a build of a small program, and compares the results of the analyzer with the collector. */

import { type Accounting, analyze, type ConstructorView } from "@warpo/heap-analyzer";
import { exposeGlobals } from "@warpo/heap-analyzer/capture";

import { type HeapTruth, readTruth, STATE_IDLE } from "../support/truth.ts";
import { exportGlobals, readWasmModule, TYPE_I32 } from "../support/wasm_module.ts";
import { isExpectedWarning } from "./builds.ts";
import type { SmallBuild } from "./small_build.ts";

/**
 * - `wrong`: another live set than the collector's, without a warning;
 * - `wrong with a warning`: another live set, and a warning;
 * - `false alarm`: the collector's live set, and a warning all the same;
 * - `refused`: no result;
 * - `not exposed`: `exposeGlobals` refuses the module; its dumps are analyzed correctly;
 * - `program`: the program itself did not get through;
 * - `endless`: the build or its analysis takes minutes.
 */
export type Verdict =
  | "wrong"
  | "wrong with a warning"
  | "false alarm"
  | "refused"
  | "not exposed"
  | "program"
  | "endless";

export interface SmallFailure {
  verdict: Verdict;
  message: string;
  /** The dump that it is about, if it is about one. */
  dump?: number;
}

/** A dump, and the objects that the collector keeps. */
export interface SmallDump {
  bytes: Uint8Array;
  truth: HeapTruth;
}

/** The worst result for a program's dumps; undefined if all are correct. */
export function judgeDumps(build: SmallBuild, dumps: SmallDump[]): SmallFailure | undefined {
  const failures = [
    ...notExposed(build.wasm),
    ...dumps.flatMap((dump, at): SmallFailure[] => {
      const failure = judgeDump(build, dump);
      return failure ? [{ ...failure, dump: at }] : [];
    }),
  ];
  return failures.sort((left, right) => rank(left) - rank(right))[0];
}

const RANKS: Verdict[] = [
  "endless",
  "program",
  "wrong",
  "refused",
  "wrong with a warning",
  "false alarm",
  "not exposed",
];

function rank({ verdict }: SmallFailure): number {
  return RANKS.indexOf(verdict);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function notExposed(wasm: Uint8Array): SmallFailure[] {
  try {
    exposeGlobals(wasm);
    return [];
  } catch (error) {
    return [{ verdict: "not exposed", message: messageOf(error) }];
  }
}

/** The space that `asc` reserves for the shadow stack, between static data and heap. */
const STACK_SIZE = 32_768;

/** Each dump twice: before a collection, and after it. The dumps are the judge's own work. */
export function runSmallBuild({ named, wasm, filler }: SmallBuild): SmallDump[] {
  const mutable = readWasmModule(named).globals.filter(
    (global) => global.mutable && global.type === TYPE_I32,
  );
  const isThere = (wanted: string) => mutable.some(({ name }) => name === wanted);
  if (!isThere("~lib/rt/itcms/toSpace")) throw new Error("the optimiser removed toSpace");
  const exported = new Map(mutable.map(({ index }) => [`judge:${index}`, index]));
  const module = new WebAssembly.Module(exportGlobals(wasm, exported));
  const dumps: SmallDump[] = [];
  let waiting: Uint8Array | undefined;
  let cycles = 0;
  let white = 0;
  const before = () => {
    const values = [...globals().values()];
    waiting = ashd(memory(), { heapBase: stackBase, stackPointer: stackPointer(), values });
    cycles = 0;
    white = collector("white");
  };
  // The collector changes its colours once a cycle. The first cycle may have begun before the dump.
  const isCollecting = () => {
    if (white !== collector("white")) cycles++;
    white = collector("white");
    return cycles < 2 || collector("state") !== STATE_IDLE;
  };
  const after = () => {
    const collected = waiting;
    if (!collected) throw new Error("after() without before()");
    // Nothing is below the allocator's root, where the heap begins, but static objects.
    const heapBase = stackBase || (globals().get("~lib/rt/tlsf/ROOT") ?? 0);
    const truth = readTruth(memory(), heapBase, globals());
    for (const [address, { rtId }] of truth) if (rtId === filler) truth.delete(address);
    before();
    dumps.push({ bytes: collected, truth }, { bytes: waiting as Uint8Array, truth });
  };
  const { exports } = new WebAssembly.Instance(module, {
    host: {
      before,
      after,
      isCollecting,
      beforeAndAfter: () => {
        before();
        (exports.__collect as () => void)();
        after();
      },
    },
    env: {
      cfg: () => 0,
      abort: (_message: number, _file: number, line: number, column: number) => {
        throw new Error(`the program aborts at ${line}:${column}`);
      },
    },
  });
  const memory = () => (exports.memory as WebAssembly.Memory).buffer;
  const value = (name: string) => Number((exports[name] as WebAssembly.Global).value) >>> 0;
  const globals = () =>
    new Map(mutable.map(({ name, index }) => [name ?? `${index}`, value(`judge:${index}`)]));
  const collector = (name: string) => globals().get(`~lib/rt/itcms/${name}`) ?? 0;
  // The stack is empty before the program runs. Without a stack, WARPO writes zeros.
  const stackBase = globals().get(STACK_POINTER) ?? 0;
  const stackPointer = () => globals().get(STACK_POINTER) ?? 0;
  (exports.main as () => void)();
  return dumps;
}

const STACK_POINTER = "~lib/memory/__stack_pointer";

/** A dump, version 2. */
function ashd(
  memory: ArrayBuffer,
  { heapBase, stackPointer, values }: { heapBase: number; stackPointer: number; values: number[] },
): Uint8Array {
  const header = [
    2,
    Math.max(0, heapBase - STACK_SIZE),
    heapBase,
    stackPointer,
    values.length,
    ...values,
  ];
  return Buffer.concat([
    Buffer.from("ASHD"),
    Buffer.from(Uint32Array.from(header).buffer),
    Buffer.from(memory),
  ]);
}

function judgeDump(build: SmallBuild, { bytes, truth }: SmallDump): SmallFailure | undefined {
  let view: ConstructorView;
  try {
    view = analyze(bytes, build.wasm);
  } catch (error) {
    return { verdict: "refused", message: messageOf(error) };
  }
  const differences = compare(build, view, bytes, truth);
  const unexpected = view.warnings.filter(({ code }) => !isExpectedWarning(build, code));
  const codes = [...new Set(view.warnings.map(({ code }) => code))].join(", ");
  if (differences.length > 0) {
    const [verdict, said] =
      unexpected.length > 0
        ? (["wrong with a warning", ` (${codes})`] as const)
        : (["wrong", ""] as const);
    return { verdict, message: differences.join("; ") + said };
  }
  if (unexpected.length > 0)
    return { verdict: "false alarm", message: unexpected[0]?.message ?? "" };
  return undefined;
}

/** The class id of an object in a dump. */
function classOf(dump: Uint8Array, address: number): number {
  const view = new DataView(dump.buffer, dump.byteOffset);
  const memoryStart = 24 + 4 * view.getUint32(20, true);
  return view.getUint32(memoryStart + address - 8, true);
}

/** A short description of the problem. */
function compare(
  build: SmallBuild,
  view: ConstructorView,
  dump: Uint8Array,
  truth: HeapTruth,
): string[] {
  const found = new Map(
    view.constructors.flatMap(({ className, instances }) =>
      instances.map(({ address, shallowSize }) => [address, { className, shallowSize }] as const),
    ),
  );
  for (const address of found.keys())
    if (classOf(dump, address) === build.filler) found.delete(address);
  const missing = [...truth].filter(([address]) => !found.has(address));
  const tooMany = [...found].filter(([address]) => !truth.has(address));
  const wrong: string[] = [];
  const example = (address: number | undefined, className: string | undefined) =>
    `as ${className} at ${address}`;
  if (missing[0]) {
    const [address, { rtId }] = missing[0];
    wrong.push(`${missing.length} missing, ${example(address, build.classNames.get(rtId))}`);
  }
  if (tooMany[0]) {
    const [address, { className }] = tooMany[0];
    wrong.push(`${tooMany.length} too many, ${example(address, className)}`);
  }
  for (const [address, { rtId, blockBytes }] of truth) {
    const object = found.get(address);
    if (!object) continue;
    const name = build.classNames.get(rtId);
    if (object.shallowSize !== blockBytes)
      wrong.push(`${address} has ${blockBytes} bytes, not ${object.shallowSize}`);
    const mayBeNameless = build.debugInformation === "none";
    if (object.className !== name && !(mayBeNameless && object.className === `Class#${rtId}`))
      wrong.push(`${address} is a ${name}, not ${object.className}`);
    if (wrong.length > 3) break;
  }
  const { live, garbage, raw, free, overhead, gaps, unread } = view.accounting as Accounting;
  const parts = [live.global, live.stack, live.pinned, garbage, raw, free.bytes, overhead, gaps];
  const sum = parts.reduce((sum, part) => sum + part, unread);
  if (sum !== view.totalHeapSize)
    wrong.push(`the parts add up to ${sum} bytes, not ${view.totalHeapSize}`);
  return wrong;
}
