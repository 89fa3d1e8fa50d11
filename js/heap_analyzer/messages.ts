/** What the command line writes to stderr. */
import { escapeUnprintable } from "../text.js";

/** Writes an error as one line. */
export function writeError(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(oneLine(`error: ${message}`));
}

/** Writes a warning as one line. */
export function writeWarning(message: string): void {
  process.stderr.write(oneLine(`warning: ${message}`));
}

/** Writes what was done beside the result, as one line. */
export function writeNote(message: string): void {
  process.stderr.write(oneLine(message));
}

/** One line for a terminal, with control characters of file and class names escaped. */
export function oneLine(text: string): string {
  return `${escapeUnprintable(text.trim())}\n`;
}
