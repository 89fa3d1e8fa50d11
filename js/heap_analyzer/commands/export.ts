/** `export`: a heap in the format of another tool. */
import { type Command, InvalidArgumentError, Option } from "commander";
import type * as native from "../../native.js";
import { addon } from "../addon.js";
import { checkInputs } from "../inputs.js";
import { writeWarnings } from "../messages.js";
import {
  addSharedOptions,
  dumpArgument,
  fileArgument,
  given,
  refuseUseless,
  type SharedOptions,
  wasmOption,
} from "../options.js";
import { write } from "../output.js";
import { Pieces } from "../pieces.js";
import { ProgressLine } from "../progress.js";
import { wholeNumber } from "../quantities.js";
import { openAll } from "../question_command.js";
import {
  addTableOptions,
  TABLE_OPTIONS,
  type TableCommandOptions,
  writeTables,
} from "../tables.js";

interface ExportOptions extends SharedOptions, Partial<TableCommandOptions> {
  to: string;
  strings?: boolean;
  all?: boolean;
  samples?: number;
}

interface Format {
  /** The description in the help of `--to`. */
  description: string;
  /** The number of dumps that it takes. */
  dumps: 1 | 2;
  isBinary: boolean;
  /** Its own options for the engine. */
  request: (options: ExportOptions) => Record<string, unknown>;
  /** Options of the command that have no effect on this format, by attribute name, each with the reason. */
  useless: Record<string, string>;
}

const STRINGS = { strings: "only --to heapsnapshot and --to parquet show them" };
const GARBAGE = { all: "only --to heapsnapshot shows garbage" };
const SAMPLES = { samples: "only --to heap-diff shows samples" };
const TABLES = Object.fromEntries(
  TABLE_OPTIONS.map((name) => [name, "only --to parquet writes tables"]),
);

const FORMATS: Record<string, Format> = {
  heapsnapshot: {
    description: "Chrome DevTools and memlab",
    dumps: 1,
    isBinary: false,
    request: ({ strings = true, all = false }) => ({ strings, all, mayMap: true }),
    useless: { ...SAMPLES, ...TABLES },
  },
  pprof: {
    description: "pprof and speedscope",
    dumps: 1,
    isBinary: true,
    request: () => ({}),
    useless: { ...STRINGS, ...GARBAGE, ...SAMPLES, ...TABLES },
  },
  "heap-diff": {
    description: "agents (what grew between two dumps)",
    dumps: 2,
    isBinary: false,
    request: ({ samples }) => ({ samples }),
    useless: { ...STRINGS, ...GARBAGE, ...TABLES },
  },
  parquet: {
    description:
      "DuckDB and Apache Spark (tables for questions about many dumps, in the folder --output)",
    dumps: 1,
    isBinary: true,
    // Each table has a request of its own.
    request: () => ({}),
    useless: { ...GARBAGE, ...SAMPLES },
  },
};

export function addCommand(program: Command): void {
  const command = program
    .command("export")
    .description("the heap in the format of another tool")
    .addArgument(dumpArgument())
    .addArgument(
      fileArgument("[later-dump-file]", "for formats that compare: the later dump, or -"),
    )
    .addOption(wasmOption())
    .addOption(
      new Option("--to <format>", `the format: ${described()}`)
        .argParser(formatName)
        .makeOptionMandatory(),
    )
    .option("--strings", "show what strings contain, in tables of --to parquet")
    .option("--no-strings", "leave out what strings contain, and the keys of maps")
    .option("--all", "add garbage, in a group of its own")
    .option(
      "--samples <n>",
      "how many new objects of each class that grew to show (default: 10)",
      wholeNumber(0),
    );
  addTableOptions(command);
  addSharedOptions(command).action((dump: string, later: string | undefined, options) =>
    runExport(command, later === undefined ? [dump] : [dump, later], options),
  );
}

async function runExport(command: Command, dumps: string[], options: ExportOptions): Promise<void> {
  const format = FORMATS[options.to] as Format;
  if (dumps.length !== format.dumps) {
    const expected = format.dumps === 1 ? "one dump" : "two dumps, the earlier first";
    throw new Error(`--to ${options.to} shows ${expected}; found ${dumps.length}`);
  }
  refuseUseless(command, format.useless);
  const { output } = options;
  const isTerminal = output === undefined && process.stdout.isTTY;
  if (format.isBinary && isTerminal) {
    throw new Error(`--to ${options.to} is not text: write it to a file with --output <file>`);
  }
  checkInputs(given(...dumps, options.wasm), output);
  if (options.to === "parquet") return await writeTables(dumps[0] as string, options);
  const line = new ProgressLine();
  const { WorkControl } = addon();
  const opening = new WorkControl();
  const modules = dumps.map(() => options.wasm);
  const heaps = await line.watch(opening, openAll(dumps, modules, options, opening));
  for (const heap of heaps) writeWarnings(heap.warnings());
  const [heap, before] = heaps.reverse() as [native.HeapHandle, native.HeapHandle?];
  const request = { format: options.to, ...format.request(options) };
  const control = new WorkControl();
  const pieces = new Pieces(heap.startExport(JSON.stringify(request), before), control);
  const writing = write(pieces, output);
  // On a terminal the text itself shows the progress.
  if (isTerminal) await writing;
  else await line.showWhile(writing, () => pieces.progress());
}

function described(): string {
  const formats = Object.entries(FORMATS);
  return formats.map(([name, { description }]) => `${name} for ${description}`).join(", ");
}

function formatName(text: string): string {
  if (Object.hasOwn(FORMATS, text)) return text;
  throw new InvalidArgumentError(`Expected ${Object.keys(FORMATS).join(" or ")}.`);
}
