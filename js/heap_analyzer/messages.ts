/** What the command line writes to stderr. */
import { withAdvice } from "../advice.js";
import { escapeUnprintable } from "../text.js";
import { keptOutput } from "./kept_output.js";

/** Writes an error and what to do about it, as one line. */
export function writeError(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  const code = (error as { code?: unknown } | null)?.code;
  writeMessage(`error: ${withAdvice("cli", code, message)}`);
}

/** Writes a warning, and what to do about it if it has a code, as one line. */
export function writeWarning(message: string, code?: string): void {
  writeMessage(`warning: ${withAdvice("cli", code, message)}`);
}

/** Writes what was done beside the result, as one line. */
export function writeNote(message: string): void {
  writeMessage(message);
}

/** Writes a text as one line. */
export function writeMessage(text: string): void {
  writeToStderr(oneLine(text));
}

/** Writes a text as it is. */
export function writeToStderr(text: string): void {
  const kept = keptOutput();
  if (kept === undefined) process.stderr.write(text);
  else kept.addMessage(text);
}

/** One line for a terminal, with control characters of file and class names escaped. */
export function oneLine(text: string): string {
  return `${escapeUnprintable(text.trim())}\n`;
}
