/**
 * Files that are there whole or not at all: written under a temporary name in the same folder,
 * brought to the disk, and only then renamed.
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
 * One write covers at most this many bytes. The system refuses writes of 2 GiB and more, and a
 * single view of a 4 GiB memory is not possible in every Node version.
 */
const CHUNK_SIZE = 64 * 1024 * 1024;

/** Neither follow a link nor open what is there already: the file must be ours from the start. */
const CREATE_NEW =
  constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

/** A file that has not got its name yet. */
export class AtomicFile {
  /** Open for writing. The writer closes it. */
  readonly descriptor: number;
  readonly #temporary: string;
  readonly #target: string;

  /**
   * Creates a temporary file beside `target`, which must not be a link. A file that is there keeps
   * its permissions, and is refused if they forbid to write to it.
   *
   * @param mode the permissions of a new file, less the process's umask.
   */
  constructor(target: string, mode: number) {
    const existing = lstatSync(target, { throwIfNoEntry: false });
    if (existing) accessSync(target, constants.W_OK);
    // Not made from the target's name, which may already be as long as names can be. The random part
    // is for temporary files that a killed process left behind: process ids come again.
    const random = randomBytes(6).toString("hex");
    this.#temporary = join(dirname(target), `.warpo-heap-analyzer-${process.pid}-${random}.tmp`);
    this.#target = target;
    const permissions = existing ? existing.mode & 0o777 : mode;
    this.descriptor = openSync(this.#temporary, CREATE_NEW, permissions);
    if (existing) restorePermissions(this.descriptor, permissions);
  }

  /** Gives the file its name, when it is on the disk and closed. */
  publish(): void {
    renameSync(this.#temporary, this.#target);
    syncFolder(dirname(this.#target));
  }

  /** Removes the file, if it has not got its name. Never throws: what failed before says more. */
  discard(): void {
    try {
      unlinkSync(this.#temporary);
    } catch {
      // Renamed, or removed by another process.
    }
  }
}

/** Undoes what the umask took away, where the file system has permissions. */
function restorePermissions(file: number, permissions: number): void {
  try {
    fchmodSync(file, permissions);
  } catch {
    // Then they are stricter than they were.
  }
}

/** Brings a new name to the disk, where folders can be opened. */
function syncFolder(folder: string): void {
  try {
    const file = openSync(folder, constants.O_RDONLY);
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch {
    // The file itself is on the disk; the system writes its name when it likes.
  }
}

/** The path of the file that a chain of links leads to. The file need not exist yet. */
export function resolveSymlinks(path: string): string {
  const place = join(realpathSync(dirname(path)), basename(path));
  if (!lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink()) return place;
  const next = readlinkSync(place);
  return resolveSymlinks(isAbsolute(next) ? next : dirname(place) + sep + next);
}

/** Writes all bytes. The system may take fewer at a time, as when a disk is nearly full. */
export function writeFully(file: number, bytes: ArrayBufferLike, offset: number, length: number) {
  for (let done = 0; done < length; ) {
    const size = Math.min(CHUNK_SIZE, length - done);
    done += writeSync(file, new Uint8Array(bytes, offset + done, size));
  }
}

/** What went wrong, without the paths that Node adds: they are temporary, or said already. */
export function reason(error: unknown): string {
  const { code, errno, message } = error as NodeJS.ErrnoException;
  const description = errno === undefined ? undefined : getSystemErrorMap().get(errno)?.[1];
  return description === undefined ? message : `${code}: ${description}`;
}
