/** The files of this machine that the names of files in heaps and source maps stand for. */
import { existsSync } from "node:fs";
import { dirname, isAbsolute, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** Where AssemblyScript's standard library is, below a folder with its package. */
const LIBRARY = "node_modules/assemblyscript/std/assembly";
/** Folders above that of a module or dump that are looked at outside of a workspace. */
const MOST_ABOVE = 3;

/** The folders that a relative name may start from, the nearest first: those above a file, and the workspace's. */
export function basesOf(file: string, workspace: readonly string[]): string[] {
  const bases: string[] = [];
  const root = workspace.find((folder) => isBelow(folder, file));
  let folder = dirname(file);
  while (bases.length < MOST_ABOVE || root !== undefined) {
    bases.push(folder);
    const above = dirname(folder);
    if (folder === root || above === folder) break;
    folder = above;
  }
  return [...new Set([...bases, ...workspace])];
}

/** The path of a file of the source that exists; undefined if there is none. */
export function sourcePath(file: string, bases: readonly string[]): string | undefined {
  const names = namesOf(file);
  for (const name of names) {
    if (isAbsolute(name)) return existsSync(name) ? name : undefined;
    for (const base of bases) {
      const path = join(base, name);
      if (existsSync(path)) return path;
    }
  }
  return undefined;
}

/** What a file can be called below a folder. */
function namesOf(file: string): string[] {
  if (file.startsWith("file:")) {
    try {
      return [fileURLToPath(file)];
    } catch {
      return [];
    }
  }
  // Names of other kinds, such as `node:fs`, are no files.
  if (/^[a-z][a-z+.-]+:/i.test(file)) return [];
  const inLibrary = /^~lib\/(.*)$/s.exec(file)?.[1];
  if (inLibrary !== undefined) return [`${LIBRARY}/${inLibrary}`, `node_modules/${inLibrary}`];
  return [file];
}

function isBelow(folder: string, file: string): boolean {
  const path = relative(folder, file);
  return !path.startsWith("..") && !isAbsolute(path);
}
