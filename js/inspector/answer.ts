// Reads answers of an inspector, which is not trusted: whatever does not have the expected type is an error that
// names the method and the part of the answer.

import { HeapAnalyzerError } from "../errors.js";
import { shown } from "../text.js";

/** A part of an answer, not checked yet. */
export type UncheckedAnswer = unknown;

export function answerError(what: string, problem: string): HeapAnalyzerError {
  return new HeapAnalyzerError("ERR_ATTACH_ANSWER", `attach: ${what} ${problem}`);
}

/** The value at a path such as `result.objectId`, or undefined if a part of the path is missing. */
export function at(answer: UncheckedAnswer, path: string): UncheckedAnswer {
  let value = answer;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null) return undefined;
    value = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
  }
  return value;
}

/** The text at a path. */
export function text(answer: UncheckedAnswer, path: string, what: string): string {
  const value = at(answer, path);
  if (typeof value === "string") return value;
  throw answerError(what, `answered ${shown(value)} for ${path}, expected a text`);
}

/** The whole number at a path, between 0 and a limit. */
export function count(answer: UncheckedAnswer, path: string, what: string, limit: number): number {
  const value = at(answer, path);
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= limit) {
    return value as number;
  }
  throw answerError(
    what,
    `answered ${shown(value)} for ${path}, expected a whole number up to ${limit}`,
  );
}

/** The list at a path. More entries than `limit` are an error. */
export function list(
  answer: UncheckedAnswer,
  path: string,
  what: string,
  limit: number,
): UncheckedAnswer[] {
  const value = at(answer, path);
  if (Array.isArray(value) && value.length <= limit) return value;
  throw answerError(
    what,
    `answered ${shown(value)} for ${path}, expected a list of at most ${limit} entries`,
  );
}

/** Bytes in base64, of exactly this size if one is given. */
export function base64(value: UncheckedAnswer, what: string, size?: number): Buffer {
  if (typeof value === "string" && /^[A-Za-z0-9+/]*={0,2}$/.test(value)) {
    const bytes = Buffer.from(value, "base64");
    if (size === undefined || bytes.length === size) return bytes;
    throw answerError(what, `answered ${bytes.length} bytes, expected ${size}`);
  }
  throw answerError(what, `answered ${shown(value, 40)}, expected bytes in base64`);
}
