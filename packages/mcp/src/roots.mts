/**
 * The folders in which files may be read. A path is checked after its links are resolved, and a file is
 * checked again after it was opened, because links can be replaced meanwhile.
 */
import { type BigIntStats, constants, realpathSync, statSync } from "node:fs";
import { open, readdir, realpath, stat } from "node:fs/promises";
import { isAbsolute, join, normalize, relative, resolve, sep } from "node:path";
import { escapeUnprintable } from "../../../js/text.ts";
import { QuestionError } from "./errors.mts";

/** A file below a root. */
export interface RootFile {
  /** Without links. */
  real: string;
  /** As answers show it: relative if there is one root. */
  shown: string;
  /** What changes when the file is replaced or written. */
  identity: string;
  size: number;
}

/** A file that a search found. */
export interface FoundFile {
  path: string;
  size: number;
  modified: string;
}

/** What a search for dumps found. */
export interface Listing {
  dumps: FoundFile[];
  modules: FoundFile[];
  /** Whether the search ended early. */
  isIncomplete: boolean;
}

/** The first bytes of dumps and of WebAssembly modules. */
/** By the first bytes. A heap snapshot of V8 begins with its part `snapshot`. */
const KINDS = new Map<string, "dump" | "snapshot" | "module">([
  ["ASHD", "dump"],
  ['{"sn', "snapshot"],
  ["\0asm", "module"],
]);
/** Folders without dumps, and with many files. */
const SKIPPED = new Set(["node_modules", ".git", "target"]);
/** A search looks at no more files and folders than this. */
const MOST_ENTRIES = 20_000;
const MOST_DEPTH = 8;
const LONGEST_PATH = 4096;
/** Links and pipes that replaced a file after it was resolved are not followed, and not waited for. */
export const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

export class Roots {
  readonly #roots: string[];

