#!/usr/bin/env node
/**
 * The command line: a drop-in for WARPO's `dist/heap_analyzer/cli.js`.
 *
 * The result goes to stdout, everything else to stderr. Any error is one line on stderr, with
 * nothing on stdout and exit code 1. Arguments are checked before any file is read.
 */
import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { availableMemory } from "../memory.js";
import type * as native from "../native.js";
import { escapeUnprintable } from "../text.js";
import { refuseToOverwrite, write, writeText } from "./output.js";
import { mebibytes, ProgressLine, percent } from "./progress.js";

interface CommonOptions {
  wasm: string;
  top?: number;
  instances?: number;
  format: "json" | "table";
  output?: string;
  accounting?: boolean;
  force?: boolean;
  partial?: boolean;
}

interface SortedOptions extends CommonOptions {
  sort: string;
}

/** Bytes that are written at a time. */
const CHUNK = 1 << 20;

/** Loaded when there is something to analyze: `--help` needs no binary, and no binary is an error like others. */
const addon = () => require("../native.js") as typeof native;

const { version } = require("../../package.json") as { version: string };

// Whoever does not listen to what we have to say still gets the result, and the exit code.
process.stderr.on("error", () => {});

const program = new Command("warpo-heap-analyzer")
  .description("Heap snapshots for AssemblyScript and WARPO programs.")
  .version(version, "-v, --version")
  .showSuggestionAfterError(false)
  .configureOutput({
    writeOut: writeText,
    outputError: (text, writeError) => writeError(oneLine(text)),
  });

const analyze = program
  .command("analyze")
  .description("constructor view: what takes space in a dump, by class")
  .addArgument(file("<dump-file>", "a heap dump (ASHD)"));
withCommonOptions(analyze, ["retained", "shallow", "count"])
  .option("--accounting", "in JSON, add where every byte of the heap is (tables show it always)")
  .action((dump: string, options: SortedOptions) =>
    run([dump, options.wasm], options, (control) =>
      addon().analyzeFileAsync(dump, options.wasm, options, control),
    ),
  );

const diff = program
  .command("diff")
  .description("comparison view: what came and went between two dumps, by class")
  .addArgument(file("<before>", "the earlier heap dump"))
  .addArgument(file("<after>", "the later heap dump"));
withCommonOptions(diff, ["delta", "alloc", "freed", "count"]).action(
  (before: string, after: string, options: SortedOptions) =>
    run([before, after, options.wasm], options, (control) =>
      addon().diffFileAsync(
        before,
        after,
        options.wasm,
        { ...options, availableMemory: availableMemory() },
        control,
      ),
    ),
);

// Commander's own answers a wrong name with pages of help.
program
  .helpCommand(false)
  .command("help")
  .argument("[command]")
  .description("display help for command")
  .helpOption(false)
  .action((name?: string) => {
    const isNamed = (command: Command) => name === undefined || command.name() === name;
    const command = [program, ...program.commands].find(isNamed);
    if (command === undefined) throw new Error(`unknown command '${name}'`);
    command.help();
  });

if (process.argv.length > 2) {
  program.parseAsync().catch(fail);
} else {
  fail(new Error("no command given: expected analyze or diff (see --help)"));
}

function withCommonOptions(command: Command, [defaultSort, ...otherSorts]: string[]): Command {
  return command
    .requiredOption("--wasm <file>", "the module that the dump was taken from", fileName)
    .addOption(
      new Option("--sort <order>", "order of the rows")
        .choices([defaultSort as string, ...otherSorts])
        .default(defaultSort),
    )
    .option("--top <n>", "keep the first n rows; totals stay whole", wholeNumber(1))
    .option("--instances <n>", "in JSON, list the first n instances of each row", wholeNumber(0))
    .addOption(
      new Option("--format <format>", "json, or a table for eyes")
        .choices(["json", "table"])
        .default("json"),
    )
    .option("--output <file>", "write to a file instead of stdout", fileName)
    .option("--force", "go on although the dump was not taken from the module")
    .option("--partial", "if the heap is damaged, report what lies before the damage");
}

function file(name: string, description: string): Argument {
  return new Argument(name, description).argParser(fileName);
}

function fileName(text: string): string {
  if (text === "") throw new InvalidArgumentError("Expected the name of a file.");
  return text;
}

function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    if (!/^\d+$/.test(text) || Number(text) < least) {
      throw new InvalidArgumentError(`Expected a whole number ≥ ${least}.`);
    }
    return Number(text);
  };
}

async function run(
  inputs: string[],
  options: CommonOptions,
  analysis: (control: native.WorkControl) => Promise<native.ViewHandle>,
) {
  if (options.output !== undefined) refuseToOverwrite(inputs, options.output);
  const line = new ProgressLine();
  const { WorkControl } = addon();
  const control = new WorkControl();
  const view = await line.watch(control, analysis(control));
  for (const { message } of view.warnings()) {
    process.stderr.write(oneLine(`warning: ${message}`));
  }
  const { output } = options;
  if (options.format === "table") return write([table(view, options)], output);
  const text = view.json(options.accounting ?? false);
  // On a terminal the text itself shows how far it is.
  const isWatched = output === undefined && process.stdout.isTTY;
  await write(isWatched ? chunks(text) : chunks(text, line), output);
}

/** All of a text. A chunk's memory is used again for the next but one. */
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

function table(view: native.ViewHandle, { output }: CommonOptions): Buffer {
  const terminal = output === undefined && process.stdout.isTTY ? process.stdout : undefined;
  // Without a terminal nothing is cut: names are then for grep.
  const width = terminal?.columns;
  const color = terminal?.hasColors() ?? false;
  return Buffer.from(view.table(width === undefined ? { color } : { width, color }));
}

function fail(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(oneLine(`error: ${message}`));
  process.exitCode = 1;
}

/** A line for the terminal, whatever names of files and classes are in it. */
function oneLine(text: string): string {
  return `${escapeUnprintable(text.trim())}\n`;
}
