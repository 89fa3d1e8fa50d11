/**
 * Runs the command line in this process.
 *
 * The result goes to stdout, everything else to stderr. Any error is one line on stderr, with nothing on
 * stdout and exit code 1.
 */
import { existsSync } from "node:fs";
import { CommanderError } from "commander";
import { firstLook } from "./first_look.js";
import { withoutFolders } from "./folder_arguments.js";
import { KeptOutput, keeping } from "./kept_output.js";
import { writeError } from "./messages.js";
import { createProgram, isCommand } from "./program.js";

/** What a process would have written, and its exit code. */
export interface Run {
  status: number;
  stdout: string;
  stderr: string;
}

/** Runs one command. Sets the exit code; never rejects. */
export async function runProgram(argv: string[]): Promise<void> {
  try {
    const args = argv.slice(2);
    const [first] = args;
    if (first === undefined) {
      throw new Error("no command given: pass a dump or a folder, or see --help for the commands");
    }
    if (!isCommand(first) && existsSync(first)) return await firstLook(args);
    const program = createProgram(first);
    await program.parseAsync([...argv.slice(0, 2), ...(await withoutFolders(args))]);
  } catch (error) {
    // It has written the help or what is wrong with the arguments.
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode;
      return;
    }
    writeError(error);
    process.exitCode = 1;
  }
}

/**
 * Runs one command in this process, and returns what it wrote. Not for those that run a program (`profile`, `watch`) or
 * a server: what a program writes goes to the streams of the process. One at a time.
 */
export async function run(args: readonly string[]): Promise<Run> {
  const output = new KeptOutput();
  const earlier = process.exitCode;
  process.exitCode = 0;
  await keeping(output, () => runProgram(["node", "warpo-heap-analyzer", ...args]));
  const status = Number(process.exitCode);
  process.exitCode = earlier;
  return { status, stdout: output.stdout, stderr: output.stderr };
}
