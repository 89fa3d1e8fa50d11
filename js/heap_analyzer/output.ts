/** Writes the result of the command line to stdout, or to a file that appears only when it is complete. */
import { createWriteStream, statSync } from "node:fs";
import { Socket } from "node:net";
import { sep } from "node:path";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { AtomicFile, reason, resolveSymlinks, writeFully } from "../whole_file.js";
import { isStandardOutput } from "./inputs.js";
import { interruptibly } from "./interruption.js";
import { keptOutput } from "./kept_output.js";

/** The file descriptor of standard output. */
const STDOUT = 1;

/** The pieces of the result, in order. */
type Chunks = Iterable<Buffer> | AsyncIterable<Buffer>;

/**
 * Writes all chunks to a file or to stdout. While a chunk is being written, the next one is created. The
 * chunk after that may reuse the memory of the first.
 */
export async function write(chunks: Chunks, output: string | undefined): Promise<void> {
  try {
    const isStdout = output === undefined || isStandardOutput(output);
    await (isStdout ? writeStdout(chunks) : writeFile(chunks, output));
  } catch (error) {
    throw failure(output ?? "to stdout", error);
  }
}

/** Writes a text to stdout, at once. */
export function writeText(text: string): void {
  try {
    writeBytes(Buffer.from(text));
  } catch (error) {
    if (!isClosedPipe(error)) throw failure("to stdout", error);
  }
}

function failure(output: string, error: unknown): Error {
  return new Error(`cannot write ${output}: ${reason(error)}`, { cause: error });
}

async function writeStdout(chunks: Chunks): Promise<void> {
  try {
    // When the disk is full, Node's stream for files reports success after writing a part of a chunk.
    if (keptOutput() === undefined && process.stdout instanceof Socket)
      await writeAll(chunks, process.stdout);
    else for await (const chunk of chunks) writeBytes(chunk);
  } catch (error) {
    if (!isClosedPipe(error)) throw error;
  }
}

function writeBytes(bytes: Buffer): void {
  const kept = keptOutput();
  if (kept !== undefined) kept.addResult(bytes);
  else writeFully(STDOUT, bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The reader of a pipe may stop early, as `head` does. That is not an error. */
function isClosedPipe(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "EPIPE";
}

/** Files that appear together, when the last of them is complete; or none of them, also if a signal ends the process. */
export class FileSet {
  readonly #files: AtomicFile[] = [];

  /** Writes a file that replaces an older one when the set is published. */
  async write(chunks: Chunks, output: string): Promise<void> {
    try {
      await this.#write(chunks, output);
    } catch (error) {
      throw failure(output, error);
    }
  }

  /** Does work that writes files, and publishes them in their order. */
  static async publish(work: (files: FileSet) => Promise<void>): Promise<void> {
    const set = new FileSet();
    await interruptibly(
      () => set.#discard(),
      async () => {
        try {
          await work(set);
          for (const file of set.#files) file.publish();
        } catch (error) {
          set.#discard();
          throw error;
        }
      },
    );
  }

  async #write(chunks: Chunks, output: string): Promise<void> {
    const file = new AtomicFile(resolveSymlinks(output), 0o666);
    this.#files.push(file);
    const stream = createWriteStream("", { fd: file.descriptor, flush: true });
    await writeAndClose(chunks, stream);
  }

  #discard(): void {
    for (const file of this.#files) file.discard();
  }
}

async function writeFile(chunks: Chunks, output: string): Promise<void> {
  const existing = statSync(output, { throwIfNoEntry: false });
  if (existing !== undefined && !existing.isFile()) {
    // A device or a pipe cannot be replaced.
    return await writePipe(chunks, output);
  }
  if (output.endsWith("/") || output.endsWith(sep))
    throw new Error("it ends in a slash, so it names a folder");
  const file = new AtomicFile(resolveSymlinks(output), 0o666);
  await interruptibly(
    () => file.discard(),
    async () => {
      try {
        const stream = createWriteStream("", { fd: file.descriptor, flush: true });
        await writeAndClose(chunks, stream);
        file.publish();
      } catch (error) {
        file.discard();
        throw error;
      }
    },
  );
}

async function writePipe(chunks: Chunks, output: string): Promise<void> {
  try {
    await writeAndClose(chunks, createWriteStream(output, { flags: "w" }));
  } catch (error) {
    if (!isClosedPipe(error)) throw error;
  }
}

async function writeAndClose(chunks: Chunks, stream: Writable): Promise<void> {
  try {
    await writeAll(chunks, stream);
    stream.end();
    await finished(stream);
  } finally {
    stream.destroy();
  }
}

async function writeAll(chunks: Chunks, stream: Writable): Promise<void> {
  // Errors are reported by the callback of the failed write.
  stream.on("error", () => {});
  let earlier: Promise<void> | undefined;
  for await (const chunk of chunks) {
    await earlier;
    earlier = new Promise((resolve, reject) => {
      stream.write(chunk, (error) => (error ? reject(error) : resolve()));
    });
    // It is awaited with the next chunk, which may come later than the error.
    earlier.catch(() => {});
  }
  await earlier;
}
