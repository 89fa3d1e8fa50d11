/** Addresses as texts. */

/** An address as it is shown: `0x9540`, the id `@38208`, or digits. */
export const ADDRESS = /^(0x[0-9a-fA-F]{1,14}|@?[0-9]{1,16})$/;

/** The address that a text is, and whether it is an id; undefined if it is none, or not exact as a number. */
export function readAddress(text: string): { value: number; isId: boolean } | undefined {
  const shown = text.replace(/^0X/, "0x");
  const value = ADDRESS.test(shown) ? Number(shown.replace("@", "")) : Number.NaN;
  return value <= Number.MAX_SAFE_INTEGER ? { value, isId: shown.startsWith("@") } : undefined;
}
