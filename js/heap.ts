/** The class `Heap` of the public API: a heap that is opened once and answers any number of questions. */
import type * as api from "../index.js";
import { bytes, moduleBytes } from "./bytes.js";
import { descriptor } from "./descriptor.js";
import { HeapAnalyzerError, invalidArgument } from "./errors.js";
import { exportRequest, exportStream } from "./exports.js";
import { handlesBeside, numbersBeside } from "./host_numbers.js";
import * as native from "./native.js";
import { callNative } from "./native_errors.js";
import { invalidOption } from "./option_facts.js";
import { openOptions, readOptions, viewOptions } from "./options.js";
import { dumpFile, moduleFile, path } from "./paths.js";
import { placeTable } from "./place_table.js";
import * as questions from "./questions.js";
import { reportFile } from "./report_file.js";
import { comparisonView, loadedView } from "./views.js";
import { controlled } from "./work.js";

/** Work that `close()` cuts off. */
interface Running {
  cancel(): void;
}

/** Only this module creates heaps. */
const TOKEN = Symbol("heap");

/** The handle of a value that must be a heap. Only this package has it. */
export let heapHandle: (name: string, value: unknown) => native.HeapHandle;

let ask: (heap: Heap, asked: questions.Asked) => unknown;
let askAsync: (heap: Heap, asked: questions.Asked, options: api.AsyncOptions) => Promise<unknown>;

// The types of the methods, which have overloads, are in `heap.d.ts`.
class Heap {
  readonly #handle: native.HeapHandle;
  /** Running asynchronous questions, and exports that are being read. */
  readonly #running = new Set<Running>();
  #isClosed = false;

  constructor(token: symbol, handle: native.HeapHandle) {
    if (token !== TOKEN) {
      throw new HeapAnalyzerError(
        "ERR_INVALID_ARG_TYPE",
        "new Heap() is not supported: call openHeap or openHeapFile",
      );
    }
    this.#handle = handle;
  }

