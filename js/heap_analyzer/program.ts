/** All commands of the command line, one file each in `commands/`. To import this runs nothing. */
import { Command } from "commander";
import { addAnalyzeCommand } from "./commands/analyze.js";
import { addDiffCommand } from "./commands/diff.js";
import { addExposeCommand } from "./commands/expose.js";
import { addHelpCommand } from "./commands/help.js";
import { oneLine } from "./messages.js";
import { writeText } from "./output.js";

const { version } = require("../../package.json") as { version: string };

/** The program, ready to parse arguments. */
export function createProgram(): Command {
  const program = new Command("warpo-heap-analyzer")
    .description("Heap snapshots for AssemblyScript and WARPO programs.")
    .version(version, "-v, --version")
    .showSuggestionAfterError(false)
    .configureOutput({
      writeOut: writeText,
      outputError: (text, write) => write(oneLine(text)),
    });
  addAnalyzeCommand(program);
  addDiffCommand(program);
  addExposeCommand(program);
  addHelpCommand(program);
  return program;
}
