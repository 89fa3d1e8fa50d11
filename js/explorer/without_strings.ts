/** Leaves the contents of strings out of answers, for reports and pages that others see. */

/** A literal. One that was shortened may have no second quote. */
const LITERAL = /"(?:[^"\\]|\\.)*(?:"|$)/gs;
const HIDDEN = '"…"';

/** The text with every literal replaced: strings, and the keys of maps in labels and paths. */
export function hidden(text: string): string {
  return text.replace(LITERAL, HIDDEN);
}

/** A copy of an answer without the contents of strings. */
export function withoutStrings<T>(value: T): T {
  if (typeof value === "string") return hidden(value) as T;
  if (Array.isArray(value)) return value.map(withoutStrings) as T;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, one]) => [key, withoutStrings(one)]);
  return Object.fromEntries(entries) as T;
}
