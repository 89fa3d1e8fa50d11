/** The files of this machine that the names of files in heaps and source maps stand for. */
import { realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** Where AssemblyScript's standard library is, below a folder with its package. */
const LIBRARY = "node_modules/assemblyscript/std/assembly";
/** A larger file is not read: no editor shows it well. */
const MOST_BYTES = 16 * 1024 * 1024;

/** The folders of the workspace that a relative name may start from, the nearest first: those above a file, and its roots. */
export function basesOf(file: string, workspace: readonly string[]): string[] {
  const bases: string[] = [];
  const root = workspace.find((folder) => isBelow(folder, file));
  for (let folder = dirname(file); root !== undefined; folder = dirname(folder)) {
    bases.push(folder);
    if (folder === root || dirname(folder) === folder) break;
  }
  return [...new Set([...bases, ...workspace])];
}

/** The path of a file of the source below the workspace's folders; undefined if there is none. */
export function sourcePath(
  file: string,
  bases: readonly string[],
  workspace: readonly string[],
): string | undefined {
  for (const name of namesOf(file)) {
    const paths = isAbsolute(name) ? [name] : bases.map((base) => join(base, name));
    const found = paths.find((path) => isSource(path, workspace));
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Whether a path is that of a file below the workspace's folders, also where links lead. Heaps and source maps are not
 * trusted: they may name a device, another machine, or a file with secrets.
 */
export function isSource(path: string, workspace: readonly string[]): boolean {
  // Before the system looks: a path of Windows can name another machine, which would be asked.
  if (!workspace.some((folder) => isBelow(folder, path))) return false;
  try {
    const real = realpathSync(path);
    if (!workspace.some((folder) => isBelow(realpathSync(folder), real))) return false;
    const found = statSync(real);
    return found.isFile() && found.size <= MOST_BYTES;
  } catch {
    return false;
  }
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
  return path !== ".." && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}
