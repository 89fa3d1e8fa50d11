/** Numbers and names as the page shows them. */
import type { Evidence, SizeParts } from "../../answers.js";
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

/** `1.0 KiB`; of two heaps that were joined, `1.0 KiB of JavaScript and 32 B of wasm`, and never their sum. */
export function sizes(value: number, parts: SizeParts | undefined): string {
  if (parts === undefined) return bytes(value);
  const { javascript, wasm } = parts;
  if (javascript === 0) return `${bytes(wasm)} of wasm`;
  const ofJavascript = `${bytes(javascript)} of JavaScript`;
  return wasm === 0 ? ofJavascript : `${ofJavascript} and ${bytes(wasm)} of wasm`;
}

/** `derived: 333 of 333 values`: what speaks for a reference between two heaps. */
export function evidenceText({ kind, hits, values }: Evidence): string {
  return kind === "derived" ? `derived: ${count(hits)} of ${count(values)} values` : kind;
}

/** `12.3 %`; what is not nothing is never `0.0 %`. */
export function share(part: number, whole: number): string {
  if (part === 0 || whole === 0) return "0 %";
  const percent = (part / whole) * 100;
  return percent < 0.05 ? "< 0.1 %" : `${percent.toFixed(1)} %`;
}

/** A text in which everything invisible is escaped. */
export function printable(text: string): string {
  return escapeUnprintable(text);
}

let shortNames: ReadonlyMap<string, string> = new Map();

/** Takes the short forms of names, which the engine decides. */
export function useShortNames(names: ReadonlyMap<string, string>): void {
  shortNames = names;
}

/** A text in which the names of classes are short. */
export function className(name: string): string {
  return printable(shortNames.get(name) ?? withoutLibrary(name));
}

/** A name that the report does not have, without the folders of the standard library. */
function withoutLibrary(name: string): string {
  return name.replace(/~lib\/[^<>,|()[\]=\s@"]*\/|~lib\//g, "");
}

/** A class name without modules: `Map<String,Page>`. */
export function shortClassName(name: string): string {
  return className(name).replace(/[^<>,|()[\]=\s]*\//g, "") || className(name);
}

/** `global assembly/server/prices`. */
export function rootName(root: { kind: string; name: string | null }): string {
  return root.name === null ? root.kind : `${root.kind} ${printable(root.name)}`;
}
