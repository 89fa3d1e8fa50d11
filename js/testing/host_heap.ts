/**
 * The JavaScript heap of this thread, as place tables. Nothing of a round stays in that heap: snapshots and tables
 * are files of a private folder, because an array of tables would itself grow from round to round.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers";
import { promisify } from "node:util";
import { writeHeapSnapshot } from "node:v8";
import type { PlaceTable } from "../../index.js";
import { HeapAnalyzerError } from "../errors.js";
import { openHeapFileAsync } from "../heap.js";
import * as native from "../native.js";
import { reason } from "../whole_file.js";

/** Taken here, because tests replace the timers of their file. */
const nextTurn = promisify(setImmediate);

/** Objects whose finalizers refer to others take a collection for each step. */
const COLLECTIONS = 2;

/** What is judged: a program in WebAssembly, or the JavaScript heap of this thread. */
export type HeapName = "program" | "host";

/** A table as the addon and as the public API have it. */
type AnyPlaceTable = native.PlaceTableHandle | PlaceTable;

/** The place tables of a leak test. */
export interface RoundTables {
  /** Keeps the table of a round. */
  keep(heap: HeapName, table: native.PlaceTableHandle): void;
  /** All tables of a heap that were kept, in the order of their rounds. */
  tables(heap: HeapName): native.PlaceTableHandle[];
}

/** A private folder with the place tables of a leak test, which is deleted when the test is done. */
export class RoundFolder implements RoundTables {
  readonly #path = mkdtempSync(join(tmpdir(), "warpo-heap-analyzer-leak-test-"));
  readonly #counts = { program: 0, host: 0 };
  readonly #remove = () => rmSync(this.#path, { recursive: true, force: true });

  constructor() {
    // A runner that gives up on a test may end the process.
    process.once("exit", this.#remove);
  }

  /** The path of a file in it. */
  file(name: string): string {
    return join(this.#path, name);
  }

  /** Keeps a table. */
  keep(heap: HeapName, table: AnyPlaceTable): void {
    const name = `${heap}-${this.#counts[heap]++}.table`;
    writeFileSync(this.file(name), table.toBytes(), { mode: 0o600 });
  }

  tables(heap: HeapName): native.PlaceTableHandle[] {
    const tables = [];
    for (let nth = 0; nth < this.#counts[heap]; nth++) {
      const bytes = readFileSync(this.file(`${heap}-${nth}.table`));
      tables.push(native.PlaceTableHandle.fromBytes(bytes));
    }
    return tables;
  }

  /** Deletes the folder with all that is in it. */
  remove(): void {
    process.removeListener("exit", this.#remove);
    this.#remove();
  }
}

/** Writes a heap snapshot of this thread after its garbage was collected, keeps its place table, and deletes it. */
export async function keepHostTable(folder: RoundFolder): Promise<void> {
  const file = folder.file("host.heapsnapshot");
  await collectGarbage();
  try {
    writeHeapSnapshot(file);
  } catch (error) {
    const message = `cannot write a heap snapshot of this process to ${file}: ${reason(error)}`;
    throw new HeapAnalyzerError("ERR_IO", message, { cause: error });
  }
  const heap = await openHeapFileAsync(file);
  try {
    folder.keep("host", await heap.placeTableAsync());
  } finally {
    heap.close();
    rmSync(file);
  }
}

/**
 * Collects all garbage of this thread, without `--expose-gc`. What weak references led to in this turn of the event
 * loop, and what finalizers still hold, is garbage only in a later turn.
 */
export async function collectGarbage(): Promise<void> {
  for (let nth = 0; nth < COLLECTIONS; nth++) {
    await nextTurn();
    // While a session is connected, the inspector keeps what is printed to the console.
    const session = new Session();
    session.connect();
    try {
      // The collection is a task of its own, which a session that is disconnected earlier would take with it.
      await new Promise((done) => session.post("HeapProfiler.collectGarbage", done));
    } finally {
      session.disconnect();
    }
    await nextTurn();
  }
}
