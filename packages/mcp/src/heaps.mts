/**
 * Open heaps and their keys. A key is a hash of the contents together with the paths, so a heap that was closed can be
 * opened again from its key alone.
 */
import { createHash } from "node:crypto";
import { type Heap, openHeapFileAsync, type PlaceTable } from "@warpo/heap-analyzer";
import { QuestionError } from "../../../js/served/errors.ts";
import { formatSize } from "../../../js/units.ts";
import type { Control } from "./control.mts";
import { hashOfFile } from "./hash_of_file.mts";
import {
  filesOfHost,
  type HostFiles,
  type HostOpenOptions,
  type HostPaths,
  hostFiles,
  withHost,
} from "./host_files.mts";
import { ChangeEvents, MOST_OPENINGS, Opening } from "./openings.mts";
import type { RootFile, Roots } from "./roots.mts";

/** The files of a heap, and how they are read. */
export interface HeapFiles {
  dump: RootFile;
  /** Undefined for a heap snapshot of V8. */
  wasm: RootFile | undefined;
  /** Report the part before damage. */
  partial: boolean;
  /** How the memory is found in the file of the dump, and what is joined with it. */
  container?: Container;
  host?: HostFiles;
}

/** What a file with memory does not say itself. */
export interface Container {
  /** The file is raw memory, with these values of globals by name or index. */
  globals?: Record<string, number>;
  /** Of a coredump with several instances of the module: the number of the one to read. */
  coredumpInstance?: number;
  /** The heap of the host, which is joined with that of the dump. */
  host?: HostPaths;
  /** Pointers that the host held, by name. */
  hostRoots?: Record<string, number>;
}

/** A heap that stays open while a question uses it. */
export interface OpenHeap {
  key: string;
  heap: Heap;
  source: HeapFiles;
}

interface HeapEntry extends OpenHeap {
  /** The questions that use it. */
  users: number;
  /** Whether it has all indexes. */
  isPrepared: boolean;
}

/** The memory that opening and indexing takes, per byte of the dump; and what indexes take of it. */
const PEAK_PER_DUMP_BYTE = 2.6;
const INDEXES_PER_DUMP_BYTE = 1;
/** How many hashes, and how many place tables, are kept. */
const MOST_HASHES = 1000;
const MOST_TABLES = 200;

export class Heaps {
  readonly #roots: Roots;
  readonly #memory: number;
  readonly #prepare: boolean;
  /** By key, the least recently used first. */
  readonly #entries = new Map<string, HeapEntry>();
  readonly #hashes = new Map<string, { identity: string; hash: string }>();
  readonly #tables = new Map<string, PlaceTable>();
  /** By the identity of their files. Without those whose requests have all left. */
  readonly #openings = new Map<string, Opening<HeapEntry>>();
  /** The openings whose work has not ended, and the bytes that are reserved for them. */
  #working = 0;
  #reserved = 0;
  /** How many heaps are held by requests that wait. */
  #heldWaiting = 0;
  /** Whether memory may have become free, or an opening has ended. */
  readonly #changes = new ChangeEvents();
  /** The heaps that are prepared now, one after the other, and what stops it. */
  #preparation: Promise<void> = Promise.resolve();
  #stopPreparation = new AbortController();
  #isClosed = false;

  /**
   * `memory` is the largest number of bytes of all open heaps together. Without `prepare`, an index is built by the
   * first question that needs it.
   */
  constructor(roots: Roots, memory: number, prepare = true) {
    this.#roots = roots;
    this.#memory = memory;
    this.#prepare = prepare;
  }

  /** Opens a dump with its module, or a heap snapshot, and passes the heap to `work`. */
  async open<T>(
    source: HeapFiles,
    control: Control,
    work: (heap: OpenHeap) => Promise<T>,
  ): Promise<T> {
    return await this.#using([source], [undefined], control, ([heap]) => work(heap as OpenHeap));
  }

