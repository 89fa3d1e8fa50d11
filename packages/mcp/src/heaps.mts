/**
 * Open heaps and their handles. A handle is a hash of the contents together with the paths, so a heap that
 * was let go, or that an earlier process had opened, can be opened again from its handle alone.
 */
import { createHash } from "node:crypto";
import {
  type ClassCount,
  type Heap,
  openHeapFileAsync,
  type PlaceTable,
} from "@warpo/heap-analyzer";
import { QuestionError } from "../../../js/served/errors.ts";
import { formatSize } from "../../../js/units.ts";
import { type RootFile, type Roots, readFrom, shortened } from "./roots.mts";

/** How work is watched and stopped. */
export interface Control {
  signal: AbortSignal;
  /** Reports the part of the work that is done, from 0 to 1. */
  progress(fraction: number, phase: string): void;
  /** Takes the live objects by class of a dump that is being opened, before retained sizes are known. */
  classes?(dump: string, classes: ClassCount[]): void;
}

/** The files of a heap, and how damage is treated. */
export interface Source {
  dump: RootFile;
  /** Undefined for a heap snapshot of V8. */
  wasm: RootFile | undefined;
  /** Report the part before damage. */
  partial: boolean;
}

/** A heap that stays open while a question uses it. */
export interface OpenHeap {
  handle: string;
  heap: Heap;
  source: Source;
}

interface Entry extends OpenHeap {
  /** The questions that use it. */
  users: number;
  /** Whether it has all indexes. */
  isPrepared: boolean;
}

/** The memory that opening and indexing takes, per byte of the dump; and what indexes take of it. */
const PEAK_PER_DUMP_BYTE = 2.6;
const INDEXES_PER_DUMP_BYTE = 1;
const PIECE = 1 << 20;
/** How many hashes, and how many place tables, are kept. */
const MOST_HASHES = 1000;
const MOST_TABLES = 200;

