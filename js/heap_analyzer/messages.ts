/** What the command line writes to stderr. */
import { withAdvice } from "../advice.js";
import { escapeUnprintable } from "../text.js";

/** Writes an error and what to do about it, as one line. */
export function writeError(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  const code = (error as { code?: unknown } | null)?.code;
  process.stderr.write(oneLine(`error: ${withAdvice("cli", code, message)}`));
}

/** Writes a warning, and what to do about it if it has a code, as one line. */
export function writeWarning(message: string, code?: string): void {
  process.stderr.write(oneLine(`warning: ${withAdvice("cli", code, message)}`));
}

/** Writes what was done beside the result, as one line. */
export function writeNote(message: string): void {
  process.stderr.write(oneLine(message));
}

/** One line for a terminal, with control characters of file and class names escaped. */
export function oneLine(text: string): string {
  return `${escapeUnprintable(text.trim())}\n`;
}
