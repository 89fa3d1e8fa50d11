/** Where the command line's result goes: stdout, or a file that appears only when it is whole. */
import { createWriteStream, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";

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

/**
 * Writes all chunks to a file or to stdout. While a chunk is being written, the next one is made; the
 * one after that may use its memory.
 */
export async function write(chunks: Iterable<Buffer>, output: string | undefined): Promise<void> {
  if (output !== undefined) return writeFile(chunks, output);
  try {
    await writeAll(chunks, process.stdout);
  } catch (error) {
    // Whoever read our output has seen enough, as in `… | head`.
    if ((error as NodeJS.ErrnoException).code !== "EPIPE") throw error;
  }
}

async function writeFile(chunks: Iterable<Buffer>, output: string): Promise<void> {
  const existing = statSync(output, { throwIfNoEntry: false });
  try {
    if (existing !== undefined && !existing.isFile()) {
      // A device or a pipe cannot be replaced.
      return await writeAndClose(chunks, createWriteStream(output, { flags: "w" }));
    }
    const target = existing === undefined ? output : realpathSync(output);
    const temporary = `${target}.${process.pid}.tmp`;
    try {
      await writeAndClose(chunks, createWriteStream(temporary, { flags: "wx", flush: true }));
      renameSync(temporary, target);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  } catch (error) {
    throw new Error(`cannot write ${output}: ${(error as Error).message}`, { cause: error });
  }
}

async function writeAndClose(chunks: Iterable<Buffer>, stream: Writable): Promise<void> {
  try {
    await writeAll(chunks, stream);
    stream.end();
    await finished(stream);
  } finally {
    stream.destroy();
  }
}

async function writeAll(chunks: Iterable<Buffer>, stream: Writable): Promise<void> {
  // An error reaches us through the write that failed.
  stream.on("error", () => {});
  let earlier: Promise<void> | undefined;
  for (const chunk of chunks) {
    await earlier;
    earlier = new Promise((resolve, reject) => {
      stream.write(chunk, (error) => (error ? reject(error) : resolve()));
    });
  }
  await earlier;
}
