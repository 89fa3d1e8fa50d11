/** `export`: a heap in the format of another tool. */
import { type Command, InvalidArgumentError, Option } from "commander";
import type * as native from "../../native.js";
import { addon } from "../addon.js";
import { checkInputs } from "../inputs.js";
import { writeWarning } from "../messages.js";
import {
  addSharedOptions,
  fileArgument,
  refuseUseless,
  type SharedOptions,
  wasmOption,
  wholeNumber,
} from "../options.js";
import { write } from "../output.js";
import { mebibytes, ProgressLine, percent } from "../progress.js";
import { openAll } from "../question_command.js";

interface ExportOptions extends SharedOptions {
  to: string;
  strings: boolean;
  all?: boolean;
  samples?: number;
}

interface Format {
  /** The description in the help of `--to`. */
  description: string;
  /** The number of dumps that it takes. */
  dumps: 1 | 2;
  /** The options for the engine. */
  request: (options: ExportOptions) => Record<string, unknown>;
  /** Options of the command that have no effect on this format, by attribute name, each with the reason. */
  useless: Record<string, string>;
}

const ONLY_HEAP_SNAPSHOT = "only --to heapsnapshot shows them";
const ONLY_HEAP_DIFF = "only --to heap-diff shows samples";

const FORMATS: Record<string, Format> = {
  heapsnapshot: {
    description: "Chrome DevTools and memlab",
    dumps: 1,
    request: ({ strings, all }) => ({ strings, all: all ?? false }),
    useless: { samples: ONLY_HEAP_DIFF },
  },
  pprof: {
    description: "pprof and speedscope",
    dumps: 1,
    request: () => ({}),
    useless: { strings: ONLY_HEAP_SNAPSHOT, all: ONLY_HEAP_SNAPSHOT, samples: ONLY_HEAP_DIFF },
  },
  "heap-diff": {
    description: "agents, of two dumps",
    dumps: 2,
    request: ({ samples }) => ({ samples }),
    useless: { strings: ONLY_HEAP_SNAPSHOT, all: ONLY_HEAP_SNAPSHOT },
  },
};

/** Stands for standard output where a file is expected. */
const STANDARD_OUTPUT = "-";

export function addExportCommand(program: Command): void {
  const command = program
    .command("export")
    .description("the heap in the format of another tool")
    .addArgument(fileArgument("<dump-file>", "a heap dump (ASHD), or - for standard input"))
    .addArgument(
      fileArgument("[later-dump-file]", "for formats that compare: the later dump, or -"),
    )
    .addOption(wasmOption())
    .addOption(
      new Option("--to <format>", `the format: ${described()}`)
        .argParser(formatName)
        .makeOptionMandatory(),
    )
    .option("--no-strings", "leave out what strings contain, and the keys of maps")
    .option("--all", "add garbage, in a group of its own")
    .option(
      "--samples <n>",
      "how many new objects of each class that grew to show (default: 10)",
      wholeNumber(0),
    );
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
  const output = options.output === STANDARD_OUTPUT ? undefined : options.output;
  checkInputs([...dumps, options.wasm], output);
  const line = new ProgressLine();
  const { WorkControl } = addon();
  const opening = new WorkControl();
  const modules = dumps.map(() => options.wasm);
  const heaps = await line.watch(opening, openAll(dumps, modules, options, opening));
  for (const heap of heaps) for (const { message } of heap.warnings()) writeWarning(message);
  const [heap, before] = heaps.reverse() as [native.HeapHandle, native.HeapHandle?];
  const request = { format: options.to, ...format.request(options) };
  const exported = heap.startExport(JSON.stringify(request), before);
  // On a terminal the text itself shows the progress.
  const isWatched = output === undefined && process.stdout.isTTY;
  await write(pieces(exported, new WorkControl(), isWatched ? undefined : line), output);
}

async function* pieces(
  exported: native.ExportHandle,
  control: native.WorkControl,
  line: ProgressLine | undefined,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  try {
    for (;;) {
      const piece = await exported.read(control);
      if (piece === null) return;
      bytes += piece.length;
      line?.show(() => `writing: ${percent(control.progress().fraction)}, ${mebibytes(bytes)}`);
      yield piece;
    }
  } finally {
    line?.clear();
    control.cancel();
    exported.close();
  }
}

function described(): string {
  const formats = Object.entries(FORMATS);
  return formats.map(([name, { description }]) => `${name} for ${description}`).join(", ");
}

function formatName(text: string): string {
  if (Object.hasOwn(FORMATS, text)) return text;
  throw new InvalidArgumentError(`Expected ${Object.keys(FORMATS).join(" or ")}.`);
}