export class Heaps {
  readonly #roots: Roots;
  readonly #memory: number;
  readonly #prepare: boolean;
  /** By handle, the least recently used first. */
  readonly #entries = new Map<string, Entry>();
  readonly #hashes = new Map<string, { identity: string; hash: string }>();
  readonly #tables = new Map<string, PlaceTable>();
  /** Requests take their heaps one after the other, so that none waits for another that waits for it. */
  #turn: Promise<unknown> = Promise.resolve();
  #onRelease: (() => void)[] = [];
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
    source: Source,
    control: Control,
    work: (heap: OpenHeap) => Promise<T>,
  ): Promise<T> {
    return await this.#using([source], [undefined], control, ([heap]) => work(heap as OpenHeap));
  }

  /** Passes the heaps of handles to `work`. Checks the files again, and opens what is not open. */
  async use<T>(
    handles: string[],
    control: Control,
    work: (heaps: OpenHeap[]) => Promise<T>,
  ): Promise<T> {
    const sources = await Promise.all(handles.map((handle) => this.source(handle)));
    return await this.#using(sources, handles, control, work);
  }

  /** Keeps the heaps of these sources open during the work. */
  async #using<T>(
    sources: Source[],
    handles: (string | undefined)[],
    control: Control,
    work: (heaps: OpenHeap[]) => Promise<T>,
  ): Promise<T> {
    const held: Entry[] = [];
    const hold = (entry: Entry) => {
      this.#take(entry);
      held.push(entry);
    };
    const known = (nth: number) => this.#known(sources[nth] as Source, handles[nth]);
    try {
      const open = sources.map((_, nth) => known(nth));
      if (open.every((entry) => entry !== undefined)) {
        open.forEach(hold);
      } else {
        await this.#inTurn(async () => {
          // What is asked for comes first.
          this.#stopPreparation.abort();
          await this.#preparation;
          for (const [nth, source] of sources.entries()) {
            control.signal.throwIfAborted();
            hold(known(nth) ?? (await this.#opened(source, handles[nth], held, control)));
          }
        });
      }
      return await work(held);
    } finally {
      for (const entry of held) this.#release(entry);
    }
  }

  /** Builds the indexes of all open heaps, while nothing else is opened. It returns at once. */
  prepareLater(): void {
    if (!this.#prepare) return;
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
          // It was let go, or there is no memory. A question that needs an index builds it, or says why not.
        }
      }
    });
  }

  /** Fails if the files of a handle have other contents now. Opens no heap. */
  async verify(handle: string, signal: AbortSignal): Promise<void> {
    const source = await this.source(handle);
    if (this.#known(source, handle) === undefined) {
      checkHash(handle, await this.#hashOfBoth(source, signal), source);
    }
  }

  /** The place table of a heap. It stays when the heap is let go. */
  async placeTable(handle: string, control: Control): Promise<PlaceTable> {
    const kept = this.#tables.get(handle);
    if (kept !== undefined) {
      await this.verify(handle, control.signal);
      return kept;
    }
    const table = await this.use([handle], control, ([open]) =>
      (open as OpenHeap).heap.placeTableAsync({ signal: control.signal }),
    );
    remember(this.#tables, handle, table, MOST_TABLES);
    return table;
  }

  /** The files of a handle, which must still exist below the roots. */
  async source(handle: string): Promise<Source> {
    const [hash, dump, wasm, flag, ...others] = handle.split(":");
    const isHandle = /^[0-9a-f]{32}$/.test(hash ?? "") && others.length === 0;
    if (
      !isHandle ||
      dump === undefined ||
      wasm === undefined ||
      (flag ?? "partial") !== "partial"
    ) {
      throw new QuestionError(
        "ERR_UNKNOWN_HANDLE",
        `${shortened(handle)} is not a handle of a heap: open_heaps returns handles`,
      );
    }
    return {
      dump: await this.#roots.file("dump", decoded(dump)),
      wasm: wasm === "" ? undefined : await this.#roots.file("module", decoded(wasm)),
      partial: flag === "partial",
    };
  }

  /** Lets all heaps go. Running questions are aborted by their own signals. */
  close(): void {
    this.#isClosed = true;
    for (const entry of this.#entries.values()) entry.heap.close();
    this.#entries.clear();
  }

  /** Opens a heap. If a handle is given, the contents must be those of the handle. */
  async #opened(
    source: Source,
    handle: string | undefined,
    held: Entry[],
    control: Control,
  ): Promise<Entry> {
    const { dump, wasm, partial } = source;
    await this.#makeRoom(dump, held, control.signal);
    // If one fails, the other stops too.
    const stop = new AbortController();
    const signal = AbortSignal.any([control.signal, stop.signal]);
    const read = (descriptors: { dump: number; wasm?: number }) =>
      openHeapFileAsync(dump.real, wasm?.real, {
        partial,
        signal,
        descriptors,
        onProgress: ({ fraction, phase }) => control.progress(fraction, `${dump.shown}: ${phase}`),
        onClasses: control.classes && ((classes) => control.classes?.(dump.shown, classes)),
      });
    const opening = this.#roots.use(dump, async (ofDump) => {
      if (wasm === undefined) return await read({ dump: ofDump });
      return await this.#roots.use(wasm, (ofWasm) => read({ dump: ofDump, wasm: ofWasm }));
    });
    const hashing = this.#hashOfBoth(source, signal);
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
      const paths = [dump, wasm].map((file) => (file === undefined ? "" : encoded(file.shown)));
      const made = [hash.value, ...paths, ...(partial ? ["partial"] : [])].join(":");
      if (handle !== undefined) checkHash(handle, hash.value, source);
      if (this.#isClosed) throw new QuestionError("ERR_CLOSED", "the server has ended");
      const replaced = this.#entries.get(made);
      const entry = { handle: made, heap: heap.value, source, users: 0, isPrepared: false };
      this.#entries.set(made, entry);
      if (replaced?.users === 0) replaced.heap.close();
      return entry;
    } catch (error) {
      if (heap.status === "fulfilled") heap.value.close();
      throw error;
    }
  }

  /** Lets the least recently used heaps go until a dump fits, and waits for those in use. */
  async #makeRoom({ shown, size }: RootFile, held: Entry[], signal: AbortSignal): Promise<void> {
    const needed = size * PEAK_PER_DUMP_BYTE;
    const refused = (detail: string) =>
      new QuestionError(
        "ERR_MEMORY_LIMIT",
        `${shown} takes about ${formatSize(needed)}, and ${detail}: start the server with a larger --memory`,
      );
    if (needed > this.#memory) throw refused(`${formatSize(this.#memory)} are allowed`);
    while (this.#entries.size > 0) {
      const used = this.#used();
      if (used + needed <= this.#memory) return;
      const idle = [...this.#entries.values()].find(({ users }) => users === 0);
      if (idle !== undefined) {
        this.#entries.delete(idle.handle);
        idle.heap.close();
        continue;
      }
      // Heaps of this question are not released before it goes on.
      if (this.#users() === held.length) {
        throw refused(`other heaps of this question take ${formatSize(used)}`);
      }
      await new Promise<void>((resolve) => {
        this.#onRelease.push(resolve);
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
      signal.throwIfAborted();
    }
  }

  /** The bytes of the open heaps, with the indexes that they do not have yet. */
  #used(): number {
    return [...this.#entries.values()].reduce((sum, { heap, source, isPrepared }) => {
      const indexes = isPrepared ? 0 : source.dump.size * INDEXES_PER_DUMP_BYTE;
      return sum + heap.memorySize + indexes;
    }, 0);
  }

  #users(): number {
    return [...this.#entries.values()].reduce((sum, { users }) => sum + users, 0);
  }

  /** The open heap of a source; if there is a handle, with its contents. */
  #known(source: Source, handle: string | undefined): Entry | undefined {
    const isKnown = (entry: Entry) =>
      isSameSource(entry.source, source) &&
      (handle === undefined || hashOf(entry.handle) === hashOf(handle));
    return [...this.#entries.values()].find(isKnown);
  }

  #take(entry: Entry): void {
    entry.users++;
    // Used most recently.
    this.#entries.delete(entry.handle);
    this.#entries.set(entry.handle, entry);
  }

  #release(entry: Entry): void {
    entry.users--;
    // It was opened again meanwhile, because its files were touched.
    if (entry.users === 0 && this.#entries.get(entry.handle) !== entry) entry.heap.close();
    for (const resolve of this.#onRelease.splice(0)) resolve();
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => {});
    return await turn;
  }

  /** What a handle has of the contents of dump and module. */
  async #hashOfBoth({ dump, wasm }: Source, signal: AbortSignal): Promise<string> {
    const combined = createHash("sha256").update(await this.#hash(dump, signal));
    if (wasm !== undefined) combined.update(await this.#hash(wasm, signal));
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

/** The SHA-256 of an open file. The next piece is read while one is hashed. */
async function hashOfFile(descriptor: number, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  const buffers = [Buffer.allocUnsafe(PIECE), Buffer.allocUnsafe(PIECE)] as const;
  let position = 0;
  const piece = (nth: number) =>
    readFrom(descriptor, buffers[nth % 2 === 0 ? 0 : 1], 0, PIECE, position);
  let next = piece(0);
  try {
    for (let nth = 1; ; nth++) {
      signal.throwIfAborted();
      const { buffer, bytesRead } = await next;
      if (bytesRead === 0) return hash.digest("hex");
      position += bytesRead;
      next = piece(nth);
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    // The descriptor is closed next.
    await next.catch(() => {});
  }
}

/** Whether a handle is of a heap without a module. */
export function hasNoModule(handle: string): boolean {
  return handle.split(":")[2] === "";
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

function checkHash(handle: string, hash: string, { dump, wasm }: Source): void {
  if (hashOf(handle) === hash) return;
  throw new QuestionError(
    "ERR_DUMP_CHANGED",
    `the contents of ${[dump, wasm].flatMap((file) => file?.shown ?? []).join(" or of ")} are not those of the handle: ` +
      "open the dump again with open_heaps",
  );
}

function hashOf(handle: string): string {
  return handle.slice(0, handle.indexOf(":"));
}

function isSameSource(one: Source, other: Source): boolean {
  const isSame = (file: RootFile | undefined, wanted: RootFile | undefined) =>
    file?.real === wanted?.real && file?.identity === wanted?.identity;
  return (
    isSame(one.dump, other.dump) && isSame(one.wasm, other.wasm) && one.partial === other.partial
  );
}

/** A path as printable ASCII, without the characters that separate the parts of a handle. */
function encoded(path: string): string {
  return path.replace(/[^!-~]+|[%:"]/gu, encodeURIComponent);
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return "";
  }
}
