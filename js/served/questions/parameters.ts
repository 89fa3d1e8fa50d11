/** Parameters of questions: their bounds, which schemas name, too, and checks of what has no schema. */
import type { Heap } from "../../../index.js";
import { FIRST_ID } from "../../host_numbers.js";
import { readAddress } from "../addresses.js";
import { QuestionError } from "../errors.js";

/** Entries of a page at most, and if the request does not say it. */
export const MOST_ENTRIES = 1000;
export const USUAL_ENTRIES = 50;
export const MOST_OFFSET = 2 ** 32;
export const LONGEST_TEXT = 1000;

export interface PageRequest {
  limit?: number | undefined;
  offset?: number | undefined;
}

export function pageOf({ limit = USUAL_ENTRIES, offset = 0 }: PageRequest) {
  const isPage = Number.isInteger(limit) && Number.isInteger(offset) && limit > 0 && offset >= 0;
  if (isPage && limit <= MOST_ENTRIES && offset <= MOST_OFFSET) return { limit, offset };
  throw invalid(`expected a limit from 1 to ${MOST_ENTRIES} and an offset from 0`);
}

/** An address that a request has as a number or as text. */
export function addressOf(given: unknown, heap: Pick<Heap, "summary">): number {
  const shown = String(given).slice(0, 30);
  const read = readAddress(shown);
  const isJoined = read?.isId && heap.summary().joined !== undefined;
  const address = (read?.value ?? Number.NaN) + (isJoined ? FIRST_ID : 0);
  if (address <= Number.MAX_SAFE_INTEGER) return address;
  throw invalid(`${shown} is no address: expected one like 0x9540, or @1234 in a heap snapshot`);
}

export function textOf(name: string, value: unknown): string {
  if (typeof value === "string" && value.length <= LONGEST_TEXT) return value;
  throw invalid(`${name} must be a text of at most ${LONGEST_TEXT} characters`);
}

export function invalid(message: string): QuestionError {
  return new QuestionError("ERR_INVALID_ARGUMENTS", message);
}
