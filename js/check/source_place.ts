/** Where the constructor of what grows is, as a file of the repository in which a check runs. */
import { existsSync } from "node:fs";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { GrowingPlace } from "../../index.js";

/** A line of a file, whose path is seen from the working directory. */
export interface CodePlace {
  file: string;
  line: number;
  column: number;
}

/** The place in the code; `undefined` if it is not known, or not a file of this folder outside of its packages. */
export function codePlace({ source }: GrowingPlace): CodePlace | undefined {
  if (source === undefined) return undefined;
  const path = filePath(source.file);
  if (path === undefined || !(isAbsolute(path) || isInFolder(path))) return undefined;
  const file = relative(process.cwd(), resolve(path));
  const steps = file.split(sep);
  if (isAbsolute(file) || steps[0] === ".." || steps.includes("node_modules")) return undefined;
  return { file, line: source.line, column: source.column };
}

/** The path of a script, which ES modules have as a URL. */
function filePath(script: string): string | undefined {
  if (!script.startsWith("file:")) return script;
  try {
    return fileURLToPath(script);
  } catch {
    return undefined;
  }
}

/** Whether a file that a source map names is in this folder: `asc` names files by their place in its project. */
function isInFolder(path: string): boolean {
  return existsSync(resolve(path));
}
