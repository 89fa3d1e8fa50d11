/**
 * Runs the command line in this process.
 *
 * The result goes to stdout, everything else to stderr. Any error is one line on stderr, with nothing on
 * stdout and exit code 1.
 */
import { writeError } from "./messages.js";
import { createProgram } from "./program.js";

/** Runs one command. Sets the exit code; never rejects. */
export async function runProgram(argv: string[]): Promise<void> {
  // A closed or full stderr loses the messages, but neither the result nor the exit code.
  process.stderr.on("error", () => {});
  try {
    const program = createProgram();
    if (argv.length <= 2) {
      const names = program.commands.map((command) => command.name());
      const known = names.filter((name) => name !== "help");
      throw new Error(`no command given: expected ${listed(known)} (see --help)`);
    }
    await program.parseAsync(argv);
  } catch (error) {
    writeError(error);
    process.exitCode = 1;
  }
}

/** As in `analyze, diff or object`. */
function listed(names: string[]): string {
  const [last, ...others] = [...names].reverse();
  return others.length === 0 ? String(last) : `${others.reverse().join(", ")} or ${last}`;
}
