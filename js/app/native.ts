/**
 * What the addon exports, over the engine in this worker. The bundle of the worker has this file in place of
 * `js/native.ts`. There is one thread: asynchronous work is done when it is started.
 */
import type { Warning } from "../../index.js";
import { call, callForNumbers, copyFile } from "./engine.ts";
import { fileAt } from "./files.ts";

interface HeapFacts {
  accounting: string | null;
  warnings: Warning[];
  isPartial: boolean;
}

/** Ends of the page end the worker, so nothing is cancelled here. */
export class WorkControl {
  cancel(): void {}

  requestClasses(): void {}

  takeClasses(): null {
    return null;
  }

  progress() {
    return { phase: "", fraction: 0, bytes: 0 };
  }
}

export class HeapHandle {
  readonly #heap: number;
  readonly #facts: HeapFacts;
  readonly memorySize: number;

  constructor({ heap, memorySize, ...facts }: HeapFacts & { heap: number; memorySize: number }) {
    this.#heap = heap;
    this.#facts = facts;
    this.memorySize = memorySize;
  }

  get number(): number {
    return this.#heap;
  }

  accounting(): string | null {
    return this.#facts.accounting;
  }

  warnings(): Warning[] {
    return this.#facts.warnings;
  }

  isPartial(): boolean {
    return this.#facts.isPartial;
  }

  ask(question: string, before?: HeapHandle): { text: string } {
    const parsed: unknown = JSON.parse(question);
    const text = call({ call: "ask", heap: this.#heap, question: parsed, before: before?.number });
    return { text };
  }

  async askAsync(question: string, before?: HeapHandle): Promise<{ text: string }> {
    return this.ask(question, before);
  }

  async constructorsAsync({ sort = "" }: { sort?: string } = {}): Promise<ViewHandle> {
    return new ViewHandle(JSON.parse(call({ call: "view", heap: this.#heap, sort })));
  }

  async compareWithAsync(before: HeapHandle): Promise<ViewHandle> {
    const request = { call: "view", heap: this.#heap, before: before.number };
    return new ViewHandle(JSON.parse(call(request)));
  }

  async placeTableAsync(): Promise<PlaceTableHandle> {
    return new PlaceTableHandle(JSON.parse(call({ call: "placeTable", heap: this.#heap })));
  }

  close(): void {
    close(this.#heap);
  }
}

interface ViewFacts extends HeapFacts {
  view: number;
  totals: [string, number][];
  columns: string[];
  rows: { className: string; typeEvidence: string | null; numbers: number[] }[];
}

export class ViewHandle {
  readonly #facts: ViewFacts;

  constructor(facts: ViewFacts) {
    this.#facts = facts;
  }

  totals(): [string, number][] {
    return this.#facts.totals;
  }

  columns(): string[] {
    return this.#facts.columns;
  }

  rows() {
    return this.#facts.rows.map(({ typeEvidence, ...row }) =>
      typeEvidence === null ? row : { ...row, typeEvidence },
    );
  }

  parts(): null {
    return null;
  }

  warnings(): Warning[] {
    return this.#facts.warnings;
  }

  isPartial(): boolean {
    return this.#facts.isPartial;
  }

  accounting(): string | null {
    return this.#facts.accounting;
  }

  instances(row: number) {
    const numbers = callForNumbers({ call: "instances", view: this.#facts.view, row });
    const [newCount = 0] = numbers;
    const count = (numbers.length - 1) / 3;
    const column = (nth: number) => numbers.subarray(1 + nth * count, 1 + (nth + 1) * count);
    return {
      addresses: column(0),
      shallowSizes: column(1),
      retainedSizes: column(2),
      newCount,
    };
  }

  retainedSetSizes(): number[] | null {
    return JSON.parse(call({ call: "retainedSets", view: this.#facts.view }));
  }

  close(): void {
    close(this.#facts.view);
  }
}

export class PlaceTableHandle {
  readonly #table: number;
  readonly name: string;
  readonly totalLiveSize: number;

  constructor({
    table,
    name,
    totalLiveSize,
  }: { table: number; name: string; totalLiveSize: number }) {
    this.#table = table;
    this.name = name;
    this.totalLiveSize = totalLiveSize;
  }

  get number(): number {
    return this.#table;
  }

  classLines(): string {
    return call({ call: "classLines", table: this.#table });
  }
}

function close(number: number): void {
  call({ call: "close", number });
}

/** A file of the page, by the name under which the worker knows it. */
interface PageFile {
  path: string;
}

export async function openHeap(
  dump: PageFile,
  wasm: PageFile | undefined,
  { force, partial }: { force?: boolean; partial?: boolean },
): Promise<HeapHandle> {
  const copied = ({ path }: PageFile) => {
    const { name, blob } = fileAt(path);
    return { name, file: copyFile(blob) };
  };
  const module = wasm === undefined ? undefined : copied(wasm);
  const request = { call: "open", dump: copied(dump), wasm: module, force, partial };
  return new HeapHandle(JSON.parse(call(request)));
}

export async function growth(tables: PlaceTableHandle[], options: string) {
  const numbers = tables.map(({ number }) => number);
  const text = call({ call: "growth", tables: numbers, options: JSON.parse(options) });
  return { text };
}

/** What a page does not have, because there are no profiles and no hosts in it. */
function absent(): never {
  throw Object.assign(new Error("a page does not have this"), { code: "ERR_NOT_ALLOWED" });
}

export const allocationLineAsync = absent;
export const allocationSites = absent;
export const check = absent;
export const openJoined = absent;
export const siteGrowth = absent;
export const sitesAsync = absent;
