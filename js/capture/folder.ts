// Keeps a folder open, so that a dump is written into it even if another process replaces its path by a link.

import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  type Stats,
  statSync,
} from "node:fs";
import { join } from "node:path";

/**
 * Node cannot open a file relative to an open folder. Linux has a path for every open file, and this path
 * leads to the open folder even if the folder was renamed or replaced.
 */
const OPEN_FILES = "/proc/self/fd";

/** Opens a folder that the process cannot list. Node has no constant for this flag. */
const O_PATH = 0o10000000;

const HOLD = O_PATH | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);

/**
 * An open folder. On a system without paths for open files it is only a path; {@link isInPlace} then
 * detects that another folder has replaced it.
 */
export class Folder {
  /** Absolute; without links at the time when the folder was found. */
  readonly path: string;
  readonly #file: number | undefined;

  private constructor(path: string, reachedBy: string) {
    this.path = path;
    this.#file = hold(reachedBy);
  }

  /** @param path absolute and without links. */
  static at(path: string): Folder {
    return new Folder(path, path);
  }

  /** A folder in this one. Fails if a link has this name. */
  enter(name: string): Folder {
    return new Folder(join(this.path, name), this.entry(name));
  }

  /** The path of the entry with this name in the folder. */
  entry(name: string): string {
    return join(this.#file === undefined ? this.path : openFile(this.#file), name);
  }

  /** The entry with this name. Creates a folder if there is none. */
  lookUpOrCreate(name: string): Stats {
    const found = lstatSync(this.entry(name), { throwIfNoEntry: false });
    if (found) return found;
    // With `recursive`, it is not an error if another process creates the folder at the same time.
    mkdirSync(this.entry(name), { recursive: true });
    return lstatSync(this.entry(name));
  }

  /** Whether the path still leads to this folder. */
  isInPlace(): boolean {
    return this.#file === undefined
      ? realpathSync(this.path) === this.path
      : isSame(openFile(this.#file), this.path);
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
  }
}

/** Whether both paths lead to the same folder. */
function isSame(path: string, other: string): boolean {
  const [one, two] = [path, other].map((each) => statSync(each, { bigint: true }));
  return one?.dev === two?.dev && one?.ino === two?.ino;
}

function openFile(file: number): string {
  return `${OPEN_FILES}/${file}`;
}

/** Opens a folder, if the system has paths for open files. */
function hold(path: string): number | undefined {
  if (process.platform !== "linux") return undefined;
  // Node's permission model checks paths, and users rarely allow these.
  if (process.permission?.has("fs.write", OPEN_FILES) === false) return undefined;
  const file = openSync(path, HOLD);
  try {
    if (fstatSync(file).ino === statSync(openFile(file)).ino) return file;
  } catch {
    // The system has no /proc.
  }
  closeSync(file);
  return undefined;
}
