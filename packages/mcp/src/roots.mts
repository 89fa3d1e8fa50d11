/**
 * The folders in which files may be read. The links of a path are resolved first, and what that gives must lie below a
 * folder. Then it is opened below that folder without following any link, so a link that is put there meanwhile leads
 * nowhere. Everything that is said about a file is read from its descriptor.
 */
import {
  type BigIntStats,
  closeSync,
  fstatSync,
  read,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { readdir, realpath } from "node:fs/promises";
import { isAbsolute, join, normalize, relative, resolve, sep } from "node:path";
import { promisify } from "node:util";
import { openBeneath } from "@warpo/heap-analyzer";
import { QuestionError } from "../../../js/served/errors.ts";
import { fileKind, hasNoModule, KIND_BYTES } from "../../../js/served/file_kind.ts";
import { unpackedSize } from "../../../js/served/unpacked_size.ts";
import { escapeUnprintable } from "../../../js/text.ts";

/** A file below a root. */
export interface RootFile {
  /** Without links. */
  real: string;
  /** As answers show it: relative if there is one root, and it lies there. */
  shown: string;
  /** What changes when the file is replaced or written. */
  identity: string;
  size: number;
  /** The bytes that it takes as a dump: more than its size for a coredump or a compressed file. */
  unpacked: number;
  /** When it was written, as an ISO date. */
  modified: string;
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

/** Folders without dumps, and with many files. */
const SKIPPED = new Set(["node_modules", ".git", "target"]);
/** A search looks at no more files and folders than this. */
const MOST_ENTRIES = 20_000;
const MOST_DEPTH = 8;
const LONGEST_PATH = 4096;
/** What opening fails with if a part of a path was removed, or replaced by a link. */
const REPLACED = new Set(["ENOENT", "ENOTDIR", "ELOOP", "EMLINK"]);

/** Reads from a descriptor. */
export const readFrom = promisify(read);

export class Roots {
  readonly #roots: string[];
  /** The folder to which shown paths are relative, if there is one. */
  readonly #base: string | undefined;

  /** Takes existing folders, and one into which the server itself writes. */
  constructor(folders: string[], own?: string) {
    const all = own === undefined ? folders : [...folders, own];
    this.#roots = all.map((folder) => {
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
    if (folders.length === 1) this.#base = this.#roots[0];
  }

  /** A file by a path that is absolute or relative to a root. Refuses what is outside of all roots. */
  async file(what: string, path: string): Promise<RootFile> {
    const real = await this.#resolved(what, path);
    const descriptor = this.#open(real);
    const found = descriptor === undefined ? undefined : inspected(descriptor);
    const { stats, unpacked } = found ?? {};
    if (stats === undefined || unpacked === undefined || !stats.isFile()) {
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
      unpacked,
      modified: stats.mtime.toISOString(),
    };
  }

  /**
   * Opens a file for the time of some work. Fails if it was replaced, written, or moved out of the roots since it was
   * found, or if that happens during the work.
   */
  async use<T>(file: RootFile, work: (descriptor: number) => Promise<T>): Promise<T> {
    const descriptor = this.#open(file.real);
    if (descriptor === undefined) throw changed(file.real);
    try {
      const check = () => {
        const isSame = identityOf(fstatSync(descriptor, { bigint: true })) === file.identity;
        if (!isSame) throw changed(file.real);
      };
      check();
      const result = await work(descriptor);
      check();
      return result;
    } finally {
      closeSync(descriptor);
    }
  }

  /** A descriptor of the file at a path without links; nothing for what is no file. */
  #open(real: string): number | undefined {
    const root = this.#roots.find((root) => isInside(root, real));
    const path = root === undefined ? "" : relative(root, real);
    if (root === undefined || path === "") return undefined;
    try {
      return openBeneath(root, path);
    } catch (error) {
      const { code } = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
      // Of a socket.
      if (code === "ENXIO") return undefined;
      throw code !== undefined && REPLACED.has(code) ? changed(real) : error;
    }
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
        // It may be gone meanwhile, or may not be read.
        const file = await this.file("file", at).catch(() => undefined);
        const kind = file && (await this.#kindOf(file).catch(() => undefined));
        if (file === undefined || kind === undefined) continue;
        const { shown, size, modified } = file;
        found.push({ isModule: kind === "module", file: { path: shown, size, modified } });
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

  /** Whether a file is of a kind that has no module: a heap snapshot of V8. */
  async needsNoModule(file: RootFile): Promise<boolean> {
    return hasNoModule(await this.#kindOf(file));
  }

  /** What a file is by its first bytes. */
  async #kindOf(file: RootFile) {
    return await this.use(file, async (descriptor) => {
      const start = Buffer.alloc(KIND_BYTES);
      await readFrom(descriptor, start, 0, KIND_BYTES, 0);
      return fileKind(start);
    });
  }

  /** The modules that lie beside a file; if there are none, those in the folder `build` there, where compilers write. */
  async modulesBeside(file: RootFile): Promise<string[]> {
    const folder = join(file.real, "..");
    const beside = await this.#modulesIn(folder);
    return beside.length > 0 ? beside : await this.#modulesIn(join(folder, "build"));
  }

  async #modulesIn(folder: string): Promise<string[]> {
    // There may be no such folder.
    const children = await readdir(folder).catch(() => []);
    const names = children.filter((name) => name.endsWith(".wasm")).sort();
    const files = names.map((name) => this.file("module", join(folder, name)).then(() => name));
    const found = await Promise.allSettled(files);
    // The folder may have been another when it was read: only what is below the roots is named.
    return found.flatMap((one) =>
      one.status === "fulfilled" ? [this.#shown(join(folder, one.value))] : [],
    );
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
    const base = this.#base;
    const shown = base !== undefined && isInside(base, real) ? relative(base, real) : real;
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

/** What the system says about an open file, which is closed, and the bytes that it takes as a dump. */
function inspected(descriptor: number): { stats: BigIntStats; unpacked: number } {
  try {
    const stats = fstatSync(descriptor, { bigint: true });
    const size = Number(stats.size);
    if (!stats.isFile()) return { stats, unpacked: size };
    const piece = (length: number, position: number) => {
      const bytes = Buffer.alloc(length);
      return bytes.subarray(0, readSync(descriptor, bytes, 0, length, position));
    };
    const end = piece(4, Math.max(size - 4, 0));
    return { stats, unpacked: unpackedSize(piece(KIND_BYTES, 0), end, size) };
  } finally {
    closeSync(descriptor);
  }
}

function changed(path: string): QuestionError {
  return new QuestionError("ERR_FILE_CHANGED", `${path} changed while it was read: open it again`);
}

function order(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** A text of a request for a message. */
export function shortened(text: string): string {
  const escaped = escapeUnprintable(text.slice(0, 200));
  return text.length > 200 ? `${escaped}…` : escaped;
}
