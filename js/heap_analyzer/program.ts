/** The commands of the command line, one module each in `commands/`, and one for all questions. To import this runs nothing. */
import { Command } from "commander";
import { QUESTIONS } from "../generated/options.js";
import { writeMessage } from "./messages.js";
import { writeText } from "./output.js";

const { version } = require("../../package.json") as { version: string };

/** The commands, in the order of the help. */
const COMMANDS = [
  "analyze",
  "diff",
  "expose",
  "attach",
  "watch",
  "summary",
  "suspects",
  "paths",
  "find",
  "object",
  "referrers",
  "dominators",
  "waste",
  "unreachable",
  "growth",
  "check",
  "report",
  "open",
  "export",
  "profile",
  "sites",
  "serve",
  "completion",
  "help",
];

/** A module in `commands/`. */
interface CommandModule {
  addCommand(program: Command, name: string): void;
}

/** The program, ready to parse arguments that begin with this one. If it is a command, the others are not loaded. */
export function createProgram(first: string | undefined): Command {
  const program = new Command("warpo-heap-analyzer")
    .description(
      "What keeps memory alive in WebAssembly programs (AssemblyScript, C, C++, Rust, Zig) and in the JavaScript around them.",
    )
    .version(version, "-v, --version")
    // The end of the process is the matter of whoever runs the program.
    .exitOverride()
    // Without the arguments, which would leave no room for the descriptions.
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .configureOutput({
      writeOut: writeText,
      // Commander puts a suggestion on a line of its own.
      outputError: (text) => writeMessage(text.trim().replace("\n(", " (")),
    });
  const named = COMMANDS.filter((name) => name === first && name !== "help");
  for (const name of named.length > 0 ? named : COMMANDS) {
    const isQuestion = Object.hasOwn(QUESTIONS, name);
    const module = require(`./commands/${isQuestion ? "question" : name}.js`) as CommandModule;
    module.addCommand(program, name);
  }
  return program;
}