  get accounting() {
    return JSON.parse(callNative(() => this.#handle.accounting()) ?? "null");
  }

  get warnings() {
    return callNative(() => this.#handle.warnings());
  }

  get partial() {
    return callNative(() => this.#handle.isPartial());
  }

  get memorySize() {
    return callNative(() => this.#handle.memorySize);
  }

  constructors(options?: unknown) {
    const request = viewOptions(options, "sync");
    return loadedView(callNative(() => this.#handle.constructors(request)));
  }

  async constructorsAsync(options?: api.AsyncOptions) {
    const request = viewOptions(options, "async");
    return loadedView(
      await this.#run(options, (control) => this.#handle.constructorsAsync(request, control)),
    );
  }

  compareWith(before: unknown, options?: unknown) {
    const request = viewOptions(options, "sync");
    const handle = Heap.#handleOf("before", before);
    return comparisonView(callNative(() => this.#handle.compareWith(handle, request)));
  }

  async compareWithAsync(before: unknown, options?: api.AsyncOptions) {
    const request = viewOptions(options, "async");
    const handle = Heap.#handleOf("before", before);
    return comparisonView(
      await this.#run(options, (control) =>
        this.#handle.compareWithAsync(handle, request, control),
      ),
    );
  }

  summary() {
    return this.#ask(questions.asked("summary"));
  }

  sites(options?: unknown) {
    const asked = questions.sites(options, "sync");
    const { profile, before, beforeProfile } = asked;
    const earlier = before === undefined ? undefined : Heap.#handleOf("options.before", before);
    const { json } = callNative(() =>
      earlier === undefined
        ? native.allocationSites(this.#handle, profile, 1)
        : native.siteGrowth(earlier, beforeProfile, this.#handle, profile, 1),
    );
    return this.#sites(json, asked);
  }

  async sitesAsync(options?: api.AsyncOptions) {
    const asked = questions.sites(options, "async");
    const { profile, before, beforeProfile } = asked;
    const earlier = before === undefined ? undefined : Heap.#handleOf("options.before", before);
    const { text } = await this.#run(options, (control) =>
      native.sitesAsync(this.#handle, profile, earlier, beforeProfile, control),
    );
    return this.#sites(text, asked);
  }

  #sites(json: string, { before, limit, offset }: ReturnType<typeof questions.sites>) {
    const heaps = before === undefined ? [this] : [before as Heap, this];
    const { sites, ...answer } = JSON.parse(json) as { sites: unknown[] };
    return {
      ...answer,
      total: sites.length,
      offset,
      limit,
      sites: sites.slice(offset, offset + limit),
      partial: heaps.some(({ partial }) => partial),
      warnings: heaps.flatMap(({ warnings }) => warnings),
    };
  }

  placeTable() {
    return placeTable(callNative(() => this.#handle.placeTable()));
  }

  async placeTableAsync(options?: api.AsyncOptions) {
    readOptions(options, {}, "async");
    return placeTable(await this.#run(options, (control) => this.#handle.placeTableAsync(control)));
  }

  report(options?: unknown) {
    return reportFile(this.#text(questions.report(options, "sync")), hasStrings(options));
  }

  async reportAsync(options?: api.AsyncOptions) {
    const text = await this.#textAsync(questions.report(options, "async"), options);
    return reportFile(text, hasStrings(options));
  }

  export(format: unknown, options?: api.AsyncOptions) {
    const { request, before, signal } = exportRequest(format, options);
    const earlier = Heap.#earlier(before);
    const handle = callNative(() => this.#handle.startExport(JSON.stringify(request), earlier));
    const control = new native.WorkControl();
    const running = {
      cancel() {
        control.cancel();
        // Releases the heap even if the stream is never read again.
        handle.close();
      },
    };
    this.#running.add(running);
    return exportStream({
      handle,
      control,
      signal,
      onEnd: () => {
        this.#running.delete(running);
        running.cancel();
      },
      translate: (error) => this.#closedInstead(error, "the export ended"),
    });
  }

  prepare(): void {
    callNative(() => this.#handle.prepare());
  }

  async prepareAsync(options?: api.AsyncOptions): Promise<void> {
    readOptions(options, {}, "async");
    await this.#run(options, (control) => this.#handle.prepareAsync(control));
  }

  close(): void {
    this.#isClosed = true;
    this.#handle.close();
    for (const running of this.#running) running.cancel();
  }

  #ask(asked: questions.Asked) {
    return JSON.parse(this.#text(asked));
  }

  async #askAsync(asked: questions.Asked, options: api.AsyncOptions | undefined) {
    return JSON.parse(await this.#textAsync(asked, options));
  }

  /** The answer as JSON. */
  #text({ question, before }: questions.Asked): string {
    const earlier = Heap.#earlier(before);
    const text = JSON.stringify(question);
    return callNative(() => this.#handle.ask(text, earlier)).text;
  }

  /** As `#text`, off the event loop. */
  async #textAsync({ question, before }: questions.Asked, options: api.AsyncOptions | undefined) {
    const earlier = Heap.#earlier(before);
    const text = JSON.stringify(question);
    const answer = await this.#run(options, (control) =>
      this.#handle.askAsync(text, earlier, undefined, control),
    );
    return answer.text;
  }

  /** Runs asynchronous work. `close()` cancels it. */
  async #run<T>(
    options: api.AsyncOptions | undefined,
    start: (control: native.WorkControl) => Promise<T>,
  ): Promise<T> {
    return await controlled(options, async (control) => {
      this.#running.add(control);
      try {
        return await start(control);
      } catch (error) {
        throw this.#closedInstead(error, "the work was done");
      } finally {
        this.#running.delete(control);
      }
    });
  }

  /** The error of cancelled work; if `close` was called, an error that says so. */
  #closedInstead(error: unknown, end: string): unknown {
    if (!this.#isClosed) return error;
    const message = `the heap was closed before ${end}: call close() after the last answer`;
    return new HeapAnalyzerError("ERR_HEAP_CLOSED", message, { cause: error });
  }

  static #earlier(before: unknown): native.HeapHandle | undefined {
    return before === undefined ? undefined : Heap.#handleOf("before", before);
  }

  static {
    heapHandle = (name, value) => Heap.#handleOf(name, value);
    ask = (heap, asked) => heap.#ask(asked);
    askAsync = (heap, asked, options) => heap.#askAsync(asked, options);
  }

  static #handleOf(name: string, value: unknown): native.HeapHandle {
    if (typeof value !== "object" || value === null || !(#handle in value)) {
      throw invalidArgument(name, "a Heap", value);
    }
    return value.#handle;
  }
}

// Node 20 before 20.5 has no such symbol.
if (Symbol.dispose !== undefined) {
  const dispose = { value: Heap.prototype.close, configurable: true, writable: true };
  Object.defineProperty(Heap.prototype, Symbol.dispose, descriptor(dispose));
}

// A method for each question, such as `find`, and the same off the event loop.
for (const [name, { read, options: nth }] of Object.entries(questions.METHODS)) {
  const methods = {
    [name](this: Heap, ...given: unknown[]) {
      return ask(this, read(given, "sync"));
    },
    async [`${name}Async`](this: Heap, ...given: unknown[]) {
      return await askAsync(this, read(given, "async"), given[nth] as api.AsyncOptions);
    },
  };
  for (const [method, value] of Object.entries(methods)) {
    const property = { value, configurable: true, writable: true };
    Object.defineProperty(Heap.prototype, method, descriptor(property));
  }
}

const PublicHeap = Heap as unknown as typeof api.Heap;

export { PublicHeap as Heap };

type Input = native.FileData | Uint8Array;

/** What is opened: the inputs for the addon, and how. */
interface OpenInputs {
  dump: Input;
  wasm: Input | undefined;
  host: { snapshot: Input; numbers?: Input; handles?: Input } | undefined;
  request: native.OpenData;
}

type ReadOptions = ReturnType<typeof openOptions>;

/** Opens a heap, with that of its host if there is one. */
function opened(opening: OpenInputs): native.HeapHandle;
function opened(opening: OpenInputs, control: native.WorkControl): Promise<native.HeapHandle>;
function opened(
  opening: OpenInputs,
  control?: native.WorkControl,
): native.HeapHandle | Promise<native.HeapHandle> {
  const { dump, wasm, host, request } = opening;
  if (host === undefined) return native.openHeap(dump, wasm, request, control);
  if (wasm === undefined) throw invalidOption("options.host: needs the module of the dump");
  const { snapshot, numbers, handles } = host;
  return native.openJoined(dump, wasm, snapshot, numbers, handles, request, control);
}

function ofBytes(dump: unknown, wasm: unknown, { host, request }: ReadOptions): OpenInputs {
  const input = (name: string, value: unknown) =>
    value === undefined ? {} : { [name]: bytes(`options.${name}`, value) };
  return {
    dump: bytes("dump", dump),
    wasm: moduleBytes(wasm),
    host:
      host === undefined
        ? undefined
        : {
            snapshot: bytes("options.host", host.snapshot),
            ...input("numbers", host.numbers),
            ...input("handles", host.handles),
          },
    request,
  };
}

function ofFiles(dump: unknown, wasm: unknown, options: ReadOptions): OpenInputs {
  const { host, descriptors, request } = options;
  return {
    dump: dumpFile("dump", dump, request, descriptors?.dump),
    wasm: moduleFile(wasm, descriptors?.wasm),
    host: host === undefined ? undefined : hostFiles(dump, host, descriptors),
    request,
  };
}

/** The files of a host. What is not given is beside the snapshot and the dump, unless the files are open already. */
function hostFiles(
  dump: unknown,
  host: NonNullable<ReadOptions["host"]>,
  open: ReadOptions["descriptors"],
): OpenInputs["host"] {
  const snapshot = path("options.host", host.snapshot);
  const places = { numbers: snapshot, handles: path("dump", dump) };
  const find = { numbers: numbersBeside, handles: handlesBeside };
  const file = (place: string | Buffer, descriptor: number | undefined) =>
    descriptor === undefined ? { path: place } : { path: place, descriptor };
  const input = (name: "numbers" | "handles") => {
    const place = places[name];
    const isSearched = typeof place === "string" && open === undefined;
    const beside = isSearched ? find[name](place) : undefined;
    const found = host[name] === undefined ? beside : path(`options.${name}`, host[name]);
    return found === undefined ? {} : { [name]: file(found, open?.[name]) };
  };
  return { snapshot: file(snapshot, open?.host), ...input("numbers"), ...input("handles") };
}

export const openHeap: typeof api.openHeap = (dump, wasm, options) => {
  const opening = ofBytes(dump, wasm, openOptions(options, "sync", "bytes"));
  return heap(callNative(() => opened(opening)));
};

export const openHeapAsync: typeof api.openHeapAsync = async (dump, wasm, options) => {
  const read = openOptions(options, "async", "bytes");
  const opening = ofBytes(dump, wasm, read);
  return heap(await controlled(options, (control) => opened(opening, control), read.onClasses));
};

export const openHeapFile: typeof api.openHeapFile = (dump, wasm, options) => {
  const opening = ofFiles(dump, wasm, openOptions(options, "sync", "file"));
  return heap(callNative(() => opened(opening)));
};

export const openHeapFileAsync: typeof api.openHeapFileAsync = async (dump, wasm, options) => {
  const read = openOptions(options, "async", "file");
  const opening = ofFiles(dump, wasm, read);
  return heap(await controlled(options, (control) => opened(opening, control), read.onClasses));
};

function hasStrings(options: unknown): boolean {
  return (options as api.ReportOptions | null | undefined)?.strings !== false;
}

function heap(handle: native.HeapHandle): api.Heap {
  return new Heap(TOKEN, handle) as unknown as api.Heap;
}
