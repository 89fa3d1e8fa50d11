/** How wide the lines of the command line's output may be. */
import { fstatSync } from "node:fs";
import type { WriteStream } from "node:tty";

/** Where a terminal does not say how wide it is. */
const DEFAULT_WIDTH = 80;

const STDOUT = 1;

/**
 * The most columns of a line on stdout. In a pipe only the variable `COLUMNS` limits them, in a file
 * nothing does: names are then complete for programs that search the text.
 */
export function outputWidth(): number | undefined {
  if (process.stdout.isTTY) return terminalWidth(process.stdout);
  return isFile(STDOUT) ? undefined : requestedWidth();
}

/** The columns of a terminal: what the variable `COLUMNS` says, otherwise what the terminal reports. */
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
