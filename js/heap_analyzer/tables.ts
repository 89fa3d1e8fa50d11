/**
 * The tables of a dump, as files in a folder that many dumps share:
 * `<folder>/<table>/date=<day>/module=<hash>/<hash of the dump>.parquet`. The files of a dump appear together, when
 * all are complete, and a second export of a dump replaces the first. If the process is killed between the renames, the
 * table `dump` is missing, because it comes last: a dump with a row in it has all its tables. A heap snapshot of V8 is a dump without a module.
 */
import { createHash } from "node:crypto";
import { createReadStream, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { type Command, InvalidArgumentError } from "commander";
import type * as native from "../native.js";
import { hasNoModule, kindOf } from "../served/file_kind.js";
import { reason } from "../whole_file.js";
import { addon } from "./addon.js";
import { STANDARD_INPUT } from "./inputs.js";
import { writeWarning, writeWarnings } from "./messages.js";
import type { SharedOptions } from "./options.js";
import { FileSet, write } from "./output.js";
import { Pieces } from "./pieces.js";
import { ProgressLine } from "./progress.js";
import { openAll } from "./question_command.js";

/** The options of tables. */
export interface TableCommandOptions {
  capturedAt: string;
  label: Record<string, string>;
  source: string;
  objects: boolean;
  edges: boolean;
  fields: boolean;
  hashNames: boolean;
  keepUnreadable: boolean;
}

/** The names of the options of tables. */
export const TABLE_OPTIONS: readonly (keyof TableCommandOptions)[] = [
  "capturedAt",
  "label",
  "source",
  "objects",
  "edges",
  "fields",
  "hashNames",
  "keepUnreadable",
];

/** The tables of every dump, without `dump`. */
const TABLES = ["class", "path", "suspect", "waste"];
/** Stands for the time at which the dump file was last written. */
const FILE_TIME = "file-time";
/** A time with its zone, or a day, which begins at midnight UTC. */
const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;
/** How much of a file is read at once. */
const READ_SIZE = 1 << 20;

/** The folder of dumps without a module. Engines would read a folder without a name as null, which joins nothing. */
const NO_MODULE = "none";

/** Errors that are no property of the dump: another attempt, or another command line, may succeed. */
const PASSING = new Set([
  "ERR_OUT_OF_MEMORY",
  "ERR_NO_THREADS",
  "ABORT_ERR",
  "ERR_IO",
  "ERR_DUMP_CHANGED",
  "ERR_MODULE_MISSING",
  "ERR_SNAPSHOT_WITH_MODULE",
]);

/** Adds the options of {@link TableCommandOptions}. */
export function addTableOptions(command: Command): Command {
  return command
    .option(
      "--captured-at <time>",
      `when the dump was taken, such as 2026-11-22T18:30:00Z, or ${FILE_TIME} (parquet)`,
      time,
    )
    .option(
      "--label <key=value>",
      "what is known of the process, such as service=shop; may be repeated (parquet)",
      label,
    )
    .option("--source <text>", "where the dump is (default: its path) (parquet)")
    .option("--objects", "add the table object, with a row for each object (parquet)")
    .option("--edges", "add the table edge, with a row for each reference (parquet)")
    .option("--fields", "add the table field, with a row for each field of a live object (parquet)")
    .option(
      "--hash-names",
      "replace names of classes, fields, variables and globals by hashes (parquet)",
    )
    .option(
      "--keep-unreadable",
      "if the dump cannot be read, write a row with the error code instead of failing (parquet)",
    );
}

function time(text: string): string {
  if (text === FILE_TIME || (TIME.test(text) && !Number.isNaN(Date.parse(text)))) return text;
  throw new InvalidArgumentError(
    `Expected a time with its zone, such as 2026-11-22T18:30:00Z, or ${FILE_TIME}.`,
  );
}

function label(text: string, earlier: Record<string, string> = {}): Record<string, string> {
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (key === undefined || value === undefined) {
    throw new InvalidArgumentError("Expected a key and a value, such as service=shop.");
  }
  if (Object.hasOwn(earlier, key)) throw new InvalidArgumentError(`${key} has a value already.`);
  return { ...earlier, [key]: value };
}

/** What {@link writeTables} is asked for. */
type TableRequest = SharedOptions & Partial<TableCommandOptions> & { strings?: boolean };

/** Writes all tables of a dump. */
export async function writeTables(dump: string, options: TableRequest): Promise<void> {
  const { output, wasm, capturedAt } = options;
  if (output === undefined) {
    throw new Error("--to parquet writes several files: give it a folder with --output <folder>");
  }
  if (capturedAt === undefined) {
    throw new Error(
      "--to parquet needs the time of the dump, which the dump does not contain: give it with " +
        `--captured-at <time>, or take that of the file with --captured-at ${FILE_TIME}`,
    );
  }
  if (dump === STANDARD_INPUT || wasm === STANDARD_INPUT) {
    throw new Error("--to parquet reads its inputs twice, for their hashes: give it files");
  }
  const line = new ProgressLine();
  const opening = new (addon().WorkControl)();
  const opened = line.watch(opening, openAll([dump], [wasm], options, opening));
  const settled = opened.then(
    ([heap]) => ({ heap: heap as native.HeapHandle }),
    (error: Error & { code?: string }) => ({ error }),
  );
  const [dumpId, moduleId] = await Promise.all([sha256(dump), moduleHash(dump, wasm)]);
  const { size, mtimeMs } = statSync(dump);
  const taken = capturedAt === FILE_TIME ? Math.floor(mtimeMs) : Date.parse(capturedAt);
  const facts = {
    dumpId,
    moduleId,
    capturedAt: taken,
    dumpSize: size,
    source: options.source ?? dump,
    labels: options.label ?? {},
  };
  const day = new Date(taken).toISOString().slice(0, 10);
  const module = moduleId === undefined ? NO_MODULE : `sha256-${moduleId.slice(0, 12)}`;
  const place = (table: string) => {
    const folder = join(output, table, `date=${day}`, `module=${module}`);
    mkdirSync(folder, { recursive: true });
    return join(folder, `${dumpId}.parquet`);
  };

  const result = await settled;
  const hashNames = options.hashNames ?? false;
  if ("error" in result) {
    const { error } = result;
    const { code, message } = error;
    if (options.keepUnreadable !== true || code === undefined || PASSING.has(code)) throw error;
    const unreadable = { dump: facts, code, message, hashNames };
    writeWarning(message, code);
    return await write([addon().unreadableDumpTable(JSON.stringify(unreadable))], place("dump"));
  }
  const { heap } = result;
  writeWarnings(heap.warnings());
  const onRequest = [
    ...(options.objects === true ? ["object"] : []),
    ...(options.edges === true ? ["edge"] : []),
    ...(options.fields === true ? ["field"] : []),
  ];
  await FileSet.publish(async (files) => {
    for (const table of [...TABLES, ...onRequest, "dump"]) {
      const strings = options.strings ?? false;
      const request = { format: "parquet", table, dump: facts, strings, hashNames };
      const control = new (addon().WorkControl)();
      const pieces = new Pieces(heap.startExport(JSON.stringify(request)), control);
      const writing = files.write(pieces, place(table));
      await line.showWhile(writing, () => `${table}: ${pieces.progress()}`);
    }
  });
}

/** The hash of the module of a dump. A heap snapshot has none: its `--wasm` only names objects of WasmGC. */
async function moduleHash(dump: string, wasm: string | undefined): Promise<string | undefined> {
  if (wasm === undefined) return undefined;
  // A dump that cannot be read has its error from opening it.
  const kind = await kindOf(dump).catch(() => undefined);
  return hasNoModule(kind) ? undefined : await sha256(wasm);
}

/** The hash of a file. */
async function sha256(path: string): Promise<string> {
  const hash = createHash("sha256");
  try {
    await pipeline(createReadStream(path, { highWaterMark: READ_SIZE }), hash);
  } catch (error) {
    throw new Error(`cannot read ${path}: ${reason(error)}`, { cause: error });
  }
  return hash.digest("hex");
}
