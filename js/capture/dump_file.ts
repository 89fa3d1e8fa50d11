// Writes a dump so that a file under the final name is always a whole dump: into a temporary file
// in the same folder, to the disk, and only then under its name.

import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";

import { CaptureError, quote } from "./errors.js";
import type { Snapshot } from "./snapshot.js";

/**
 * One write covers at most this many bytes. The system refuses writes of 2 GiB and more, and a
 * single view of a 4 GiB memory is not possible in every Node version.
 */
const CHUNK_SIZE = 64 * 1024 * 1024;

/** Neither follow a link nor open what is there already: the file must be ours from the start. */
const CREATE_NEW =
  constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

/**
 * Writes a snapshot to `path`, which the host chose and which is therefore trusted: missing folders
 * are created, and a link is followed to the file that it names.
 *
 * @throws {CaptureError} `ERR_DUMP_PATH` if something that is no regular file has this name;
 *   otherwise the system's code.
 */
export function writeDumpFile(snapshot: Snapshot, path: string): void {
  const target = resolve(path);
  namingPath(path, () => {
    mkdirSync(dirname(target), { recursive: true });
    const existing = statSync(target, { throwIfNoEntry: false });
    if (existing && !existing.isFile()) {
      // A rename would replace even a device.
      throw new CaptureError(
        "ERR_DUMP_PATH",
        `cannot write the dump ${quote(path)}: it exists and is not a regular file`,
      );
    }
    const isLink = lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink();
    writeAtomically(snapshot, isLink ? realpathSync(target) : target, () => {});
  });
}

/**
 * Writes a snapshot under a name in a folder that exists.
 *
 * @param checkFolder runs when the temporary file is open and again right before the rename; what
 *   it throws stops the write.
 */
export function writeAtomically(snapshot: Snapshot, target: string, checkFolder: () => void): void {
  // Not made from the target's name, which may already be as long as names can be.
  const temporary = join(
    dirname(target),
    `.warpo-heap-analyzer-${process.pid}-${randomBytes(6).toString("hex")}.tmp`,
  );
  const file = openSync(temporary, CREATE_NEW, 0o666);
  try {
    try {
      checkFolder();
      writeFully(file, snapshot.header.buffer);
      writeFully(file, snapshot.memory);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    checkFolder();
    renameSync(temporary, target);
  } catch (error) {
    try {
      unlinkSync(temporary);
    } catch {
      // The first error says more.
    }
    throw error;
  }
}

/** Runs a piece of file work; a system error from it becomes one that names the path as given. */
export function namingPath<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof CaptureError) {
      throw error;
    }
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CaptureError(
      code ?? "ERR_DUMP_WRITE",
      `cannot write the dump ${quote(path)}: ${message}`,
      { cause: error },
    );
  }
}

function writeFully(file: number, buffer: ArrayBufferLike): void {
  let position = 0;
  while (position < buffer.byteLength) {
    const length = Math.min(CHUNK_SIZE, buffer.byteLength - position);
    position += writeSync(file, new Uint8Array(buffer, position, length));
  }
}