  /** Takes existing folders. */
  constructor(folders: string[]) {
    this.#roots = folders.map((folder) => {
      let real: string;
      try {
        real = realpathSync(folder);
      } catch (error) {
        throw new QuestionError("ERR_ROOT", `the root ${folder}: ${(error as Error).message}`);
      }
      if (!statSync(real).isDirectory()) {
        throw new QuestionError("ERR_ROOT", `the root ${folder} is not a folder`);
      }
      return real;
    });
  }

  /** A file by a path that is absolute or relative to a root. Refuses what is outside of all roots. */
  async file(what: string, path: string): Promise<RootFile> {
    const real = await this.#resolved(what, path);
    const stats = await stat(real, { bigint: true });
    if (!stats.isFile()) {
      throw new QuestionError(
        "ERR_NOT_A_FILE",
        `the ${what} ${shortened(path)} is not a regular file`,
      );
    }
    return {
      real,
      shown: this.#shown(real),
      identity: identityOf(stats),
      size: Number(stats.size),
    };
  }

  /** Fails if the file was replaced, written, or moved out of the roots since it was resolved. */
  async recheck(file: RootFile): Promise<void> {
    const changed = () =>
      new QuestionError(
        "ERR_FILE_CHANGED",
        `${file.shown} changed while it was read: open it again`,
      );
    const now = await realpath(file.real).catch(() => {
      throw changed();
    });
    if (now !== file.real || !this.#contains(now)) throw changed();
    const stats = await stat(now, { bigint: true });
    if (identityOf(stats) !== file.identity) throw changed();
  }

  /** Dumps (heap snapshots of V8 too) and modules in a folder and below, the newest first. Links to folders are not followed. */
  async list(folder: string | undefined, signal: AbortSignal): Promise<Listing> {
    const starts = folder === undefined ? this.#roots : [await this.#resolved("folder", folder)];
    const found: { file: FoundFile; isModule: boolean }[] = [];
    let entries = 0;
    let isIncomplete = false;
    const queue = starts.map((path) => ({ path, depth: 0 }));
    for (const { path, depth } of queue) {
      // A folder that cannot be read has nothing to offer.
      const children = await readdir(path, { withFileTypes: true }).catch(() => []);
      for (const child of children.sort((one, other) => (one.name < other.name ? -1 : 1))) {
        signal.throwIfAborted();
        if (++entries > MOST_ENTRIES) {
          isIncomplete = true;
          break;
        }
        const at = join(path, child.name);
        if (child.isDirectory() && !SKIPPED.has(child.name)) {
          if (depth < MOST_DEPTH) queue.push({ path: at, depth: depth + 1 });
          else isIncomplete = true;
        }
        // A name that has to be escaped cannot be given back as it is.
        if (!child.isFile() || escapeUnprintable(at) !== at) continue;
        const kind = await kindOf(at);
        if (kind === undefined) continue;
        // It may be gone meanwhile.
        const stats = await stat(at).catch(() => undefined);
        if (stats === undefined) continue;
        const { size, mtime } = stats;
        const file = { path: this.#shown(at), size, modified: mtime.toISOString() };
        found.push({ isModule: kind === "module", file });
      }
      if (entries > MOST_ENTRIES) break;
    }
    const newest = (areModules: boolean) =>
      found
        .filter(({ isModule }) => isModule === areModules)
        .map(({ file }) => file)
        .sort((one, other) => order(other.modified, one.modified) || order(one.path, other.path));
    return { dumps: newest(false), modules: newest(true), isIncomplete };
  }

  /** Whether a file is a heap snapshot of V8, which has no module. */
  async isSnapshot(file: RootFile): Promise<boolean> {
    return (await kindOf(file.real)) === "snapshot";
  }

  /** The modules that lie beside a file. */
  async modulesBeside(file: RootFile): Promise<string[]> {
    const folder = join(file.real, "..");
    const names = (await readdir(folder)).filter((name) => name.endsWith(".wasm")).sort();
    return names.map((name) => this.#shown(join(folder, name)));
  }

  async #resolved(what: string, path: string): Promise<string> {
    if (path === "" || path.includes("\0") || path.length > LONGEST_PATH) {
      throw new QuestionError("ERR_INVALID_PATH", `the ${what} ${shortened(path)} is not a path`);
    }
    const candidates = isAbsolute(path)
      ? [normalize(path)]
      : this.#roots.map((root) => resolve(root, path));
    const inside = candidates.filter((candidate) => this.#contains(candidate));
    // The file system is not asked about anything else.
    if (inside.length === 0) throw this.#outside(what, path);
    for (const candidate of inside) {
      let real: string;
      try {
        real = await realpath(candidate);
      } catch {
        continue;
      }
      if (!this.#contains(real)) throw this.#outside(what, path);
      return real;
    }
    throw new QuestionError(
      "ERR_NO_FILE",
      `there is no ${what} ${shortened(path)} below the roots: list_dumps lists the dumps`,
    );
  }

  #outside(what: string, path: string): QuestionError {
    return new QuestionError(
      "ERR_OUTSIDE_ROOTS",
      `the ${what} ${shortened(path)} is outside of the folders that were allowed with --root`,
    );
  }

  #contains(path: string): boolean {
    return this.#roots.some((root) => isInside(root, path));
  }

  #shown(real: string): string {
    const [root, ...others] = this.#roots;
    const shown = root !== undefined && others.length === 0 ? relative(root, real) : real;
    return shown.split(sep).join("/");
  }
}

/** Whether a path is a folder or lies below it. Both are absolute and normal. */
export function isInside(folder: string, path: string): boolean {
  const from = relative(folder, path);
  return from === "" || (!isAbsolute(from) && from !== ".." && !from.startsWith(`..${sep}`));
}

export function identityOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(":");
}

/** What a file is by its first bytes; none of these if it cannot be read. */
async function kindOf(path: string): Promise<"dump" | "snapshot" | "module" | undefined> {
  try {
    const file = await open(path, READ);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
      const magic = buffer.toString("latin1", 0, bytesRead);
      return KINDS.get(magic);
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}

function order(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** A text of a request for a message. */
export function shortened(text: string): string {
  const escaped = escapeUnprintable(text.slice(0, 200));
  return text.length > 200 ? `${escaped}…` : escaped;
}
