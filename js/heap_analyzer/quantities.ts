/** Sizes and durations on the command line. */
import { InvalidArgumentError } from "commander";

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
