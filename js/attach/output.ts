// Files beside the dump. Their owner alone can read them.

import { close, closeSync, fsync, mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { promisify } from "node:util";
import { HeapAnalyzerError } from "../errors.js";
import type { Session } from "../inspector/calls.js";
import { AtomicFile, reason, resolveSymlinks, writeFully } from "../whole_file.js";
import { unfinished } from "./unfinished.js";

/** A large file takes seconds, in which an abort is heard. */
const synced = promisify(fsync);

/** Writes a file to the disk, and waits for that no longer than the session lasts. */
export async function flushed(descriptor: number, session: Session): Promise<void> {
  await session.unlessEnded(synced(descriptor));
}

/**
 * Removes a file that is open. The system frees what has no name any more when it is closed: for a large memory that takes a
 * tenth of a second, so another thread does it.
 */
export function removeOpen(descriptor: number, remove: () => void): void {
  if (process.platform === "win32") {
    // Names of open files stay there until they are closed.
    closeSync(descriptor);
    remove();
    return;
  }
  remove();
  close(descriptor, () => {});
}

/** A file that does not have its final name yet. Its contents are on the disk. */
export interface Unpublished {
  /** Gives the file its final name. */
  publish(): void;
  /** Removes the file, if it does not have its final name. */
  discard(): void;
}

/**
 * Writes a file that does not have its final name yet.
 *
 * @param what what the file is, for errors.
 * @param write writes all contents to a descriptor.
 */
export async function written(
  path: string,
  what: string,
  write: (descriptor: number) => void | Promise<void>,
): Promise<Unpublished> {
  try {
    const target = resolve(path);
    mkdirSync(dirname(target), { recursive: true });
    const atomic = new AtomicFile(resolveSymlinks(target), 0o600);
    const file = discardedAtEnd(atomic);
    try {
      await write(atomic.descriptor);
      await synced(atomic.descriptor);
    } catch (error) {
      removeOpen(atomic.descriptor, () => file.discard());
      throw error;
    }
    closeSync(atomic.descriptor);
    return file;
  } catch (error) {
    throw writeError(path, what, error);
  }
}

/** The file is also removed if the process ends before it has its final name. */
function discardedAtEnd(file: AtomicFile): Unpublished {
  const done = unfinished(() => file.discard());
  return {
    publish() {
      file.publish();
      done();
    },
    discard() {
      file.discard();
      done();
    },
  };
}

/** The bytes as the contents of a file. */
export function contents(bytes: Buffer): (descriptor: number) => void {
  const { buffer, byteOffset, length } = bytes;
  return (descriptor) => writeFully(descriptor, buffer as ArrayBuffer, byteOffset, length);
}

/** An error of the file system as one that says which file could not be written. */
export function writeError(path: string, what: string, cause: unknown): HeapAnalyzerError {
  if (cause instanceof HeapAnalyzerError) return cause;
  return new HeapAnalyzerError("ERR_DUMP_WRITE", `cannot write ${what} ${path}: ${reason(cause)}`, {
    cause,
  });
}
