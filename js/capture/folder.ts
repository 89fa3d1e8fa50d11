// Holds on to a folder, so that nobody can put a link in its place while a dump is written into it.

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
 * Node cannot open a file relative to an open folder, but Linux has a path for every open file, and a
 * path that goes on from there does not look up how the folder was found.
 */
const OPEN_FILES = "/proc/self/fd";

/** To hold, not to list: takes no permission to read. Node does not name it. */
const O_PATH = 0o10000000;

const HOLD = O_PATH | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);

/**
 * An open folder. Where the system has no paths for open files, it is only its path, and
 * {@link isInPlace} is all that tells whether that still leads to it.
 */
export class Folder {
  /** Absolute and free of links, when it was found. */
  readonly path: string;
  readonly #file: number | undefined;

  private constructor(path: string, reachedBy: string) {
    this.path = path;
    this.#file = hold(reachedBy);
  }

  /** @param path absolute and free of links. */
  static at(path: string): Folder {
    return new Folder(path, path);
  }

  /** A folder in this one. Fails if a link has this name. */
  enter(name: string): Folder {
    return new Folder(join(this.path, name), this.entry(name));
  }

  /** The path by which to reach what has this name in the folder. */
  entry(name: string): string {
    return join(this.#file === undefined ? this.path : openFile(this.#file), name);
  }

  /** What has this name, created as a folder if there is nothing. */
  lookUpOrCreate(name: string): Stats {
    const found = lstatSync(this.entry(name), { throwIfNoEntry: false });
    if (found) return found;
    // Recursive only so that it is no error if somebody else creates it at the same time.
    mkdirSync(this.entry(name), { recursive: true });
    return lstatSync(this.entry(name));
  }

  /** Whether the path still leads here. */
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

/** Opens a folder, if it can then be reached as an open file. */
function hold(path: string): number | undefined {
  if (process.platform !== "linux") return undefined;
  // Node's own permissions are by path, and these paths are not among what one would allow.
  if (process.permission?.has("fs.write", OPEN_FILES) === false) return undefined;
  const file = openSync(path, HOLD);
  try {
    if (fstatSync(file).ino === statSync(openFile(file)).ino) return file;
  } catch {
    // There is no /proc here.
  }
  closeSync(file);
  return undefined;
}
