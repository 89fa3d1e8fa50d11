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
    const program = createProgram(argv[2]);
    if (argv.length <= 2) {
      throw new Error("no command given: see --help for the commands");
    }
    await program.parseAsync(argv);
  } catch (error) {
    writeError(error);
    process.exitCode = 1;
  }
}