  /** Passes the heaps of these keys to `work`. Checks the files again, and opens what is not open. */
  async use<T>(
    keys: string[],
    control: Control,
    work: (heaps: OpenHeap[]) => Promise<T>,
  ): Promise<T> {
    const sources = await Promise.all(keys.map((key) => this.#source(key)));
    return await this.#using(sources, keys, control, work);
  }

  /** Keeps the heaps of these sources open during the work. */
  async #using<T>(
    sources: HeapFiles[],
    keys: (string | undefined)[],
    control: Control,
    work: (heaps: OpenHeap[]) => Promise<T>,
  ): Promise<T> {
    const held: HeapEntry[] = [];
    try {
      while (held.length < sources.length) {
        const nth = held.length;
        const entry = await this.#held(sources[nth] as HeapFiles, keys[nth], held.length, control);
        if (entry !== undefined) {
          held.push(entry);
          continue;
        }
        // All others wait, too: one of them can go on with the memory of these.
        for (const entry of held.splice(0)) this.#release(entry);
        if (this.#users() + this.#working > 0) await this.#changes.next(control.signal);
      }
      return await work(held);
    } finally {
      for (const entry of held) this.#release(entry);
    }
  }

  /**
   * Takes a heap, which is opened if it is not open, for a request that holds others. Undefined if it has to let them go,
   * because all requests that hold heaps wait for memory. A request that holds none may wait for long while smaller
   * ones find room.
   */
  async #held(
    source: HeapFiles,
    key: string | undefined,
    others: number,
    control: Control,
  ): Promise<HeapEntry | undefined> {
    for (;;) {
      control.signal.throwIfAborted();
      const known = this.#known(source, key);
      if (known !== undefined) {
        this.#take(known);
        return known;
      }
      const opening = this.#openings.get(filesOf(source)) ?? this.#begun(source, others);
      if (opening !== undefined) {
        const { key: made } = await opening.join(control);
        if (key !== undefined) checkHash(key, hashOf(made), source);
        continue;
      }
      const doAllWait = this.#users() === others + this.#heldWaiting && this.#working === 0;
      if (doAllWait && others > 0) return undefined;
      this.#heldWaiting += others;
      try {
        await this.#changes.next(control.signal);
      } finally {
        this.#heldWaiting -= others;
      }
    }
  }

  /** Begins to open a heap, if there is room now. Fails if there never will be. */
  #begun(source: HeapFiles, others: number): Opening<HeapEntry> | undefined {
    const needed = unpackedOf(source) * PEAK_PER_DUMP_BYTE;
    if (!this.#hasRoom(source.dump, needed, others)) return undefined;
    const files = filesOf(source);
    const opening: Opening<HeapEntry> = new Opening(() => {
      if (this.#openings.get(files) === opening) this.#openings.delete(files);
    });
    this.#openings.set(files, opening);
    this.#working++;
    this.#reserved += needed;
    const ended = () => {
      this.#working--;
      this.#reserved -= needed;
      if (this.#openings.get(files) === opening) this.#openings.delete(files);
      this.#changes.notify();
    };
    opening.begin(this.#opened(source, opening.control, ended));
    return opening;
  }

  /** Builds the indexes of all open heaps, while nothing else is opened. It returns at once. */
  prepareLater(): void {
    if (!this.#prepare) return;
    // It is called again after they have ended.
    if (this.#working > 0) return;
    if (this.#stopPreparation.signal.aborted) this.#stopPreparation = new AbortController();
    const { signal } = this.#stopPreparation;
    this.#preparation = this.#preparation.then(async () => {
      for (const entry of [...this.#entries.values()].reverse()) {
        if (signal.aborted) return;
        if (entry.isPrepared) continue;
        try {
          await entry.heap.prepareAsync({ signal });
          entry.isPrepared = true;
        } catch {
          // It was closed, or there is no memory. A question that needs an index builds it, or says why not.
        }
      }
    });
  }

  /** Fails if the files of a key have other contents now. Opens no heap. */
  async verify(key: string, signal: AbortSignal): Promise<void> {
    const source = await this.#source(key);
    if (this.#known(source, key) === undefined) {
      checkHash(key, await this.#hashOfBoth(source, signal), source);
    }
  }

  /** The place table of a heap. It stays when the heap is closed. */
  async placeTable(key: string, control: Control): Promise<PlaceTable> {
    const kept = this.#tables.get(key);
    if (kept !== undefined) {
      await this.verify(key, control.signal);
      return kept;
    }
    const table = await this.use([key], control, ([open]) =>
      (open as OpenHeap).heap.placeTableAsync({ signal: control.signal }),
    );
    remember(this.#tables, key, table, MOST_TABLES);
    return table;
  }

  /** The files of a key, which must still exist below the roots. */
  async #source(key: string): Promise<HeapFiles> {
    const [, dump = "", wasm = "", flag, container] = key.split(":");
    const source = {
      dump: await this.#roots.file("dump", decodeURIComponent(dump)),
      wasm: wasm === "" ? undefined : await this.#roots.file("module", decodeURIComponent(wasm)),
      partial: flag === "partial",
    };
    if (container === undefined) return source;
    const reading: Container = JSON.parse(decodeURIComponent(container));
    if (reading.host === undefined) return { ...source, container: reading };
    return {
      ...source,
      container: reading,
      host: await hostFiles(this.#roots, source.dump, reading.host),
    };
  }

  /** Lets all heaps go. Running questions are aborted by their own signals. */
  close(): void {
    this.#isClosed = true;
    for (const entry of this.#entries.values()) entry.heap.close();
    this.#entries.clear();
  }

  /** Opens a heap, and calls `ended` before anybody knows of it. */
  async #opened(
    source: HeapFiles,
    control: Required<Control>,
    ended: () => void,
  ): Promise<HeapEntry> {
    let opened: { heap: Heap; hash: string };
    try {
      // What is asked for comes first.
      this.#stopPreparation.abort();
      await this.#preparation;
      opened = await this.#read(source, control);
    } catch (error) {
      ended();
      throw error;
    }
    const key = keyOf(opened.hash, source);
    const replaced = this.#entries.get(key);
    const entry = { key, heap: opened.heap, source, users: 1, isPrepared: false };
    this.#entries.set(key, entry);
    if (replaced?.users === 0) replaced.heap.close();
    ended();
    // It stays until its requests, which go on in microtasks, have taken it.
    setImmediate(() => this.#release(entry));
    return entry;
  }

  /** Reads a dump and its module, and hashes both meanwhile. */
  async #read(
    source: HeapFiles,
    control: Required<Control>,
  ): Promise<{ heap: Heap; hash: string }> {
    const { dump, wasm, partial, container } = source;
    const { host: paths, ...reading } = container ?? {};
    // If one fails, the other stops too.
    const stop = new AbortController();
    const signal = AbortSignal.any([control.signal, stop.signal]);
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const read = (host: HostOpenOptions, descriptors: { dump: number; wasm?: number }) =>
      openHeapFileAsync(dump.real, wasm?.real, {
        partial,
        ...reading,
        ...host,
        raw: reading.globals !== undefined,
        memoryLimit: unpackedOf(source),
        signal,
        descriptors,
        onProgress: ({ fraction, phase }) => {
          begin();
          control.progress(fraction, `${dump.shown}: ${phase}`);
        },
        onClasses: (classes) => control.classes(dump.shown, classes),
      });
    const opening = withHost(this.#roots, source.host, paths?.slots ?? [], (host, ofHost) =>
      this.#roots.use(dump, async (ofDump) => {
        if (wasm === undefined) return await read(host, { dump: ofDump });
        const ofBoth = (ofWasm: number) => read(host, { dump: ofDump, wasm: ofWasm, ...ofHost });
        return await this.#roots.use(wasm, ofBoth);
      }),
    );
    opening.then(begin, begin);
    // After the analyzer has read the files: if that hangs, it takes none of Node's few threads for files.
    const hashing = begun.then(() => this.#hashOfBoth(source, signal));
    for (const work of [opening, hashing]) work.catch(() => stop.abort());
    const [heap, hash] = await Promise.allSettled([opening, hashing]);
    try {
      control.signal.throwIfAborted();
      const failed = [hash, heap].find(
        (one) =>
          one.status === "rejected" &&
          one.reason?.code !== "ABORT_ERR" &&
          one.reason?.name !== "AbortError",
      );
      if (failed?.status === "rejected") throw failed.reason;
      if (heap.status === "rejected") throw heap.reason;
      if (hash.status === "rejected") throw hash.reason;
      if (this.#isClosed) throw new QuestionError("ERR_CLOSED", "the server has ended");
      return { heap: heap.value, hash: hash.value };
    } catch (error) {
      if (heap.status === "fulfilled") heap.value.close();
      throw error;
    }
  }

  /**
   * Whether a dump can be opened now. Heaps that no question uses are closed for it, the least recently used first. `others` is the
   * number of heaps that the request holds: they are not released before it goes on.
   */
  #hasRoom({ shown }: RootFile, needed: number, others: number): boolean {
    const refused = (detail: string) =>
      new QuestionError(
        "ERR_MEMORY_LIMIT",
        `${shown} takes about ${formatSize(needed)}, and ${detail}: start the server with a larger --memory`,
      );
    if (needed > this.#memory) throw refused(`${formatSize(this.#memory)} are allowed`);
    if (this.#working >= MOST_OPENINGS) return false;
    const inUse = [...this.#entries.values()].filter(({ users }) => users > 0);
    const busy = this.#reserved + bytesOf(inUse);
    if (busy + needed > this.#memory) {
      const isAlone = this.#working === 0 && this.#users() === others;
      if (isAlone) throw refused(`other heaps of this question take ${formatSize(busy)}`);
      return false;
    }
    for (const entry of [...this.#entries.values()]) {
      if (this.#reserved + bytesOf([...this.#entries.values()]) + needed <= this.#memory) break;
      if (entry.users > 0) continue;
      this.#entries.delete(entry.key);
      entry.heap.close();
    }
    return true;
  }

  #users(): number {
    return [...this.#entries.values()].reduce((sum, { users }) => sum + users, 0);
  }

  /** The open heap of a source; if there is a key, with its contents. */
  #known(source: HeapFiles, key: string | undefined): HeapEntry | undefined {
    const isKnown = (entry: HeapEntry) =>
      filesOf(entry.source) === filesOf(source) &&
      (key === undefined || hashOf(entry.key) === hashOf(key));
    return [...this.#entries.values()].find(isKnown);
  }

  #take(entry: HeapEntry): void {
    entry.users++;
    // Used most recently.
    this.#entries.delete(entry.key);
    this.#entries.set(entry.key, entry);
  }

  #release(entry: HeapEntry): void {
    entry.users--;
    // It was opened again meanwhile, because its files were touched.
    if (entry.users === 0 && this.#entries.get(entry.key) !== entry) entry.heap.close();
    this.#changes.notify();
  }

  /** The SHA-256 of a dump, and of its module if it has one. */
  async hashes({ dump, wasm }: HeapFiles, signal: AbortSignal) {
    return {
      dump: await this.#hash(dump, signal),
      module: wasm === undefined ? undefined : await this.#hash(wasm, signal),
    };
  }

  /** What a key has of the contents of dump and module. */
  async #hashOfBoth({ dump, wasm, host }: HeapFiles, signal: AbortSignal): Promise<string> {
    const combined = createHash("sha256").update(await this.#hash(dump, signal));
    if (wasm !== undefined) combined.update(await this.#hash(wasm, signal));
    for (const file of filesOfHost(host)) combined.update(await this.#hash(file, signal));
    return combined.digest("hex").slice(0, 32);
  }

  /** The SHA-256 of a file's contents. */
  async #hash(file: RootFile, signal: AbortSignal): Promise<string> {
    const { real, identity } = file;
    const known = this.#hashes.get(real);
    if (known?.identity === identity) return known.hash;
    const hash = await this.#roots.use(file, (descriptor) => hashOfFile(descriptor, signal));
    remember(this.#hashes, real, { identity, hash }, MOST_HASHES);
    return hash;
  }
}

/** Whether a key is of a heap without a module. */
export function isWithoutModule(key: string): boolean {
  return key.split(":")[2] === "";
}

/** The bytes of heaps, with the indexes that they do not have yet. */
function bytesOf(entries: HeapEntry[]): number {
  return entries.reduce((sum, { heap, source, isPrepared }) => {
    const indexes = isPrepared ? 0 : unpackedOf(source) * INDEXES_PER_DUMP_BYTE;
    return sum + heap.memorySize + indexes;
  }, 0);
}

/** The bytes of the files that a heap is made from, unpacked, as the files say. */
function unpackedOf({ dump, host }: HeapFiles): number {
  return filesOfHost(host).reduce((sum, { unpacked }) => sum + unpacked, dump.unpacked);
}

/** A text that is equal for the same files with the same contents. */
function filesOf({ dump, wasm, partial, container, host }: HeapFiles): string {
  const ofHost = filesOfHost(host).flatMap(({ real, identity }) => [real, identity]);
  const files = [dump.real, dump.identity, wasm?.real, wasm?.identity, ...ofHost];
  return JSON.stringify([...files, partial, container]);
}

/** The key of a heap. */
function keyOf(hash: string, { dump, wasm, partial, container }: HeapFiles): string {
  const paths = [dump, wasm].map((file) => (file === undefined ? "" : encoded(file.shown)));
  const flag = partial ? "partial" : "";
  const reading = container === undefined ? [] : [flag, encoded(JSON.stringify(container))];
  return [hash, ...paths, ...(partial && reading.length === 0 ? [flag] : reading)].join(":");
}

/** Adds to a map that keeps the newest entries. */
export function remember<K, V>(map: Map<K, V>, key: K, value: V, most: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= most) break;
    map.delete(oldest);
  }
}

function checkHash(key: string, hash: string, { dump, wasm }: HeapFiles): void {
  if (hashOf(key) === hash) return;
  throw new QuestionError(
    "ERR_DUMP_CHANGED",
    `the contents of ${[dump, wasm].flatMap((file) => file?.shown ?? []).join(" or of ")} are not those of the handle: ` +
      "open the dump again with open_heaps",
  );
}

function hashOf(key: string): string {
  return key.slice(0, key.indexOf(":"));
}

/** A path as printable ASCII, without the characters that separate the parts of a key. */
function encoded(path: string): string {
  return path.replace(/[^!-~]+|[%:"]/gu, encodeURIComponent);
}
