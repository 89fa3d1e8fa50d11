/** The cells of the dominator tree as a tree. */
import type { CellColumns } from "./data.ts";
import * as format from "./format.ts";

/** What an object is used for, roughly: the colours of cells. */
export type Category = "heap" | "program" | "container" | "contents" | "sum";

export const CATEGORIES: Record<Exclude<Category, "heap">, string> = {
  program: "Classes of the program",
  container: "Containers of the standard library",
  contents: "Strings and buffers",
  sum: "Several classes, summed up",
};

const CONTENTS =
  /^~lib\/(string\/String|arraybuffer\/ArrayBuffer|staticarray\/|typedarray\/|dataview\/)/;

export class Cells {
  readonly columns: CellColumns;
  /** The parts of each cell, the largest first. */
  readonly parts: number[][];

  constructor(columns: CellColumns) {
    this.columns = columns;
    this.parts = columns.parent.map(() => []);
    for (let cell = 1; cell < columns.parent.length; cell++) {
      this.parts[columns.parent[cell] as number]?.push(cell);
    }
    for (const parts of this.parts) {
      parts.sort((left, right) => this.size(right) - this.size(left) || left - right);
    }
  }

  get length(): number {
    return this.columns.parent.length;
  }

  size(cell: number): number {
    return this.columns.retainedSize[cell] as number;
  }

  /** The cell that this one is a part of; undefined for the heap. */
  parent(cell: number): number | undefined {
    return cell === 0 ? undefined : (this.columns.parent[cell] as number);
  }

  /** From the heap to this cell. */
  lineage(cell: number): number[] {
    const cells = [];
    for (let at: number | undefined = cell; at !== undefined; at = this.parent(at)) cells.push(at);
    return cells.reverse();
  }

  /** How many cells lie on top of each other. */
  depth(): number {
    const depths: number[] = [];
    for (const [cell, parent] of this.columns.parent.entries()) {
      depths.push(cell === 0 ? 1 : (depths[parent] as number) + 1);
    }
    return Math.max(...depths);
  }

  category(cell: number): Category {
    const { kind, className } = this.columns;
    if (kind[cell] === "heap") return "heap";
    const name = className[cell];
    if (kind[cell] === "rest" || name === null || name === undefined) return "sum";
    if (CONTENTS.test(name)) return "contents";
    return name.startsWith("~lib/") ? "container" : "program";
  }

  /** A few words. */
  title(cell: number): string {
    const { kind, className, count } = this.columns;
    const number = count[cell] as number;
    if (kind[cell] === "heap") return "Live heap";
    if (kind[cell] === "rest") return format.counted(number, "other object");
    const name = format.shortClassName(className[cell] as string);
    return number > 1 ? `${name} × ${format.count(number)}` : name;
  }
}
