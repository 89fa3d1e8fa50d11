/** The common part of the commands of the two views, `analyze` and `diff`. */
import type { Command } from "commander";
import type * as native from "../native.js";
import type { OptionFacts } from "../option_facts.js";
import { addon } from "./addon.js";
import { checkInputs } from "./inputs.js";
import { keptOutput } from "./kept_output.js";
import { writeWarnings } from "./messages.js";
import {
  addFactOptions,
  addOtherName,
  addSharedOptions,
  choiceOption,
  reading,
  refuseUseless,
  type SharedOptions,
  wasmOption,
} from "./options.js";
import { write } from "./output.js";
import { mebibytes, ProgressLine, percent } from "./progress.js";
import { outputWidth } from "./terminal.js";

/** The options of both commands. */
export interface ViewOptions extends SharedOptions {
  sort?: string;
  top?: number;
  instances?: number;
  /** Absent if it was not chosen: a table on a terminal, otherwise JSON. */
  format?: "json" | "table";
  accounting?: boolean;
  retainedSet?: boolean;
  withWarnings?: boolean;
}

/** The options that say how the JSON looks. */
const OF_JSON = ["instances", "accounting", "retainedSet", "withWarnings"] as const;

/** The format of a view. What programs read is JSON, as before: a pipe, a file, and whatever an option for JSON asks. */
export function formatOf(options: ViewOptions): "json" | "table" {
  if (options.format !== undefined) return options.format;
  const isForTerminal = options.output === undefined && isTerminal();
  return isForTerminal && OF_JSON.every((name) => options[name] === undefined) ? "table" : "json";
}

const isTerminal = () => keptOutput() === undefined && process.stdout.isTTY === true;

/** Bytes that are written at a time. */
const CHUNK = 1 << 20;

/** Adds the options of both commands. `order` is the default of `--sort`. */
export function addViewOptions(
  command: Command,
  options: Record<string, OptionFacts>,
  order: [value: string | undefined, description?: string],
): Command {
  addFactOptions(command.addOption(wasmOption()), options);
  command.options.find(({ long }) => long === "--sort")?.default(...order);
  command.setOptionValueWithSource("sort", order[0], "default");
  command
    .addOption(
      choiceOption("-f, --format <format>", "JSON, or a human-readable table", ["json", "table"], {
        text: "table",
      }).default(undefined, "a table on a terminal, otherwise JSON"),
    )
    .option("--with-warnings", "in JSON, add whether the view is partial, and the warnings");
  addOtherName(command, "--limit <n>", "top");
  return addSharedOptions(command);
}

/** The order, the lengths of lists and how dumps are read, for the addon. */
export function viewRequest(
  { sort, top, instances, ...options }: ViewOptions,
  nth = 0,
  count = 1,
): native.ViewOptions {
  return {
    ...(sort === undefined ? {} : { sort }),
    ...(top === undefined ? {} : { top }),
    ...(instances === undefined ? {} : { instances }),
    ...reading(options, nth, count),
  };
}

/**
 * Runs an analysis and writes its view.
 *
 * @param footer returns a text that is printed after a table.
 */
export async function runView(
  command: Command,
  inputs: string[],
  options: ViewOptions,
  analysis: (control: native.WorkControl) => Promise<native.ViewHandle>,
  footer: (line: ProgressLine) => Promise<string> = async () => "",
): Promise<void> {
  const isTable = formatOf(options) === "table";
  if (isTable) {
    refuseUseless(command, {
      instances: "tables list no instances; use --format json",
      accounting: "tables always show it",
      retainedSet: "tables always show it",
      withWarnings: "with a table, warnings are on stderr",
    });
  }
  checkInputs(inputs, options.output);
  const line = new ProgressLine();
  const { WorkControl } = addon();
  const control = new WorkControl();
  const view = await line.watch(control, analysis(control));
  writeWarnings(view.warnings());
  const { output } = options;
  if (isTable) {
    const text = table(view, options) + (await footer(line));
    return write([Buffer.from(text)], output);
  }
  const text = view.json({
    withAccounting: options.accounting ?? false,
    withWarnings: options.withWarnings ?? false,
  });
  // On a terminal the text itself shows the progress.
  const isWatched = output === undefined && process.stdout.isTTY;
  await write(isWatched ? chunks(text) : chunks(text, line), output);
}

/** A text in pieces. Two buffers take turns: a piece is overwritten after the next one was read. */
function* chunks(text: native.JsonText, line?: ProgressLine): Generator<Buffer> {
  const buffers = [Buffer.allocUnsafe(CHUNK), Buffer.allocUnsafe(CHUNK)];
  let bytes = 0;
  try {
    for (let nth = 0; ; nth = 1 - nth) {
      const buffer = buffers[nth] as Buffer;
      const length = text.read(buffer);
      if (length === 0) return;
      bytes += length;
      line?.show(() => `writing: ${percent(text.fraction())}, ${mebibytes(bytes)}`);
      yield buffer.subarray(0, length);
    }
  } finally {
    line?.clear();
  }
}

function table(view: native.ViewHandle, { output }: ViewOptions): string {
  const terminal = output === undefined && process.stdout.isTTY ? process.stdout : undefined;
  const width = output === undefined ? outputWidth() : undefined;
  const options = { color: terminal?.hasColors() ?? false, isTerminal: terminal !== undefined };
  return view.table(width === undefined ? options : { ...options, width });
}
