/** Source maps of WebAssembly modules: one line, whose columns are offsets in the module. */

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** All digits except the last one have the sixth bit set. */
const FIRST_COLUMN = /^[g-z0-9+/]*[A-Za-f]/;

/** The same source map for a module in which all code is moved by `distance` bytes. */
export function shiftMappings(sourceMap: string, distance: number): string {
  const map = JSON.parse(sourceMap) as { mappings: string };
  // Each column is relative to the one before, so only the first one changes.
  map.mappings = map.mappings.replace(FIRST_COLUMN, (column) => encode(decode(column) + distance));
  return JSON.stringify(map);
}

/** Decodes a base64 VLQ: five bits a digit, the lowest first; bit 0 of the number is the sign. */
function decode(text: string): number {
  let value = 0;
  [...text].forEach((digit, nth) => {
    value += (DIGITS.indexOf(digit) & 31) * 32 ** nth;
  });
  return value % 2 === 1 ? -(value - 1) / 2 : value / 2;
}

function encode(number: number): string {
  let value = number < 0 ? -number * 2 + 1 : number * 2;
  let text = "";
  do {
    const rest = Math.floor(value / 32);
    text += DIGITS[(value % 32) + (rest > 0 ? 32 : 0)];
    value = rest;
  } while (value > 0);
  return text;
}
