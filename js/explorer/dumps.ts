/** The dumps of an explorer: they are opened when they are asked about, and few of them at a time. */
import type { Heap, PlaceTable } from "../../index.js";
import { withAdvice } from "../advice.js";
import { openHeapFileAsync } from "../heap.js";
import { placeTableHandle } from "../place_table.js";
import { QuestionError } from "../served/errors.js";
import { type ClassLine, classLines, withSourceLines } from "../source_lines.js";
import type { DumpStatus, Status } from "./methods.js";

/** Heaps that stay open: the newest, the one before it, and one more. */
const MOST_OPEN = 3;
/** Failures that are kept for the page. */
const MOST_FAILURES = 20;

/** A file with a dump or a heap snapshot, and its module. */
export interface DumpFile {
  path: string;
  name: string;
  /** Undefined for a heap snapshot of V8. */
  wasm: string | undefined;
}

export interface OpenSettings {
  force: boolean;
  partial: boolean;
  raw?: boolean;
  globals?: Record<string, number>;
  coredumpInstance?: number;
  hostRoots?: Record<string, number>;
  /** The heap snapshot of the host, which is joined with the dump, and its other files, if they are not beside these. */
  host?: string;
  numbers?: string;
  handles?: string;
  slots?: string[];
}

interface Dump extends DumpFile {
  handle: string;
  heap: Promise<Heap> | undefined;
  /** The questions that use it. */
  users: number;
  table: Promise<PlaceTable> | undefined;
  totalLiveSize: number | null;
}

export class Dumps {
  readonly #settings: OpenSettings;
  readonly #dumps: Dump[] = [];
  /** The dumps whose heaps are open, the least recently used first. */
  readonly #open: Dump[] = [];
  readonly #failures: Status["failures"] = [];
  /** How much of the dump is read that is being opened. */
  #fraction = 0;
  #before: string | null = null;
  /** The dump of whose moment there is a profile. */
  profiled: string | null = null;
  /** Whether the page can have dumps taken. */
  canTake = false;
  /** Called before a heap is closed, so that what depends on it can be released. */
  onClose: (heap: Heap) => void = () => {};

  constructor(settings: OpenSettings) {
    this.#settings = settings;
  }

  /** Adds a dump that is later than the others. With `isBefore`, the others are compared with it. */
  add(file: DumpFile, isBefore = false): string {
    const handle = String(this.#dumps.length + 1);
    this.#dumps.push({
      ...file,
      handle,
      heap: undefined,
      users: 0,
      table: undefined,
      totalLiveSize: null,
    });
    if (isBefore) this.#before = handle;
    return handle;
  }

  /** Reads the place table of a dump that was added, which says how much lives. A dump that cannot be read is left out. */
  async read(handle: string): Promise<void> {
    const dump = this.#known(handle);
    try {
      await this.#tableOf(dump);
    } catch (error) {
      this.fail(dump.name, error);
      this.#dumps.splice(this.#dumps.indexOf(dump), 1);
    }
  }

  fail(name: string, error: unknown): void {
    if (this.#failures.length >= MOST_FAILURES) this.#failures.shift();
    const { code, message } = error as { code?: unknown; message: string };
    this.#failures.push({ name, message: withAdvice("cli", code, message) });
  }

  status(): Status {
    const read = this.#dumps.filter(({ totalLiveSize }) => totalLiveSize !== null);
    const unread = this.#dumps.find(({ totalLiveSize }) => totalLiveSize === null);
    const newest = read.at(-1)?.handle ?? null;
    const first = read.length > 1 ? (read[0]?.handle ?? null) : null;
    const before = this.#before !== newest ? (this.#before ?? first) : null;
    const shown = ({ handle, name, totalLiveSize }: Dump): DumpStatus => ({
      heap: handle,
      name,
      totalLiveSize,
    });
    return {
      dumps: read.map(shown),
      heap: newest,
      before,
      reading: unread === undefined ? null : { name: unread.name, fraction: this.#fraction },
      profiled: this.profiled,
      canTake: this.canTake,
      failures: [...this.#failures],
    };
  }

  /** Passes the heap of a dump to some work, and keeps it open until the work has ended. */
  async use<T>(handle: string, work: (heap: Heap) => Promise<T>): Promise<T> {
    const dump = this.#known(handle);
    const at = this.#open.indexOf(dump);
    if (at >= 0) this.#open.splice(at, 1);
    this.#open.push(dump);
    dump.heap ??= this.#opened(dump);
    dump.users++;
    try {
      return await work(await dump.heap);
    } finally {
      dump.users--;
      this.#closeOld();
    }
  }

  /** The place tables of all dumps that were read. */
  async tables(): Promise<PlaceTable[]> {
    const read = this.#dumps.filter(({ totalLiveSize }) => totalLiveSize !== null);
    return await Promise.all(read.map((dump) => this.#tableOf(dump)));
  }

  /** Where the constructors of classes are, and whether the names of classes begin with their modules. */
  async lines(handle: string): Promise<{ lines: ClassLine[]; hasModules: boolean }> {
    const dump = this.#known(handle);
    const table = placeTableHandle("table", await this.#tableOf(dump));
    const lines = classLines(withSourceLines(table, dump.wasm));
    return { lines, hasModules: dump.wasm !== undefined };
  }

  async close(): Promise<void> {
    for (const dump of this.#open.splice(0)) this.#close(dump);
  }

  #known(handle: string): Dump {
    const dump = this.#dumps.find((dump) => dump.handle === handle);
    if (dump === undefined) {
      throw new QuestionError("ERR_UNKNOWN_HANDLE", "there is no such dump: reload the page");
    }
    return dump;
  }

  async #tableOf(dump: Dump): Promise<PlaceTable> {
    dump.table ??= this.use(dump.handle, (heap) => heap.placeTableAsync());
    try {
      const table = await dump.table;
      dump.totalLiveSize = table.totalLiveSize;
      return table;
    } catch (error) {
      dump.table = undefined;
      throw error;
    }
  }

  async #opened(dump: Dump): Promise<Heap> {
    this.#fraction = 0;
    const onProgress = ({ fraction }: { fraction: number }) => {
      this.#fraction = fraction;
    };
    try {
      return await openHeapFileAsync(dump.path, dump.wasm, { ...this.#settings, onProgress });
    } catch (error) {
      // The next question tries again.
      dump.heap = undefined;
      throw error;
    }
  }

  #closeOld(): void {
    while (this.#open.length > MOST_OPEN) {
      const idle = this.#open.findIndex(({ users }) => users === 0);
      if (idle < 0) return;
      for (const dump of this.#open.splice(idle, 1)) this.#close(dump);
    }
  }

  #close(dump: Dump): void {
    const { heap } = dump;
    dump.heap = undefined;
    heap?.then(
      (open) => {
        this.onClose(open);
        open.close();
      },
      () => {},
    );
  }
}
