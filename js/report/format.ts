/** Numbers and names as the page shows them. */
import { afterClass as unescapedAfterClass } from "../labels.ts";
import { escapeUnprintable } from "../text.ts";
import { formatSize as bytes, formatCount as count } from "../units.ts";

export { bytes, count };

/** `12 objects`, `1 object`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** `+1.0 KiB`, `−32 B`, `0 B`. */
export function signedBytes(value: number): string {
  return signed(value, bytes(Math.abs(value)));
}

/** `+12`, `−3`, `0`. */
export function signedCount(value: number): string {
  return signed(value, count(Math.abs(value)));
}

function signed(value: number, absolute: string): string {
  if (value === 0) return absolute;
  return (value > 0 ? "+" : "−") + absolute;
}

/** `12.3 %`; what is not nothing is never `0.0 %`. */
export function share(part: number, whole: number): string {
  if (part === 0 || whole === 0) return "0 %";
  const percent = (part / whole) * 100;
  return percent < 0.05 ? "< 0.1 %" : `${percent.toFixed(1)} %`;
}

/** `0x1f40`. */
export function address(value: number): string {
  return `0x${value.toString(16)}`;
}

/** A text in which everything invisible is escaped. */
export function printable(text: string): string {
  return escapeUnprintable(text);
}

/** A class name without the modules of the standard library. */
export function className(name: string): string {
  return printable(name.replace(/~lib\/[^<>,|()[\]=]*\/|~lib\//g, ""));
}

/** The last part of a class name, without its module and its type arguments. */
export function shortClassName(name: string): string {
  const [plain = ""] = className(name).split(/[<(]/);
  return plain.slice(plain.lastIndexOf("/") + 1) || className(name);
}

/** A reference as it follows a class name. */
export function afterClass(label: string): string {
  return printable(unescapedAfterClass(label));
}

/** `global assembly/server/prices`. */
export function rootName(root: { kind: string; name: string | null }): string {
  return root.name === null ? root.kind : `${root.kind} ${printable(root.name)}`;
}
