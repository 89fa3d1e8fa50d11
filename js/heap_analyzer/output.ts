/** Where the command line's result goes: stdout, or a file that appears only when it is whole. */
import { createWriteStream, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { pipeline } from "node:stream/promises";

/** Refuses an output that is one of the inputs, by whatever path. */
export function refuseToOverwrite(inputs: string[], output: string): void {
  const target = statSync(output, { bigint: true, throwIfNoEntry: false });
  for (const input of target?.isFile() ? inputs : []) {
    const source = statSync(input, { bigint: true, throwIfNoEntry: false });
    if (source?.dev === target?.dev && source?.ino === target?.ino) {
      throw new Error(`--output ${output} is the input ${input}: choose another file`);
    }
  }
}

/** Writes all pieces to a file or to stdout. */
export async function write(pieces: Iterable<Buffer>, output: string | undefined): Promise<void> {
  if (output !== undefined) return writeFile(pieces, output);
  try {
    await pipeline(pieces, process.stdout);
  } catch (error) {
    // Whoever read our output has seen enough, as in `… | head`.
    if ((error as NodeJS.ErrnoException).code !== "EPIPE") throw error;
  }
}

async function writeFile(pieces: Iterable<Buffer>, output: string): Promise<void> {
  const existing = statSync(output, { throwIfNoEntry: false });
  try {
    if (existing !== undefined && !existing.isFile()) {
      // A device or a pipe cannot be replaced.
      return await pipeline(pieces, createWriteStream(output, { flags: "w" }));
    }
    const target = existing === undefined ? output : realpathSync(output);
    const temporary = `${target}.${process.pid}.tmp`;
    try {
      await pipeline(pieces, createWriteStream(temporary, { flags: "wx", flush: true }));
      renameSync(temporary, target);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  } catch (error) {
    throw new Error(`cannot write ${output}: ${(error as Error).message}`, { cause: error });
  }
}
