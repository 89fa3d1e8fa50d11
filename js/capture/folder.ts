// Keeps a folder open, so that no other process can replace it by a link while a dump is written into it.

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
 * Node cannot open a file relative to an open folder. But Linux has a path for every open file, and a
 * path below it starts at the open folder itself, not at its name.
 */
const OPEN_FILES = "/proc/self/fd";

/** Opens without permission to read, as the folder is not listed. Node has no constant for it. */
const O_PATH = 0o10000000;

const HOLD = O_PATH | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);

/**
 * An open folder. On a system without paths for open files it is only a path, and only
 * {@link isInPlace} shows that another folder has replaced it.
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

  /** The path of the entry with this name in the folder. */
  entry(name: string): string {
    return join(this.#file === undefined ? this.path : openFile(this.#file), name);
  }

  /** The entry with this name. Creates a folder if there is none. */
  lookUpOrCreate(name: string): Stats {
    const found = lstatSync(this.entry(name), { throwIfNoEntry: false });
    if (found) return found;
    // Recursive, as it is then not an error if another process creates it at the same time.
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
  // Node's permission model goes by paths, and users do not think of allowing these.
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
