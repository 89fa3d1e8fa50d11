/** What the command line writes to stderr. */
import { withAdvice } from "../advice.js";
import { escapeUnprintable } from "../text.js";
import { keptOutput } from "./kept_output.js";
import { terminalWidth } from "./terminal.js";

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

/** A warning of the engine. */
export interface CodedWarning {
  code: string;
  message: string;
}

/**
 * Writes the warnings of a command. What is said of several dumps, and differs only in numbers, is said once. On a
 * terminal, the last line says where to read on.
 */
export function writeWarnings(warnings: readonly CodedWarning[]): void {
  const alike = new Map<string, CodedWarning[]>();
  for (const warning of warnings) {
    const group = alike.get(sentence(warning)) ?? [];
    alike.set(sentence(warning), [...group, warning]);
  }
  for (const [{ code, message }, ...others] of alike.values() as Iterable<[CodedWarning]>) {
    const more: readonly CodedWarning[] = others;
    const rest = more.length === 0 ? "" : ` (and of ${more.length} more, with other numbers)`;
    writeWarning(`${message}${rest}`, code);
  }
  if (warnings.length > 0 && isTerminal()) writeNote(`what warnings mean: ${WARNINGS_PAGE}`);
}

const WARNINGS_PAGE = "https://github.com/warpo/heap-analyzer/blob/main/docs/errors.md#warnings";

/** A warning without the file that it is about, and without numbers. */
function sentence({ code, message }: CodedWarning): string {
  return `${code} ${message.replace(/^\S+: /, "").replace(/\d[\d,.]*/g, "#")}`;
}

/** Writes what was done beside the result, as one line. */
export function writeNote(message: string): void {
  writeMessage(message);
}

/** Writes a text as one line, which a terminal shows wrapped between words. */
export function writeMessage(text: string): void {
  const line = oneLine(text);
  writeToStderr(isTerminal() ? wrapped(line, terminalWidth(process.stderr)) : line);
}

function isTerminal(): boolean {
  return keptOutput() === undefined && process.stderr.isTTY === true;
}

/** A line on several of at most this many characters; a longer word stays whole. */
export function wrapped(line: string, width: number): string {
  const lines: string[] = [];
  for (const word of line.trimEnd().split(" ")) {
    const last = lines.at(-1);
    const isFull = last === undefined || last.length + 1 + word.length > width;
    if (!isFull) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(last === undefined ? word : `  ${word}`);
  }
  return `${lines.join("\n")}\n`;
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
