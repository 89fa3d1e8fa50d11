// Writes a dump so that a file under the final name is always a whole dump.

import { closeSync, fsyncSync, mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { HeapAnalyzerError } from "../errors.js";
import { AtomicFile, reason, resolveSymlinks, writeFully } from "../whole_file.js";
import { quote } from "./quote.js";
import type { Snapshot } from "./snapshot.js";

/** For the owner alone, as V8's heap snapshots: a dump holds the program's secrets. */
const PERMISSIONS = 0o600;

/**
 * Writes a snapshot to `path`, which the host chose and which is therefore trusted: missing folders
 * are created, and a link is followed to the file that it names.
 *
 * @throws {HeapAnalyzerError} `ERR_DUMP_PATH` if something that is not a regular file has this name;
 *   `ERR_DUMP_WRITE`.
 */
export function writeDumpFile(snapshot: Snapshot, path: string): void {
  const target = resolve(path);
  namingPath(path, () => {
    mkdirSync(dirname(target), { recursive: true });
    const existing = statSync(target, { throwIfNoEntry: false });
    if (existing && !existing.isFile()) {
      // A rename would replace even a device.
      throw new HeapAnalyzerError(
        "ERR_DUMP_PATH",
        `cannot write the dump ${quote(path)}: it exists and is not a regular file`,
      );
    }
    writeAtomically(snapshot, resolveSymlinks(target), () => {});
  });
}

/**
 * Writes a snapshot under a name in a folder that exists.
 *
 * @param checkFolder runs when the temporary file is open and again right before the rename; what
 *   it throws stops the write.
 */
export function writeAtomically(snapshot: Snapshot, target: string, checkFolder: () => void): void {
  const file = new AtomicFile(target, PERMISSIONS);
  try {
    try {
      checkFolder();
      writeFully(file.descriptor, snapshot.header.buffer, 0, snapshot.header.byteLength);
      writeFully(file.descriptor, snapshot.memory, 0, snapshot.memorySize);
      fsyncSync(file.descriptor);
    } finally {
      closeSync(file.descriptor);
    }
    checkFolder();
    file.publish();
  } catch (error) {
    file.discard();
    throw error;
  }
}

/** Runs a piece of file work; a system error in it becomes the cause of one that names the path as given. */
export function namingPath<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof HeapAnalyzerError) {
      throw error;
    }
    throw new HeapAnalyzerError(
      "ERR_DUMP_WRITE",
      `cannot write the dump ${quote(path)}: ${reason(error)}`,
      { cause: error },
    );
  }
}
