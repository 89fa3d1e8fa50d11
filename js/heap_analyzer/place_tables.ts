/** Dumps as place tables, for the commands that compare many dumps. */
import { Argument } from "commander";
import type * as native from "../native.js";
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

/** The place table of each dump. One heap is open at a time. */
export async function placeTables(
  dumps: string[],
  modules: (string | undefined)[],
  options: ReadingOptions,
): Promise<native.PlaceTableHandle[]> {
  const line = new ProgressLine();
  const tables = [];
  for (const [nth, dump] of dumps.entries()) {
    const control = new (addon().WorkControl)();
    const request = reading(options, nth, dumps.length);
    const open = openEach([dump], [modules[nth]], [request], control);
    const [heap] = (await line.watch(control, open)) as [native.HeapHandle];
    try {
      const table = await line.watch(control, heap.placeTableAsync(control));
      // What grows is in the last dump.
      const isLast = nth === dumps.length - 1;
      const module = modules[nth] === STANDARD_INPUT ? undefined : modules[nth];
      tables.push(isLast ? withSourceLines(table, module) : table);
    } finally {
      heap.close();
    }
  }
  return tables;
}
