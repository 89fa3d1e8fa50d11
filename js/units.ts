/** Numbers as people read them, by the rules of the engine's texts. */

const UNITS = ["KiB", "MiB", "GiB", "TiB"];

/** A size in bytes with its unit: `15.6 KiB`. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${formatCount(bytes)} B`;
  let size = bytes / 1024;
  let unit = 0;
  // 1023.95 would be printed as 1024.0.
  while (size >= 1023.95 && unit + 1 < UNITS.length) {
    size /= 1024;
    unit++;
  }
  return `${size.toFixed(1)} ${UNITS[unit]}`;
}

/** A number with a comma before every three digits, and at most one digit of a fraction. */
export function formatCount(count: number): string {
  return count.toLocaleString("en-US", { maximumFractionDigits: 1 });
}
