// Writes a dump. A file with the final name is always a complete dump.

import { closeSync, fsyncSync, mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { HeapAnalyzerError } from "../errors.js";
import { AtomicFile, reason, resolveSymlinks, writeFully } from "../whole_file.js";
import { handlesPath, writeHandles } from "./handles_file.js";
import { quote } from "./quote.js";
import type { Snapshot } from "./snapshot.js";

/** Only the owner can read a dump, because it contains the program's secrets. V8 does the same for heap snapshots. */
const PERMISSIONS = 0o600;

/**
 * Writes a snapshot to `path`, and who pinned what beside it, if that is watched. The path is trusted, because the host
 * chose it: missing folders are created, and links are followed.
 *
 * @throws {HeapAnalyzerError} `ERR_DUMP_PATH` if the path names a folder, a device or a pipe;
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
    const file = resolveSymlinks(target);
    writeAtomically(snapshot, file, () => {});
    writeHandles(snapshot.exports, file, resolveSymlinks(handlesPath(target)), PERMISSIONS);
  });
}

/**
 * Writes a snapshot under a name in a folder that exists.
 *
 * @param checkFolder is called when the temporary file is open and again right before the rename. If it
 *   throws, the dump is not written.
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

/** Runs `work`. A system error becomes the `cause` of an error that names the path as the caller gave it. */
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
