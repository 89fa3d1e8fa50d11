/** Every call of the API that takes a signal, and every command that reads a heap. */
import type { Readable } from "node:stream";
import type * as analyzer from "@warpo/heap-analyzer";

type Api = typeof analyzer;
type Heap = analyzer.Heap;

/** Two dumps with their module, or two heap snapshots of V8. */
export interface Inputs {
  before: string;
  after: string;
  /** Undefined for snapshots. */
  wasm: string | undefined;
}

/** A call that can be aborted. */
export interface Call {
  name: string;
  /** Does what comes before the call. The call is made with these heaps, which are closed after it. */
  open(): Promise<Heap[]>;
  start(signal: AbortSignal, heaps: Heap[]): Promise<unknown>;
}

/** All calls of the API, for some inputs. */
export function apiCalls(api: Api, inputs: Inputs, read: (path: string) => Uint8Array): Call[] {
  const { before, after } = inputs;
  const wasm = inputs.wasm as string;
  const address = firstObject(api, after, wasm);
  const open = (path: string) => api.openHeapFileAsync(path, wasm);
  // Heaps are opened anew for each call, because they keep the indexes that a question has built.
  const one = async () => [await open(after)];
  const two = async () => [await open(before), await open(after)];
  const calls = (
    heaps: () => Promise<Heap[]>,
    starts: Record<string, (signal: AbortSignal, ...heaps: Heap[]) => Promise<unknown>>,
  ): Call[] =>
    Object.entries(starts).map(([name, start]) => ({
      name,
      open: heaps,
      start: (signal, opened) => start(signal, ...opened),
    }));
  return [
    ...calls(async () => [], fileCalls(api, inputs, read)),
    ...calls(one, questions(address)),
    ...calls(one, isDump(inputs) ? dumpQuestions() : {}),
    ...calls(one, tables(isDump(inputs))),
    ...calls(two, comparisons(api)),
  ];
}

function isDump({ wasm }: Inputs): boolean {
  return wasm !== undefined;
}

type Start = (signal: AbortSignal, ...heaps: [Heap, Heap]) => Promise<unknown>;
type Starts = Record<string, Start>;

/** Calls that read files or bytes. */
function fileCalls(
  api: Api,
  { before, after, wasm }: Inputs,
  read: (path: string) => Uint8Array,
): Record<string, (signal: AbortSignal) => Promise<unknown>> {
  const [earlier, later] = [read(before), read(after)];
  const module = (wasm === undefined ? undefined : read(wasm)) as Uint8Array;
  const path = wasm as string;
  const closed = async (opening: Promise<Heap>) => (await opening).close();
  return {
    analyzeAsync: (signal) => api.analyzeAsync(later, module, { signal }),
    analyzeFileAsync: (signal) => api.analyzeFileAsync(after, path, { signal }),
    diffAsync: (signal) => api.diffAsync(earlier, later, module, { signal }),
    diffFileAsync: (signal) => api.diffFileAsync(before, after, path, { signal }),
    openHeapAsync: (signal) => closed(api.openHeapAsync(later, module, { signal })),
    openHeapFileAsync: (signal) => closed(api.openHeapFileAsync(after, path, { signal })),
  };
}

/** What one heap can be asked. */
function questions(address: number): Starts {
  return {
    constructorsAsync: (signal, heap) => heap.constructorsAsync({ signal }),
    prepareAsync: (signal, heap) => heap.prepareAsync({ signal }),
    "findAsync by class": (signal, heap) => heap.findAsync({ class: "*e*", signal }),
    "findAsync by text": (signal, heap) => heap.findAsync({ contains: "no such text", signal }),
    objectAsync: (signal, heap) => heap.objectAsync(address, { signal }),
    referrersAsync: (signal, heap) => heap.referrersAsync(address, { signal }),
    "pathsAsync of an object": (signal, heap) => heap.pathsAsync(address, { signal }),
    "pathsAsync of classes": (signal, heap) => heap.pathsAsync({ class: "*" }, { signal }),
    dominatorsAsync: (signal, heap) => heap.dominatorsAsync({ signal }),
    "dominatorsAsync by class": (signal, heap) => heap.dominatorsAsync({ by: "class", signal }),
    suspectsAsync: (signal, heap) => heap.suspectsAsync({ signal }),
    wasteAsync: (signal, heap) => heap.wasteAsync({ signal }),
    placeTableAsync: (signal, heap) => heap.placeTableAsync({ signal }),
    reportAsync: (signal, heap) => heap.reportAsync({ signal }),
    "export pprof": (signal, heap) => drained(heap.export("pprof", { signal })),
  };
}

