/** What is known of the classes of a dump: how much of them lives, and where they are declared. */
import type { ServedClass, SourceRow } from "../../../js/explorer/methods.js";
import * as format from "../../../js/report/format.ts";
import { declaredName } from "./declarations.mts";

export interface ClassFact extends SourceRow {
  /** As it is declared, without its module and type arguments. */
  name: string;
  count: number;
  retainedSize: number;
  /** How many more there are than in the earlier dump; null without one. */
  change: number | null;
}

/** The classes with a known file. `before` has the classes of the earlier dump, if there is one. */
export function classFacts(
  classes: ServedClass[],
  before: ServedClass[] | undefined,
  sources: SourceRow[],
): ClassFact[] {
  const rows = new Map(classes.map((row) => [row.className, row]));
  const earlier = new Map(before?.map((row) => [row.className, row.count]));
  return sources.flatMap((source) => {
    const { className } = source;
    const row = rows.get(className);
    if (row === undefined) return [];
    const { count, retainedSize } = row;
    const change = before === undefined ? null : count - (earlier.get(className) ?? 0);
    return [{ ...source, name: declaredName(className), count, retainedSize, change }];
  });
}

/** `1,400 live · 282.0 KiB · +1,000 since before.dump`. With `isOneOfSeveral`, it begins with the class. */
export function lensTitle(
  { className, count, retainedSize, change }: ClassFact,
  before: string | null,
  isOneOfSeveral = false,
): string {
  const parts = [`${format.count(count)} live`, format.bytes(retainedSize)];
  if (change !== null && before !== null) {
    const changed = change === 0 ? "unchanged" : format.signedCount(change);
    parts.push(`${changed} since ${format.printable(before)}`);
  }
  const numbers = parts.join(" · ");
  return isOneOfSeveral ? `${format.shortClassName(className)}: ${numbers}` : numbers;
}
