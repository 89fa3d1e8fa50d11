/**
 * Native views as plain objects. Instances are made when they are first read, so a view of ten million
 * objects costs only one JavaScript object per row.
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
  return { ...plainView(handle, instanceAt), accounting } as ConstructorView;
}

export function comparisonView(handle: ViewHandle): ComparisonView {
  const changedInstanceAt = (columns: ChangedInstanceColumns, nth: number): ChangedInstance => ({
    ...instanceAt(columns, nth),
    changeKind: nth < columns.newCount ? "new" : "delete",
  });
  return plainView(handle, changedInstanceAt) as ComparisonView;
}

function instanceAt(columns: InstanceColumns, nth: number): Instance {
  return {
    address: columns.addresses[nth] as number,
    shallowSize: columns.shallowSizes[nth] as number,
    retainedSize: columns.retainedSizes[nth] as number,
  };
}

/** The engine names its numbers by the keys of the public types and keeps their order. */
function plainView<Columns extends InstanceColumns>(
  handle: ViewHandle,
  instance: (columns: Columns, nth: number) => Instance,
): object {
  const keys = handle.columns();
  const constructors = handle.rows().map((row, nth) => {
    const columns = () => callNative(() => handle.instances(nth)) as unknown as Columns;
    const plainRow = {
      className: row.className,
      ...Object.fromEntries(keys.map((key, at) => [key, row.numbers[at]])),
    };
    defineLazily(plainRow, "instances", true, () => {
      const read = columns();
      return Array.from(read.addresses, (_, at) => instance(read, at));
    });
    defineLazily(plainRow, "instanceColumns", false, columns);
    return plainRow;
  });
  return {
    ...Object.fromEntries(handle.totals()),
    constructors,
    partial: handle.isPartial(),
    warnings: handle.warnings(),
  };
}

/** A property that is computed when first read, and then stays. */
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
