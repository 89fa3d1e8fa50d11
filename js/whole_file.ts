/**
 * Files that are complete or do not exist: they are written under a temporary name in the same folder,
 * synced to the disk, and only then renamed.
 */
import { randomBytes } from "node:crypto";
import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  renameSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { basename, dirname, isAbsolute, join, sep } from "node:path";
import { getSystemErrorMap } from "node:util";

/**
 * The most bytes of one write. The system refuses writes of 2 GiB and more, and not every Node version
 * can create a view of a 4 GiB memory.
 */
const CHUNK_SIZE = 64 * 1024 * 1024;

/** Follows no link and opens no existing file: the file must be new. */
const CREATE_NEW =
  constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

/** A file that does not have its final name yet. */
export class AtomicFile {
  /** Open for writing, and for reading what was written. The writer closes it. */
  readonly descriptor: number;
  readonly #temporary: string;
  readonly #target: string;

  /**
   * Creates a temporary file in the folder of `target`, which must not be a link. An existing target keeps
   * its permissions, and is refused if they forbid writing.
   *
   * @param mode the permissions of a new file, less the process's umask.
   */
  constructor(target: string, mode: number) {
    const existing = lstatSync(target, { throwIfNoEntry: false });
    if (existing) accessSync(target, constants.W_OK);
    // Not derived from the target's name, which may already have the maximum length. The random part
    // avoids names of temporary files that a killed process left: process ids are reused.
    const random = randomBytes(6).toString("hex");
    this.#temporary = join(dirname(target), `.warpo-heap-analyzer-${process.pid}-${random}.tmp`);
    this.#target = target;
    const permissions = existing ? existing.mode & 0o777 : mode;
    this.descriptor = openSync(this.#temporary, CREATE_NEW, permissions);
    if (existing) restorePermissions(this.descriptor, permissions);
  }

  /** Gives the file its final name. It must be synced and closed. */
  publish(): void {
    renameSync(this.#temporary, this.#target);
    syncFolder(dirname(this.#target));
  }

  /** Removes the temporary file, if it exists. Never throws: an earlier error is more important. */
  discard(): void {
    try {
      unlinkSync(this.#temporary);
    } catch {
      // Renamed, or removed by another process.
    }
  }
}

/** Restores permissions that the umask removed, where the file system has permissions. */
function restorePermissions(file: number, permissions: number): void {
  try {
    fchmodSync(file, permissions);
  } catch {
    // The permissions stay stricter than before.
  }
}

/** Syncs a new name to the disk, where folders can be opened. */
function syncFolder(folder: string): void {
  try {
    const file = openSync(folder, constants.O_RDONLY);
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch {
    // The file's contents are on the disk; the system writes its name later.
  }
}

/** The path of the file that a chain of links leads to. The file need not exist yet. */
export function resolveSymlinks(path: string): string {
  const place = join(realpathSync(dirname(path)), basename(path));
  if (!lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink()) return place;
  const next = readlinkSync(place);
  return resolveSymlinks(isAbsolute(next) ? next : dirname(place) + sep + next);
}

/** Writes all bytes. One call may write fewer, for example when a disk is nearly full. */
export function writeFully(file: number, bytes: ArrayBufferLike, offset: number, length: number) {
  for (let done = 0; done < length; ) {
    const size = Math.min(CHUNK_SIZE, length - done);
    done += writeSync(file, new Uint8Array(bytes, offset + done, size));
  }
}

/** The reason of an error, without the path that Node adds: it is temporary, or the message has it already. */
export function reason(error: unknown): string {
  const { code, errno, message } = error as NodeJS.ErrnoException;
  const description = errno === undefined ? undefined : getSystemErrorMap().get(errno)?.[1];
  return description === undefined ? message : `${code}: ${description}`;
}
