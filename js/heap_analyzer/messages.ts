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
  for (const [first, ...others] of alike(warnings)) {
    if (first === undefined) continue;
    const count = others.length;
    const rest = count === 0 ? "" : ` (and in ${count} more, with other numbers)`;
    writeWarning(`${first.message}${rest}`, first.code);
  }
  if (warnings.length > 0 && isTerminal()) writeNote(`what warnings mean: ${WARNINGS_PAGE}`);
}

/** Groups of warnings that say the same of different dumps. Two of one dump are never alike: they are of two things. */
function alike(warnings: readonly CodedWarning[]): Iterable<CodedWarning[]> {
  const groups = new Map<string, CodedWarning[]>();
  const seen = new Map<string, number>();
  for (const warning of warnings) {
    const [, dump = "", text = warning.message] = /^(\S+): (.*)$/s.exec(warning.message) ?? [];
    const sentence = `${warning.code} ${text.replace(/\d[\d,.]*/g, "#")}`;
    const nth = seen.get(`${dump} ${sentence}`) ?? 0;
    seen.set(`${dump} ${sentence}`, nth + 1);
    const group = groups.get(`${nth} ${sentence}`);
    if (group === undefined) groups.set(`${nth} ${sentence}`, [warning]);
    else group.push(warning);
  }
  return groups.values();
}

const WARNINGS_PAGE = "https://github.com/warpo/heap-analyzer/blob/main/docs/errors.md#warnings";

/** The exit code of an answer that begins with the reason not to trust it. */
const DOUBTFUL = 3;

/** Warnings after which a comparison may be the opposite of the truth. */
const DOUBTS = ["WARN_MEMORY_SHRANK", "WARN_OUT_OF_ORDER"];

/** Writes the warnings of an answer; the exit code says so if it is doubtful. */
export function writeDoubts(warnings: readonly CodedWarning[]): void {
  writeWarnings(warnings);
  if (warnings.some(({ code }) => DOUBTS.includes(code))) process.exitCode = DOUBTFUL;
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
