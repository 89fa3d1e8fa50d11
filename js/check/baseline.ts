/**
 * The baseline of a check: a file that lists places that may grow, each with a reason.
 *
 * ```json
 * {
 *   "schemaVersion": 1,
 *   "accepted": [
 *     {
 *       "path": "global app/log > app/Log.lines > Array<String>[*] > String",
 *       "fingerprint": "5b1f0c3a9d77",
 *       "reason": "the log of a day, see #214",
 *       "limit": 5000
 *     }
 *   ]
 * }
 * ```
 */
import { readFileSync } from "node:fs";
import type { CheckAnswer } from "../../index.js";
import { reason as reasonOf } from "../whole_file.js";
import { findings, shown } from "./findings.js";
import { isAboutGrowth } from "./rules.js";

const SCHEMA_VERSION = 1;

/** A place that may grow. */
export interface Accepted {
  /** The text of its path; null for a place without one. */
  path: string | null;
  /** A hash of the path. It stands for a place without a path. */
  fingerprint?: string;
  /** Why it may grow. Empty in an entry that was just added. */
  reason: string;
  /** The most objects that it may have in the last dump. */
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
  const first = shown(keyOf(missing[0] as Accepted));
  const others = missing.length === 1 ? "" : ` and ${missing.length - 1} more`;
  throw new Error(
    `the baseline ${file} gives no reason for ${first}${others}: write into "reason" why the growth is ` +
      "accepted, or remove the entry",
  );
}

/**
 * Adds each place that grows and has a stable name to a list of accepted places, with empty reasons. What grows with
 * a place needs no entry of its own.
 *
 * @param check checks again with the list as it is.
 * @returns the last answer.
 */
export async function acceptGrowth(
  first: CheckAnswer,
  accepted: Accepted[],
  check: () => Promise<CheckAnswer>,
): Promise<CheckAnswer> {
  const known = new Set(accepted.map(keyOf));
  for (let answer = first; ; answer = await check()) {
    const broken = findings(answer).filter(({ rule }) => isAboutGrowth(rule));
    const growing = broken.flatMap(({ places }) => places);
    const added = growing.filter((place) => place.stable && !known.has(keyOf(place)));
    if (added.length === 0) return answer;
    for (const place of added) {
      const { path, fingerprint } = place;
      known.add(keyOf(place));
      accepted.push({ path, fingerprint, reason: "" });
    }
  }
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
  for (const entry of entries) {
    const key = keyOf(entry);
    if (known.has(key)) throw new Error(`lists a place twice: ${shown(key)}`);
    known.add(key);
  }
  return entries;
}

function parseEntry(value: unknown, nth: number): Accepted {
  const place = `accepted[${nth}]`;
  const what = `has ${place} that is`;
  const { path = null, fingerprint, reason, limit, ...others } = record(what, value);
  refuseOthers(`has ${place} with`, others);
  if (path !== null && typeof path !== "string") throw new Error(`has no text ${place}.path`);
  if (fingerprint !== undefined && typeof fingerprint !== "string") {
    throw new Error(`has no text ${place}.fingerprint`);
  }
  if (path === null && fingerprint === undefined) {
    throw new Error(`has neither ${place}.path nor ${place}.fingerprint`);
  }
  if (path !== null && namesOnlyTheEngine(path)) {
    throw new Error(
      `has ${place}.path ${shown(path)}, which leads through objects of V8 that have no name in the program: ` +
        "it may stand for any leak; remove the entry, and let --update-baseline write it anew",
    );
  }
  if (typeof reason !== "string") throw new Error(`has no text ${place}.reason`);
  if (limit !== undefined && !isCount(limit)) {
    throw new Error(`has ${place}.limit that is not a whole number ≥ 0`);
  }
  return {
    path,
    ...(fingerprint === undefined ? {} : { fingerprint }),
    reason,
    ...(limit === undefined ? {} : { limit }),
  };
}

/** Whether a step of a path is only what V8 made: a scope without a name, or the storage of something. */
function namesOnlyTheEngine(path: string): boolean {
  const steps = path.split(" > ");
  return steps.some((step) => /^(system \/ |\(array\)|\(system\))/.test(step));
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** What a place is known by. */
function keyOf({ path, fingerprint }: Pick<Accepted, "path" | "fingerprint">): string {
  return path ?? `the fingerprint ${fingerprint}`;
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
