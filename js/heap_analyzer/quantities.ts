/** Numbers on the command line: sizes, durations, addresses, parts. */
import { InvalidArgumentError } from "commander";
import { readAddress } from "../served/addresses.js";

/** The longest timer in milliseconds: 24 days. A longer one would end at once. */
export const LONGEST_TIMER = 2 ** 31 - 1;

/** A duration in milliseconds. */
export function duration(text: string): number {
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? [];
  const factor = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[unit];
  const result = factor === undefined ? Number.NaN : Number(number) * factor;
  if (!(result >= 1 && result <= LONGEST_TIMER)) {
    throw new InvalidArgumentError("Expected a time of at most 24 days: 500ms, 10s, 5m, 1h.");
  }
  return result;
}

/** Parses a size: `1048576`, `64KiB`. */
export function size(text: string): number {
  const [, number, unit = "B"] = /^(\d+)(B|KiB|MiB|GiB)?$/.exec(text) ?? [];
  const bytes = Number(number) * 1024 ** ["B", "KiB", "MiB", "GiB"].indexOf(unit);
  if (!Number.isSafeInteger(bytes)) {
    throw new InvalidArgumentError("Expected a size: 1048576, 64KiB, 1MiB or 1GiB.");
  }
  return bytes;
}

/** A parser of whole numbers from `least` to `most`. */
export function wholeNumber(
  least: number,
  most = Number.POSITIVE_INFINITY,
): (text: string) => number {
  const expected = most < Number.POSITIVE_INFINITY ? `from ${least} to ${most}` : `≥ ${least}`;
  return (text) => {
    if (!/^\d+$/.test(text) || Number(text) < least || Number(text) > most) {
      throw new InvalidArgumentError(`Expected a whole number ${expected}.`);
    }
    return Number(text);
  };
}

/** An address, or the id of an object of a heap snapshot. */
export type ObjectAddress = number | { id: number };

/** An address: decimal, or hexadecimal with `0x`; or the id of an object of a heap snapshot, `@38208`. */
export function address(text: string): ObjectAddress {
  const read = readAddress(text);
  if (read === undefined) {
    throw new InvalidArgumentError(
      "Expected an address: 38208 or 0x9540; of a heap snapshot, an id: @38208.",
    );
  }
  return read.isId ? { id: read.value } : read.value;
}

/** A number as addresses are written, decimal or hexadecimal; not a number for another text, and for an id. */
export function plainNumber(text: string): number {
  const { value, isId } = readAddress(text) ?? { value: Number.NaN, isId: false };
  return isId ? Number.NaN : value;
}

/** The number of a percentage, with or without its sign; not a number for another text. */
export function percents(text: string): number {
  return /^\d+(\.\d+)?%?$/.test(text) ? Number.parseFloat(text) : Number.NaN;
}

/** A percentage of something that is there. */
export function percent(text: string): number {
  const percent = percents(text);
  if (percent > 0 && percent <= 100) return percent;
  throw new InvalidArgumentError("Expected a percentage above 0 and at most 100.");
}

/** A part of 1 from a percentage. */
export function percentage(text: string): number {
  return percent(text) / 100;
}
