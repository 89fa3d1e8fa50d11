/**
 * The baseline of a check: a file that lists the growing sites that are accepted, each with a reason.
 *
 * ```json
 * {
 *   "schemaVersion": 1,
 *   "accepted": [
 *     { "path": "global app/log > app/Log.lines > Array<String>[*] > String", "reason": "#214", "limit": 5000 }
 *   ]
 * }
 * ```
 */
import { readFileSync } from "node:fs";
import { reason as reasonOf } from "../whole_file.js";
import { shown } from "./findings.js";

const SCHEMA_VERSION = 1;

/** An accepted site. */
export interface Accepted {
  /** The text of its path. */
  path: string;
  /** Why it is accepted. Empty in a file that was just written. */
  reason: string;
  /** The most objects that are accepted at the site. */
  limit?: number;
}

/**
 * Reads a baseline.
 *
 * @throws if it cannot be read or is not a baseline.
 */
export function readBaseline(file: string): Accepted[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new Error(
      `cannot read the baseline ${file}: ${reasonOf(error)}; --update-baseline writes a new one`,
      { cause: error },
    );
  }
  try {
    return parseBaseline(text);
  } catch (error) {
    throw new Error(`the baseline ${file} ${(error as Error).message}`, { cause: error });
  }
}

/** The text of a baseline. */
export function baselineText(accepted: readonly Accepted[]): string {
  return `${JSON.stringify({ schemaVersion: SCHEMA_VERSION, accepted }, null, 2)}\n`;
}

/** Refuses entries without a reason. */
export function checkReasons(file: string, accepted: readonly Accepted[]): void {
  const missing = accepted.filter(({ reason }) => reason.trim() === "");
  if (missing.length === 0) return;
  const [{ path }] = missing as [Accepted];
  const others = missing.length === 1 ? "" : ` and ${missing.length - 1} more`;
  throw new Error(
    `the baseline ${file} gives no reason for ${shown(path)}${others}: write into "reason" why the growth ` +
      "is accepted, or remove the entry",
  );
}

function parseBaseline(text: string): Accepted[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`is not JSON: ${(error as Error).message}`);
  }
  const { schemaVersion, accepted, ...others } = record("is", value);
  if (schemaVersion !== SCHEMA_VERSION) {
    throw new Error(
      `has "schemaVersion": ${JSON.stringify(schemaVersion)}; expected ${SCHEMA_VERSION}`,
    );
  }
  refuseOthers("has", others);
  if (!Array.isArray(accepted)) throw new Error('has no list "accepted"');
  const entries = accepted.map(parseEntry);
  const known = new Set<string>();
  for (const { path } of entries) {
    if (known.has(path)) throw new Error(`lists a path twice: ${shown(path)}`);
    known.add(path);
  }
  return entries;
}

function parseEntry(value: unknown, nth: number): Accepted {
  const place = `accepted[${nth}]`;
  const { path, reason, limit, ...others } = record(`has ${place} that is`, value);
  refuseOthers(`has ${place} with`, others);
  if (typeof path !== "string" || path === "") throw new Error(`has no text ${place}.path`);
  if (typeof reason !== "string") throw new Error(`has no text ${place}.reason`);
  if (limit === undefined || limit === null) return { path, reason };
  if (typeof limit !== "number" || !Number.isSafeInteger(limit) || limit < 0) {
    throw new Error(`has ${place}.limit that is not a whole number ≥ 0`);
  }
  return { path, reason, limit };
}

function record(what: string, value: unknown): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw new Error(`${what} not a JSON object`);
}

function refuseOthers(what: string, others: Record<string, unknown>): void {
  const [name] = Object.keys(others);
  if (name !== undefined) throw new Error(`${what} an unknown key ${JSON.stringify(shown(name))}`);
}
