/** Dumps as place tables, for the commands that compare many dumps. */
import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { Argument } from "commander";
import { availableMemory } from "../memory.js";
import type * as native from "../native.js";
import { KIND_BYTES } from "../served/file_kind.js";
import { unpackedSize } from "../served/unpacked_size.js";
import { withSourceLines } from "../source_lines.js";
import { addon } from "./addon.js";
import { STANDARD_INPUT } from "./inputs.js";
import { fileName, type ReadingOptions, reading } from "./options.js";
import { ProgressLine } from "./progress.js";
import { openEach } from "./question_command.js";

/** The argument that names the dumps. */
export function dumpsArgument(): Argument {
  const description =
    "heap dumps (ASHD), coredumps of wasmtime, or .heapsnapshot files of V8, in the order of their time; also as .gz or .zst";
  return new Argument("<dump-files...>", description).argParser((text, earlier?: string[]) => [
    ...(earlier ?? []),
    fileName(text),
  ]);
}

/** Bytes of memory for each byte of a dump while its table is made. */
const MEMORY_PER_BYTE = 2.5;

/** The place table of each dump. Two heaps are open at a time if there is memory for them: much of the work on one is on one thread. */
export async function placeTables(
  dumps: string[],
  modules: (string | undefined)[],
  options: ReadingOptions,
): Promise<native.PlaceTableHandle[]> {
  const line = new ProgressLine();
  const atOnce = canOpenTwo(dumps, modules) ? 2 : 1;
  const started: { control: native.WorkControl; table: Promise<native.PlaceTableHandle> }[] = [];
  const tables: native.PlaceTableHandle[] = [];
  try {
    while (tables.length < dumps.length) {
      while (started.length < Math.min(tables.length + atOnce, dumps.length)) {
        const nth = started.length;
        const control = new (addon().WorkControl)();
        const request = reading(options, nth, dumps.length);
        const table = placeTableOf(dumps[nth] as string, modules[nth], request, control);
        // An error of a later dump is reported when it is its turn.
        table.catch(() => {});
        started.push({ control, table });
      }
      const { control, table } = started[tables.length] as (typeof started)[number];
      tables.push(await line.watch(control, table));
    }
  } catch (error) {
    // The others are not needed any more.
    for (const { control } of started) control.cancel();
    await Promise.allSettled(started.map(({ table }) => table));
    throw error;
  }
  // What grows is in the last dump.
  const [last, module] = [tables.length - 1, modules.at(-1)];
  const path = module === STANDARD_INPUT ? undefined : module;
  return tables.map((table, nth) => (nth === last ? withSourceLines(table, path) : table));
}

async function placeTableOf(
  dump: string,
  module: string | undefined,
  request: native.OpenData,
  control: native.WorkControl,
): Promise<native.PlaceTableHandle> {
  const [heap] = (await openEach([dump], [module], [request], control)) as [native.HeapHandle];
  try {
    return await heap.placeTableAsync(control);
  } finally {
    heap.close();
  }
}

/** Whether two of the dumps can be read at a time: files, for a pipe is read once, and there is memory for the two largest. */
function canOpenTwo(dumps: string[], modules: (string | undefined)[]): boolean {
  const files = [...dumps, ...modules].filter((file) => file !== undefined);
  if (files.includes(STANDARD_INPUT)) return false;
  try {
    if (!files.every((file) => statSync(file).isFile())) return false;
    const [largest = 0, second = 0] = dumps.map(sizeOf).sort((one, other) => other - one);
    return (largest + second) * MEMORY_PER_BYTE < availableMemory();
  } catch {
    // The analyzer says what is wrong with the file.
    return false;
  }
}

/** The size of the dump that a file is or contains. */
function sizeOf(path: string): number {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const [start, end] = [Buffer.alloc(KIND_BYTES), Buffer.alloc(Math.min(4, size))];
    const read = readSync(file, start, 0, KIND_BYTES, 0);
    readSync(file, end, 0, end.length, size - end.length);
    return unpackedSize(start.subarray(0, read), end, size);
  } finally {
    closeSync(file);
  }
}
