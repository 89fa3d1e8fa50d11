/** The width of the lines that the command line prints. */
import { fstatSync } from "node:fs";
import type { WriteStream } from "node:tty";
import { keptOutput } from "./kept_output.js";

/** The width if a terminal does not report one. */
const DEFAULT_WIDTH = 80;

const STDOUT = 1;

/**
 * The largest number of columns of a line on stdout. In a pipe, only the variable `COLUMNS` limits it. In
 * a file there is no limit, so that programs can search for complete names.
 */
export function outputWidth(): number | undefined {
  if (keptOutput() !== undefined) return requestedWidth();
  if (process.stdout.isTTY) return terminalWidth(process.stdout);
  return isFile(STDOUT) ? undefined : requestedWidth();
}

/** The columns of a terminal: the value of the variable `COLUMNS`, otherwise the width that the terminal reports. */
export function terminalWidth(terminal: WriteStream): number {
  // A terminal of unknown size reports 0.
  return requestedWidth() ?? (terminal.columns || DEFAULT_WIDTH);
}

function requestedWidth(): number | undefined {
  const text = process.env.COLUMNS ?? "";
  return /^[1-9]\d{0,5}$/.test(text) ? Number(text) : undefined;
}

function isFile(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isFile();
  } catch {
    return false;
  }
}
