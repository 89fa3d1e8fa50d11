/** Classes, from a view of all of them. */
import type { ConstructorView, Warning } from "../../../index.js";
import { chooser } from "../glob.js";
import { count, list, type ObjectOf, object, parts, size, type TypeOf, text } from "../shapes.js";
import type { Found } from "./found.js";
import { type PageRequest, pageOf, textOf } from "./parameters.js";

/** Which classes of a view are wanted. */
export interface WantedClasses extends PageRequest {
  /** The whole name, in which `*` and `?` are wildcards. */
  class?: string | undefined;
  /** A part of the name in any case. */
  contains?: string | undefined;
}

const row = object({
  className: text(),
  count,
  shallowSize: size,
  retainedSize: size,
  shallowParts: parts,
  retainedParts: parts,
});
export type ServedClass = TypeOf<typeof row>;

/** The live objects of the wanted classes. */
export const CLASSES = { totalLiveSize: size, totalLiveParts: parts, rows: list(row) };
export type ServedClasses = ObjectOf<typeof CLASSES>;

/** The live objects of the wanted classes. */
export function classes(view: ConstructorView, wanted: WantedClasses): Found<ServedClasses> {
  const { totalLiveSize, totalLiveParts } = view;
  const totals = { totalLiveSize, ...(totalLiveParts === undefined ? {} : { totalLiveParts }) };
  return rowsOf(view, wanted, totals, (row) => {
    const { totalShallowParts: shallowParts, retainedSetParts: retainedParts } = row;
    return {
      className: row.className,
      count: row.count,
      shallowSize: row.totalShallowSize,
      retainedSize: row.retainedSetSize ?? 0,
      ...(shallowParts === undefined ? {} : { shallowParts }),
      ...(retainedParts === undefined ? {} : { retainedParts }),
    };
  });
}

interface ClassView<R> {
  readonly constructors: readonly R[];
  readonly warnings: Warning[];
  readonly partial: boolean;
}

/** A page of the rows of a view with the wanted class names, each as `shown` makes it, and totals of all. */
export function rowsOf<R extends { readonly className: string }, T extends object, S>(
  view: ClassView<R>,
  { class: named, contains, ...asked }: WantedClasses,
  totals: T,
  shown: (row: R) => S,
): Found<T & { rows: S[] }> {
  const { limit, offset } = pageOf(asked);
  const names = view.constructors.map(({ className }) => className);
  const isNamed = named === undefined ? () => true : chooser(textOf("class", named), names);
  const part = textOf("contains", contains ?? "").toLowerCase();
  const all = view.constructors.filter(
    ({ className }) => isNamed(className) && className.toLowerCase().includes(part),
  );
  const rows = all.slice(offset, offset + limit).map(shown);
  const page = { list: "rows", total: all.length, offset };
  return { body: { ...totals, rows }, page, warnings: view.warnings, partial: view.partial };
}
