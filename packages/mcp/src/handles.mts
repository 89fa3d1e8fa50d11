/**
 * The handles of one client: short names of the heaps that it opened. They are made from the contents and the paths, so
 * the same files have the same handle in every process, but only the client that opened them can use it.
 */
import { createHash } from "node:crypto";
import { QuestionError } from "../../../js/served/errors.ts";
import type { Control } from "./control.mts";
import { type HeapFiles, type Heaps, isWithoutModule, type OpenHeap } from "./heaps.mts";
import { shortened } from "./roots.mts";

/** Hexadecimal digits of a handle. One more if another heap of the client has the same. */
const DIGITS = 8;
/** Handles of a client. Beyond that, those that were opened least recently are forgotten. */
const MOST_HANDLES = 10_000;

export class Handles {
  readonly #heaps: Heaps;
  /** The keys of heaps by handle, the least recently opened first. */
  readonly #keys = new Map<string, string>();

  constructor(heaps: Heaps) {
    this.#heaps = heaps;
  }

  /** Opens a dump with its module, or a heap snapshot, and passes the heap with its handle to `work`. */
  async open<T>(
    source: HeapFiles,
    control: Control,
    work: (heap: OpenHeap, handle: string) => Promise<T>,
  ): Promise<T> {
    return await this.#heaps.open(source, control, (heap) => work(heap, this.#handleOf(heap.key)));
  }

  /** Passes the heaps of handles to `work`. Checks the files again, and opens what is not open. */
  async use<T>(
    handles: string[],
    control: Control,
    work: (heaps: OpenHeap[]) => Promise<T>,
  ): Promise<T> {
    return await this.#heaps.use(
      handles.map((handle) => this.keyOf(handle)),
      control,
      work,
    );
  }

  /** What names the heap of a handle for all clients. Fails for a handle of another client. */
  keyOf(handle: string): string {
    const key = this.#keys.get(handle);
    if (key !== undefined) return key;
    throw new QuestionError(
      "ERR_UNKNOWN_HANDLE",
      `${shortened(handle)} is not a handle of a heap that was opened here: open_heaps returns handles`,
    );
  }

  hasNoModule(handle: string): boolean {
    return isWithoutModule(this.keyOf(handle));
  }

  /** Fails if the files of a handle have other contents now. Opens no heap. */
  async verify(handle: string, signal: AbortSignal): Promise<void> {
    await this.#heaps.verify(this.keyOf(handle), signal);
  }

  placeTable(handle: string, control: Control) {
    return this.#heaps.placeTable(this.keyOf(handle), control);
  }

  hashes(source: HeapFiles, signal: AbortSignal) {
    return this.#heaps.hashes(source, signal);
  }

  prepareLater(): void {
    this.#heaps.prepareLater();
  }

  #handleOf(key: string): string {
    const hash = createHash("sha256").update(key).digest("hex");
    let handle: string;
    let digits = DIGITS;
    do handle = `h${hash.slice(0, digits++)}`;
    while (this.#keys.has(handle) && this.#keys.get(handle) !== key);
    this.#keys.delete(handle);
    this.#keys.set(handle, key);
    for (const oldest of this.#keys.keys()) {
      if (this.#keys.size <= MOST_HANDLES) break;
      this.#keys.delete(oldest);
    }
    return handle;
  }
}
