/** The commands of the command line, one module each in `commands/`, and one for all questions. To import this runs nothing. */
import { Command } from "commander";
import { QUESTIONS } from "../generated/options.js";
import { writeMessage } from "./messages.js";
import { writeText } from "./output.js";

const { version } = require("../../package.json") as { version: string };

/** The commands by what they are for, in the order of the help. */
const GROUPS: Record<string, readonly string[]> = {
  "Look at a dump:": [
    "open",
    "app",
    "summary",
    "analyze",
    "find",
    "object",
    "waste",
    "unreachable",
  ],
  "Why is it alive, and what would free it?": ["suspects", "paths", "referrers", "dominators"],
  "What grows?": ["doctor", "growth", "diff", "watch"],
  "Fail if something grows:": ["check"],
  "Which line allocates it?": ["profile", "sites"],
  "Take a dump:": ["attach", "memories", "expose"],
  "Take it elsewhere:": ["report", "export", "serve"],
  "Other:": ["completion", "help"],
};

const COMMANDS = Object.values(GROUPS).flat();

/** Whether this is the name of a command. */
export const isCommand = (name: string) => COMMANDS.includes(name);

const EXAMPLES = `
With a dump or a folder instead of a command, it says what is in it, what
retains or grows most, and what to ask next:
  warpo-heap-analyzer dumps/
  warpo-heap-analyzer after.dump --wasm program.wasm
`;

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
    .usage("[options] <command>, or <dump|folder>")
    .addHelpText("after", EXAMPLES)
    .configureOutput({
      writeOut: writeText,
      // Commander puts a suggestion on a line of its own.
      outputError: (text) => writeMessage(text.trim().replace("\n(", " (")),
    });
  const named = COMMANDS.filter((name) => name === first && name !== "help");
  for (const name of named.length > 0 ? named : COMMANDS) {
    const [group] = Object.entries(GROUPS).find(([, names]) => names.includes(name)) ?? [];
    program.commandsGroup(group ?? "");
    const isQuestion = Object.hasOwn(QUESTIONS, name);
    const module = require(`./commands/${isQuestion ? "question" : name}.js`) as CommandModule;
    module.addCommand(program, name);
  }
  return program;
}