/** What only a dump can be asked. */
function dumpQuestions(): Starts {
  return {
    unreachableAsync: (signal, heap) => heap.unreachableAsync({ signal, maxNodes: 10_000 }),
    "export heapsnapshot": (signal, heap) =>
      drained(heap.export("heapsnapshot", { all: true, signal })),
  };
}

const TABLES = ["dump", "class", "path", "suspect", "waste", "object", "edge"] as const;

function tables(hasModule: boolean): Starts {
  const id = "0".repeat(64);
  const capture = {
    dumpId: id,
    moduleId: hasModule ? id : null,
    capturedAt: new Date(0),
    dumpSize: 1,
  };
  return Object.fromEntries(
    TABLES.map((table): [string, Start] => [
      `export parquet, ${table}`,
      (signal, heap) => drained(heap.export("parquet", { table, ...capture, signal })),
    ]),
  );
}

/** What two heaps can be asked. */
function comparisons(api: Api): Starts {
  return {
    compareWithAsync: (signal, before, after) => after.compareWithAsync(before, { signal }),
    "suspectsAsync with growth": (signal, before, after) => after.suspectsAsync({ before, signal }),
    "pathsAsync of new objects": (signal, before, after) =>
      after.pathsAsync({ newSince: before }, { signal }),
    "reportAsync with a comparison": (signal, before, after) =>
      after.reportAsync({ before, signal }),
    growthAsync: (signal, before, after) => api.growthAsync([before, after], { signal }),
    checkAsync: (signal, before, after) => api.checkAsync([before, after], { minDumps: 2, signal }),
    "export heap-diff": (signal, before, after) =>
      drained(after.export("heap-diff", { before, signal })),
  };
}

function firstObject(api: Api, dump: string, wasm: string): number {
  const heap = api.openHeapFile(dump, wasm);
  const [first] = heap.find({ limit: 1 }).objects;
  heap.close();
  if (first === undefined) throw new Error(`${dump}: no object is alive`);
  return first.address;
}

async function drained(stream: Readable): Promise<void> {
  for await (const _ of stream);
}

/** The arguments of every command that reads a heap and prints or writes something. */
export function commands({ before, after, wasm }: Inputs, folder: string): string[][] {
  const module = wasm === undefined ? [] : ["--wasm", wasm];
  const output = ["--output", `${folder}/output`];
  const one = [
    ["analyze"],
    ["suspects"],
    ["paths", "--class", "*"],
    ["find", "--class", "*", "--contains", "no such text"],
    ["dominators"],
    ["waste"],
    ["report", ...output],
    ["export", "--to", "pprof", ...output],
    ["export", "--to", "parquet", "--captured-at", "file-time", "--output", `${folder}/tables`],
    ...(wasm === undefined
      ? []
      : [["summary"], ["unreachable"], ["export", "--to", "heapsnapshot", ...output]]),
  ];
  const two = [
    ["diff"],
    ["growth"],
    ["check", "--max-growth", "5%"],
    ["export", "--to", "heap-diff", ...output],
  ];
  return [
    ...one.map(([name, ...options]) => [name as string, after, ...module, ...options]),
    ...two.map(([name, ...options]) => [name as string, before, after, ...module, ...options]),
  ];
}
