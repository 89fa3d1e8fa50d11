/** Checks before reading that the inputs and the output of a command can be used together. */
import { type BigIntStats, fstatSync, statSync } from "node:fs";
import type * as native from "../native.js";

/** Stands for standard input where a file is expected. */
export const STANDARD_INPUT = "-";

/** The file that an argument names, for the addon. */
export function inputFile(argument: string): native.FileData {
  return argument === STANDARD_INPUT ? {} : { path: argument };
}

/** The file of a dump, which is raw memory if `--raw` says so. */
export function dumpFile(argument: string, { raw }: { raw?: unknown }): native.FileData {
  const file = inputFile(argument);
  return raw === undefined || raw === false ? file : { ...file, raw: true };
}

/** The file of `--wasm`, if there is one. */
export function moduleFile(argument: string | undefined): native.FileData | undefined {
  return argument === undefined ? undefined : inputFile(argument);
}

const STDIN = 0;
const STDOUT = 1;

/** Refuses inputs that are the same pipe, and an output that is the same file as an input, also by another path. */
export function checkInputs(inputs: readonly string[], output: string | undefined): void {
  const sources = inputs.map((path) => ({ path, status: statusOf(path) }));
  for (const [nth, { path, status }] of sources.entries()) {
    // Standard input can be read only once, even if it is a file.
    const isStream = status?.isFIFO() || status?.isSocket() || path === STANDARD_INPUT;
    const isSameStream = (other: (typeof sources)[number]) =>
      isStream && (isSame(other.status, status) || other.path === path);
    const earlier = sources.slice(0, nth).find(isSameStream);
    if (earlier !== undefined) {
      const found =
        earlier.path === path ? "is given twice" : `is the same pipe as ${shown(earlier.path)}`;
      throw new Error(
        `${shown(path)} ${found}: a pipe can be read only once; ` +
          "write one of the two inputs to a file, or use two pipes",
      );
    }
  }
  if (output === undefined) return;
  const target = statusOf(output);
  const source = sources.find(({ status }) => isSame(status, target));
  // A terminal or another device can be read and written.
  if (source !== undefined && !target?.isCharacterDevice()) {
    throw new Error(`--output ${output} is the input ${source.path}: choose another file`);
  }
}

/** Whether a path names the file of standard output, such as `/dev/stdout`. */
export function isStandardOutput(path: string): boolean {
  try {
    return isSame(statSync(path, { bigint: true }), fstatSync(STDOUT, { bigint: true }));
  } catch {
    return false;
  }
}

/** The status of a file; undefined if it cannot be read. Opening the file then gives the error. */
function statusOf(path: string): BigIntStats | undefined {
  try {
    return path === STANDARD_INPUT
      ? fstatSync(STDIN, { bigint: true })
      : statSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}

function isSame(one: BigIntStats | undefined, other: BigIntStats | undefined): boolean {
  return one !== undefined && one.dev === other?.dev && one.ino === other.ino;
}

function shown(path: string): string {
  return path === STANDARD_INPUT ? "standard input" : path;
}
