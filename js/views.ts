/**
 * Converts native views to plain objects. Instances are created when they are first read, so a view of
 * ten million objects needs only one JavaScript object per row.
 */
import type {
  ChangedInstance,
  ChangedInstanceColumns,
  ComparisonView,
  ConstructorView,
  Instance,
  InstanceColumns,
} from "../index.js";
import { descriptor } from "./descriptor.js";
import type { ViewHandle } from "./native.js";
import { callNative } from "./native_errors.js";

export function constructorView(handle: ViewHandle): ConstructorView {
  const accounting = JSON.parse(handle.accounting() ?? "null");
  return plainView(handle, { accounting }, instanceAt) as ConstructorView;
}

/** The constructor view of a loaded heap. It computes the retained set sizes when they are first read. */
export function loadedView(handle: ViewHandle): ConstructorView {
  let sizes: number[] | null | undefined;
  const retainedSet = (nth: number) => {
    sizes ??= callNative(() => handle.retainedSetSizes());
    return sizes?.[nth];
  };
  const accounting = JSON.parse(handle.accounting() ?? "null");
  return plainView(handle, { accounting }, instanceAt, retainedSet) as ConstructorView;
}

export function comparisonView(handle: ViewHandle): ComparisonView {
  const changedInstanceAt = (columns: ChangedInstanceColumns, nth: number): ChangedInstance => ({
    ...instanceAt(columns, nth),
    changeKind: nth < columns.newCount ? "new" : "delete",
  });
  return plainView(handle, {}, changedInstanceAt) as ComparisonView;
}

function instanceAt(columns: InstanceColumns, nth: number): Instance {
  return {
    address: columns.addresses[nth] as number,
    shallowSize: columns.shallowSizes[nth] as number,
    retainedSize: columns.retainedSizes[nth] as number,
  };
}

/** The key of a number that only rows of some views have. */
const RETAINED_SET = "retainedSetSize";

/** The engine's columns have the names and the order of the keys in the public types. */
function plainView<Columns extends InstanceColumns>(
  handle: ViewHandle,
  more: object,
  instance: (columns: Columns, nth: number) => Instance,
  retainedSet?: (nth: number) => number | undefined,
): object {
  const keys = handle.columns();
  const rows = handle.rows();
  const parts = handle.parts();
  let unreadRows = rows.length;
  const constructors = rows.map((row, nth) => {
    const columns = () => callNative(() => handle.instances(nth)) as unknown as Columns;
    // Columns that were read for `instances` are reused for `instanceColumns`: the caller has not seen them.
    let spare: Columns | undefined;
    const numbers = keys.map((key, at) => [key, row.numbers[at]] as const);
    const { retainedSetParts, ...partsOfRow } = parts?.rows[nth] ?? {};
    const plainRow = {
      className: row.className,
      ...(row.typeEvidence === undefined ? {} : { typeEvidence: row.typeEvidence }),
      ...Object.fromEntries(numbers.filter(([key]) => key !== RETAINED_SET)),
      ...partsOfRow,
    };
    defineLazily(plainRow, "instances", true, () => {
      const read = columns();
      spare = read;
      // After the last row, the native view is not needed any more.
      if (--unreadRows === 0 && !retainedSet) handle.close();
      return Array.from(read.addresses, (_, at) => instance(read, at));
    });
    // Hidden, because the rows and the JSON are those of WARPO's analyzer.
    defineLazily(plainRow, "instanceColumns", false, () => spare ?? columns());
    const [, known] = numbers.find(([key]) => key === RETAINED_SET) ?? [];
    if (known !== undefined) defineHidden(plainRow, RETAINED_SET, known);
    else if (retainedSet) defineLazily(plainRow, RETAINED_SET, false, () => retainedSet(nth));
    if (retainedSetParts !== undefined)
      defineHidden(plainRow, "retainedSetParts", retainedSetParts);
    return plainRow;
  });
  const view = {
    ...Object.fromEntries(handle.totals()),
    ...(parts === null ? {} : { totalLiveParts: parts.totalLiveParts }),
    constructors,
    partial: handle.isPartial(),
    warnings: handle.warnings(),
    ...more,
  };
  const close = () => handle.close();
  defineHidden(view, "close", close);
  // Node 20 before 20.5 has no such symbol.
  if (Symbol.dispose !== undefined) defineHidden(view, Symbol.dispose, close);
  return view;
}

/** Defines a property that is computed when it is first read. */
function defineLazily(target: object, key: string, enumerable: boolean, compute: () => unknown) {
  const common = { enumerable, configurable: true };
  Object.defineProperty(
    target,
    key,
    descriptor({
      ...common,
      get() {
        const value = compute();
        Object.defineProperty(target, key, descriptor({ ...common, value, writable: true }));
        return value;
      },
    }),
  );
}

/** Defines a property that is not enumerable: loops, JSON and structuredClone leave it out. */
function defineHidden(target: object, key: string | symbol, value: unknown) {
  Object.defineProperty(target, key, descriptor({ value, configurable: true, writable: true }));
}
