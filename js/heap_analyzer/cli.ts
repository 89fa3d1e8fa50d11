#!/usr/bin/env node
/**
 * The command line: a drop-in for WARPO's `dist/heap_analyzer/cli.js`.
 *
 * The result goes to stdout, everything else to stderr. Any error is one line on stderr, with
 * nothing on stdout and exit code 1. Arguments are checked before any file is read.
 */
import { Command, InvalidArgumentError, Option } from "commander";
import type * as native from "../native.js";
import { refuseToOverwrite, write } from "./output.js";

interface CommonOptions {
  wasm: string;
  top?: number;
  format: "json" | "table";
  output?: string;
  accounting?: boolean;
  force?: boolean;
  partial?: boolean;
}

interface SortedOptions extends CommonOptions {
  sort: string;
}

/** Loaded when there is something to analyze: `--help` needs no binary, and no binary is an error like others. */
const addon = () => require("../native.js") as typeof native;

const { version } = require("../../package.json") as { version: string };

const program = new Command("warpo-heap-analyzer")
  .description("Heap snapshots for AssemblyScript and WARPO programs.")
  .version(version, "-v, --version")
  .showSuggestionAfterError(false)
  .configureOutput({ outputError: (text, writeError) => writeError(oneLine(text)) });

const analyze = program
  .command("analyze")
  .description("constructor view: what takes space in a dump, by class")
  .argument("<dump-file>", "a heap dump (ASHD)");
withCommonOptions(analyze, ["retained", "shallow", "count"])
  .option("--accounting", "in JSON, add where every byte of the heap is (tables show it always)")
  .action((dump: string, options: SortedOptions) =>
    run([dump, options.wasm], options, () => addon().analyzeFile(dump, options.wasm, options)),
  );

const diff = program
  .command("diff")
  .description("comparison view: what came and went between two dumps, by class")
  .argument("<before>", "the earlier heap dump")
  .argument("<after>", "the later heap dump");
withCommonOptions(diff, ["delta", "alloc", "freed", "count"]).action(
  (before: string, after: string, options: SortedOptions) =>
    run([before, after, options.wasm], options, () =>
      addon().diffFile(before, after, options.wasm, options),
    ),
);

if (process.argv.length > 2) {
  program.parseAsync().catch(fail);
} else {
  fail(new Error("no command given: expected analyze or diff (see --help)"));
}

function withCommonOptions(command: Command, [defaultSort, ...otherSorts]: string[]): Command {
  return command
    .requiredOption("--wasm <file>", "the module that the dump was taken from")
    .addOption(
      new Option("--sort <order>", "order of the rows")
        .choices([defaultSort as string, ...otherSorts])
        .default(defaultSort),
    )
    .option("--top <n>", "keep the first n rows; totals stay whole", wholeNumber)
    .addOption(
      new Option("--format <format>", "json, or a table for eyes")
        .choices(["json", "table"])
        .default("json"),
    )
    .option("--output <file>", "write to a file instead of stdout")
    .option("--force", "go on although the dump was not taken from the module")
    .option("--partial", "if the heap is damaged, report what lies before the damage");
}

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text) || Number(text) < 1) {
    throw new InvalidArgumentError("Expected a whole number ≥ 1.");
  }
  return Number(text);
}

async function run(inputs: string[], options: CommonOptions, analysis: () => native.ViewHandle) {
  if (options.output !== undefined) refuseToOverwrite(inputs, options.output);
  const view = analysis();
  for (const { message } of view.warnings()) {
    process.stderr.write(oneLine(`warning: ${message}`));
  }
  await write(
    options.format === "json"
      ? pieces(view.json(options.accounting ?? false))
      : [table(view, options)],
    options.output,
  );
}

function* pieces(text: native.TextPieces): Generator<Buffer> {
  for (let piece = text.next(); piece !== null; piece = text.next()) yield piece;
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

function oneLine(text: string): string {
  return `${text.trim().replace(/\s*\n\s*/g, " ")}\n`;
}
