/** Numbers as people read them: the same texts as the engine's, of which this is the only copy. */

const UNITS = ["KiB", "MiB", "GiB", "TiB"];

// The engine rounds halves to the even digit: 6.25 is 6.2.
const HALVES = { maximumFractionDigits: 1, roundingMode: "halfEven" } as const;

/** A formatter that is made when it is first used: that takes 20 ms, and most processes print no number. */
function formatter(options: Intl.NumberFormatOptions): (value: number) => string {
  let made: Intl.NumberFormat | undefined;
  return (value) => {
    made ??= new Intl.NumberFormat("en-US", { ...HALVES, ...options });
    return made.format(value);
  };
}

const formatTenths = formatter({ minimumFractionDigits: 1, useGrouping: false });
const formatBytes = formatter({ useGrouping: false });

/** A size in bytes with its unit: `15.6 KiB`, `1000 B`. */
export function formatSize(bytes: number): string {
  if (Math.abs(bytes) < 1024) return `${formatBytes(bytes)} B`;
  let size = bytes / 1024;
  let unit = 0;
  // 1023.95 would be printed as 1024.0.
  while (Math.abs(size) >= 1023.95 && unit + 1 < UNITS.length) {
    size /= 1024;
    unit++;
  }
  return `${formatTenths(size)} ${UNITS[unit]}`;
}

/** A number with a comma before every three digits, and at most one digit of a fraction. */
export const formatCount = formatter({});

/** An address that the caller gave, as text. Addresses of a heap come as text from the engine. */
export function givenAddress(address: number): string {
  return "0x".concat(address.toString(16));
}
