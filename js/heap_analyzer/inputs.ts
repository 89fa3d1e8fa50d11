/** Checks that inputs and output of a command can be used together, before any of them is read. */
import { type BigIntStats, fstatSync, statSync } from "node:fs";

/** Stands for standard input where a file is expected. */
export const STANDARD_INPUT = "-";

const STDIN = 0;
const STDOUT = 1;

/** Refuses standard input as two inputs, and an output that is one of the inputs, by whatever path. */
export function checkInputs(inputs: string[], output: string | undefined): void {
  const sources = inputs.map((path) => ({ path, status: statusOf(path) }));
  if (inputs.filter((path) => path === STANDARD_INPUT).length > 1) {
    throw new Error(
      "standard input ('-') can be read only once: write one of the inputs to a file",
    );
  }
  if (output === undefined) return;
  const target = statusOf(output);
  const source = sources.find(({ status }) => isSame(status, target));
  // A terminal or another device can be read and written.
  if (source !== undefined && !target?.isCharacterDevice()) {
    throw new Error(`--output ${output} is the input ${source.path}: choose another file`);
  }
}

/** Whether a path names what standard output is, such as `/dev/stdout`. */
export function isStandardOutput(path: string): boolean {
  try {
    return isSame(statSync(path, { bigint: true }), fstatSync(STDOUT, { bigint: true }));
  } catch {
    return false;
  }
}

/** Nothing for what cannot be looked at: the error of opening it says why. */
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
