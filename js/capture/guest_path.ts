// The path of a dump that the guest chose, and that must not leave the folder that the host chose.
//
// The rules are the same on every system, so that a program that works on one works on all, and so
// that a dump folder can be shared: what any system would take for something else than a plain
// name below the folder is refused.

import { lstatSync, mkdirSync, realpathSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";

import { CaptureError, quote } from "./errors.js";

/** Longest path in bytes of UTF-8, and longest name in it. */
const MAX_PATH_BYTES = 4096;
const MAX_NAME_BYTES = 255;

/** Names that Windows gives to devices, with any extension. */
const DEVICE_NAME = /^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])\s*(\.|$)/i;

/**
 * Reads the path that a guest passes as an address and a size in bytes, and checks it by its text.
 *
 * @returns the names from the folder down to the file; at least one.
 * @throws {CaptureError} `ERR_DUMP_PATH`.
 */
export function readGuestPath(memory: ArrayBufferLike, address: number, size: number): string[] {
  // Wasm hands i32 to JavaScript as signed numbers; addresses are not.
  const start = address >>> 0;
  const length = size >>> 0;
  if (start + length > memory.byteLength) {
    throw new CaptureError(
      "ERR_DUMP_PATH",
      `the program passes a dump path of ${length} bytes at address ${start}, ` +
        `which is outside its memory of ${memory.byteLength} bytes`,
    );
  }
  if (length > MAX_PATH_BYTES) {
    throw new CaptureError(
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

/** The names in a guest's path, if all of them are harmless. */
export function splitGuestPath(path: string): string[] {
  if (path === "") {
    throw refusal(path, "it is empty");
  }
  if (/\p{Cc}/u.test(path)) {
    throw refusal(path, "it contains a control character");
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
      throw refusal(path, "it contains a colon, which Windows takes for a drive or a stream");
    }
    if (/[. ]$/.test(name)) {
      throw refusal(path, `the name ${quote(name)} ends in a dot or a space, which Windows drops`);
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

/** A place for a dump below the dump folder. */
export interface Place {
  /** Absolute, and free of links down to the last folder. */
  target: string;
  /** Throws if the target's folder has been replaced since. */
  checkFolder: () => void;
}

/**
 * Walks down from the dump folder, creates what is missing and follows no link out of it.
 *
 * A link in the folder to another place in the folder is fine. The last name may not be a link.
 * Another process of the same user that keeps replacing folders by links is noticed before and
 * after the data is written; Node has no call that would exclude it altogether.
 *
 * @throws {CaptureError} `ERR_DUMP_PATH`; system errors come through as they are.
 */
export function findPlace(directory: string, names: readonly string[]): Place {
  const path = names.join("/");
  mkdirSync(directory, { recursive: true });
  const root = realpathSync(directory);

  let folder = root;
  for (const name of names.slice(0, -1)) {
    folder = enter(root, folder, name, path);
  }
  const target = join(folder, names[names.length - 1] ?? "");
  const existing = lstatSync(target, { throwIfNoEntry: false });
  if (existing?.isSymbolicLink()) {
    throw refusal(path, "it is a symbolic link");
  }
  if (existing && !existing.isFile()) {
    throw refusal(path, "it exists and is not a regular file");
  }
  const checkFolder = () => {
    if (realpathSync(folder) !== folder) {
      throw refusal(path, "its folder was replaced while the dump was written");
    }
  };
  return { target, checkFolder };
}

/** The real path of the folder `name` in `parent`, created if it is missing. */
function enter(root: string, parent: string, name: string, path: string): string {
  const folder = join(parent, name);
  let found = lstatSync(folder, { throwIfNoEntry: false });
  if (!found) {
    // Recursive only so that it is no error if somebody else creates it at the same time.
    mkdirSync(folder, { recursive: true });
    found = lstatSync(folder);
  }
  if (found.isDirectory()) {
    return folder;
  }
  if (!found.isSymbolicLink()) {
    throw refusal(path, `${quote(name)} is not a folder`);
  }
  const real = realpathSync(folder);
  if (!isInside(root, real)) {
    throw refusal(path, `${quote(name)} is a symbolic link out of the dump folder`);
  }
  if (!lstatSync(real).isDirectory()) {
    throw refusal(path, `${quote(name)} is not a folder`);
  }
  return real;
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function refusal(path: string, reason: string): CaptureError {
  return new CaptureError(
    "ERR_DUMP_PATH",
    `the program's dump path ${quote(path)} is refused: ${reason}`,
  );
}
