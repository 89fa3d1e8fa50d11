// Checks the path of a dump that the guest program chose: it must not leave the folder that the host chose.
//
// The rules are the same on every system, so that a program behaves the same on all of them, and a dump
// folder can be shared. A path is refused if on any system it is not a plain name below the folder, or if
// it can look like another name.

import { lstatSync, mkdirSync, realpathSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";

import { HeapAnalyzerError } from "../errors.js";
import { Folder } from "./folder.js";
import { quote } from "./quote.js";

/** The longest path and the longest name in it, in bytes of UTF-8: the limits of Linux. */
const MAX_PATH_BYTES = 4095;
const MAX_NAME_BYTES = 255;

/** Names that Windows gives to devices, with any extension. */
const DEVICE_NAME = /^(con|prn|aux|nul|clock\$|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])\s*(\.|$)/i;

/** Characters that Windows does not allow in names, or reads as wildcards. */
const WINDOWS_SYNTAX = /[*?|<>"]/;

/**
 * Invisible characters, which make different names look the same, and characters that change the
 * direction of the text after them. U+2800 is a blank that Unicode counts as a symbol.
 */
const INVISIBLE = /[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;

/**
 * Reads the path that a guest passes as an address and a size in bytes, and checks it by its text.
 *
 * @returns the names from the folder down to the file; at least one.
 * @throws {HeapAnalyzerError} `ERR_DUMP_PATH`.
 */
export function readGuestPath(memory: ArrayBufferLike, address: unknown, size: unknown): string[] {
  const start = unsigned(address);
  const length = unsigned(size);
  if (start + length > memory.byteLength) {
    throw new HeapAnalyzerError(
      "ERR_DUMP_PATH",
      `the program passes a dump path of ${length} bytes at address ${start}, ` +
        `which is outside its memory of ${memory.byteLength} bytes`,
    );
  }
  if (length > MAX_PATH_BYTES) {
    throw new HeapAnalyzerError(
      "ERR_DUMP_PATH",
      `the program passes a dump path of ${length} bytes at address ${start}; at most ${MAX_PATH_BYTES} are allowed`,
    );
  }
  // A copy, because another thread may change a shared memory between check and use.
  const bytes = Uint8Array.from(new Uint8Array(memory, start, length));
  let path: string;
  try {
    path = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refusal(new TextDecoder().decode(bytes), "it is not valid UTF-8");
  }
  return splitGuestPath(path);
}

/** An i32 as an u32. A program may import the function with any types, so the type is checked. */
function unsigned(value: unknown): number {
  if (typeof value !== "number" || (value >>> 0 !== value && (value | 0) !== value)) {
    throw new HeapAnalyzerError(
      "ERR_INVALID_ARG_TYPE",
      "dumpMemoryRegion takes the address and the size of a path as two numbers of type i32",
    );
  }
  return value >>> 0;
}

/** The names in a guest's path, if all of them are harmless. */
export function splitGuestPath(path: string): string[] {
  if (path === "") {
    throw refusal(path, "it is empty");
  }
  if (/\p{Cc}/u.test(path)) {
    throw refusal(path, "it contains a control character");
  }
  const invisible = INVISIBLE.exec(path)?.[0];
  if (invisible !== undefined) {
    const codePoint = (invisible.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    throw refusal(path, `it contains the invisible character U+${codePoint}`);
  }
  if (path.includes("\\")) {
    throw refusal(path, "it contains a backslash; write / between folders");
  }
  if (path.startsWith("/") || /^[a-z]:/i.test(path)) {
    throw refusal(path, "it is absolute; give a path relative to the dump folder");
  }
  if (path.endsWith("/")) {
    throw refusal(path, "it ends in a slash, so it names a folder");
  }
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  if (names.length === 0) {
    throw refusal(path, "it names the dump folder itself");
  }
  for (const name of names) {
    if (name === "..") {
      throw refusal(path, "it contains ..");
    }
    if (name.includes(":")) {
      throw refusal(path, "it contains a colon, which names a drive or a stream on Windows");
    }
    const syntax = WINDOWS_SYNTAX.exec(name)?.[0];
    if (syntax !== undefined) {
      throw refusal(path, `it contains ${syntax}, which Windows does not allow in names`);
    }
    if (/[.\p{Zs}]$/u.test(name)) {
      throw refusal(
        path,
        `the name ${quote(name)} ends in a dot or a space, which Windows removes`,
      );
    }
    if (DEVICE_NAME.test(name)) {
      throw refusal(path, `${quote(name)} is the name of a device on Windows`);
    }
    if (Buffer.byteLength(name) > MAX_NAME_BYTES) {
      throw refusal(path, `a name in it has more than ${MAX_NAME_BYTES} bytes`);
    }
  }
  return names;
}

/** The file of a dump below the dump folder. */
export interface Place {
  /** The path to write to. Valid until `leave` is called. */
  target: string;
  /** The path for messages: absolute, and its folders are not links. */
  path: string;
  /** Throws if the path no longer leads to the folder that was found. */
  checkFolder: () => void;
  /** Must be called when the dump is written. */
  leave: () => void;
}

/**
 * Walks down from the dump folder. Creates missing folders, and follows no link out of the dump folder.
 *
 * A link to another place in the dump folder is allowed, but not as the last name. On Linux each folder
 * is held open, so another process cannot redirect the dump by replacing folders by links. On other
 * systems, Node cannot prevent this; a replacement is detected before and after the data is written.
 *
 * @throws {HeapAnalyzerError} `ERR_DUMP_PATH`; errors of the system are not changed.
 */
export function findPlace(directory: string, names: readonly string[]): Place {
  mkdirSync(directory, { recursive: true });
  const walk = new Walk(realpathSync(directory), names);
  try {
    for (const name of names.slice(0, -1)) walk.enter(name);
    return walk.arrive(names[names.length - 1] ?? "");
  } catch (error) {
    walk.folder.close();
    throw error;
  }
}

/** The walk down from the dump folder. */
class Walk {
  /** The current folder. */
  folder: Folder;
  readonly #root: string;
  readonly #path: string;

  constructor(root: string, names: readonly string[]) {
    this.#root = root;
    this.#path = names.join("/");
    if (Buffer.byteLength(join(root, ...names)) > MAX_PATH_BYTES) {
      throw this.#refusal(`with the dump folder, it has more than ${MAX_PATH_BYTES} bytes`);
    }
    this.folder = Folder.at(root);
  }

  /** Goes into a folder, or through a link to another place in the dump folder. */
  enter(name: string): void {
    const found = this.folder.lookUpOrCreate(name);
    if (!found.isSymbolicLink()) {
      if (!found.isDirectory()) throw this.#refusal(`${quote(name)} is not a folder`);
      this.#goTo(this.folder.enter(name));
      return;
    }
    const real = realpathSync(this.folder.entry(name));
    if (!isInside(this.#root, real)) {
      throw this.#refusal(`${quote(name)} is a symbolic link out of the dump folder`);
    }
    if (!lstatSync(real).isDirectory()) throw this.#refusal(`${quote(name)} is not a folder`);
    this.#goTo(Folder.at(this.#root));
    // This path had no links, so a link on it is new and is not followed.
    for (const step of relative(this.#root, real).split(sep)) {
      if (step !== "") this.#goTo(this.folder.enter(step));
    }
  }

  /** Ends the walk at the file with this name. */
  arrive(name: string): Place {
    const { folder } = this;
    const existing = lstatSync(folder.entry(name), { throwIfNoEntry: false });
    if (existing?.isSymbolicLink()) throw this.#refusal("it is a symbolic link");
    if (existing && !existing.isFile()) {
      throw this.#refusal("it exists and is not a regular file");
    }
    return {
      target: folder.entry(name),
      path: join(folder.path, name),
      checkFolder: () => {
        if (!folder.isInPlace()) {
          throw this.#refusal("its folder was replaced while the dump was written");
        }
      },
      leave: () => folder.close(),
    };
  }

  #goTo(folder: Folder): void {
    this.folder.close();
    this.folder = folder;
  }

  #refusal(reason: string): HeapAnalyzerError {
    return refusal(this.#path, reason);
  }
}

function isInside(root: string, path: string): boolean {
  const steps = relative(root, path);
  return steps !== ".." && !steps.startsWith(`..${sep}`) && !isAbsolute(steps);
}

function refusal(path: string, reason: string): HeapAnalyzerError {
  return new HeapAnalyzerError(
    "ERR_DUMP_PATH",
    `the program's dump path ${quote(path)} is refused: ${reason}`,
  );
}
