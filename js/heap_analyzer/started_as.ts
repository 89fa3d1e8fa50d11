/** How this process was started: what to run next is said in the same words. */
import { delimiter, dirname, isAbsolute, relative } from "node:path";
import { keptOutput } from "./kept_output.js";

const NAME = "warpo-heap-analyzer";

/** Where a process runs. */
export interface Surroundings {
  folder: string;
  /** The variable `PATH`. */
  path: string;
}

/** The beginning of a command that runs what runs now. */
export function startedAs(): string {
  if (keptOutput() !== undefined) return NAME;
  return commandOf(process.argv[1], { folder: process.cwd(), path: process.env.PATH ?? "" });
}

/** The beginning of a command that runs a script again: by npx if it is installed in a project, by name if it is found so. */
export function commandOf(script: string | undefined, { folder, path }: Surroundings): string {
  if (script === undefined || script === NAME) return NAME;
  // What npx fetched is not installed here, so the package has to be named.
  if (/[\\/]_npx[\\/]/.test(script)) return "npx @warpo/heap-analyzer";
  if (/[\\/]node_modules[\\/]\.bin[\\/]/.test(script)) return `npx ${NAME}`;
  if (!/\.[cm]?js$/.test(script)) {
    return path.split(delimiter).includes(dirname(script)) ? NAME : shellWord(near(script, folder));
  }
  // On Windows, the name in the PATH starts the script of the package.
  const [, project] = /^(.*)[\\/]node_modules[\\/]@warpo[\\/]heap-analyzer[\\/]/.exec(script) ?? [];
  if (project !== undefined) return isWithin(folder, project) ? `npx ${NAME}` : NAME;
  return `node ${shellWord(near(script, folder))}`;
}

/** A path from this folder, if it is in it or that is shorter. */
export function near(path: string, folder = process.cwd()): string {
  if (!isAbsolute(path)) return path;
  const short = relative(folder, path);
  return short !== "" && short.length < path.length ? short : path;
}

/** The name of a file as one word of a shell. */
export function shellWord(name: string): string {
  return /^[\w./:@%+,\\][\w./:@%+,=\\-]*$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
}

/** A command on lines of at most this many characters, which a shell continues; its arguments stay whole. */
export function continued(command: string, width: number | undefined, indent = "  "): string {
  const lines = [indent];
  for (const word of command.match(/(?:'[^']*'|\S)+/g) ?? []) {
    const last = lines[lines.length - 1] as string;
    const isFirst = last.trim() === "";
    const line = isFirst ? last + word : `${last} ${word}`;
    const isTooLong = width !== undefined && line.length + " \\".length > width;
    if (isFirst || !isTooLong) lines[lines.length - 1] = line;
    else lines.push(`${indent}  ${word}`);
  }
  return lines.join(" \\\n");
}

function isWithin(folder: string, outer: string): boolean {
  const inside = relative(outer, folder);
  return !inside.startsWith("..") && !isAbsolute(inside);
}
