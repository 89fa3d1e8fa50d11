/** The cells of the dominator tree as a tree. */
import type { DominatedRow } from "../explorer/methods.js";
import type { CellColumns } from "./data.ts";
import * as format from "./format.ts";

/** What an object is used for, roughly: the colours of cells. */
export type CellCategory = "heap" | "program" | "container" | "contents" | "sum";

export const CATEGORIES: Record<Exclude<CellCategory, "heap">, string> = {
  program: "Classes of the program",
  container: "Containers of the standard library",
  contents: "Strings and buffers",
  sum: "Several classes, summed up",
};

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

  /** What a cell keeps alive, as text: of heaps that were joined, both sums. */
  sizeText(cell: number): string {
    const size = this.size(cell);
    const wasm = this.columns.wasmSize?.[cell];
    const parts = wasm === undefined ? undefined : { javascript: size - wasm, wasm };
    return format.sizes(size, parts);
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

  category(cell: number): CellCategory {
    const { kind, classUse } = this.columns;
    if (kind[cell] === "heap") return "heap";
    return kind[cell] === "rest" ? "sum" : (classUse[cell] ?? "sum");
  }

  /** A few words. */
  title(cell: number): string {
    const { kind, className, count } = this.columns;
    const number = count[cell] as number;
    if (kind[cell] === "heap") return "Live heap";
    if (kind[cell] === "rest") return format.counted(number, "other object");
    const name = format.shortClassName(className[cell] as string);
    if (number > 1) return `${name} × ${format.count(number)}`;
    return this.#isAmbiguous(cell) ? `${name} ${this.columns.addressText[cell] ?? ""}` : name;
  }

  /** Whether another cell beside this one would have the same title. */
  #isAmbiguous(cell: number): boolean {
    const { className, count, kind } = this.columns;
    const beside = this.parts[this.columns.parent[cell] as number] ?? [];
    return beside.some(
      (other) =>
        other !== cell &&
        className[other] === className[cell] &&
        count[other] === 1 &&
        kind[other] === kind[cell],
    );
  }

  /** Adds the parts of a cell, which had none. */
  add(parent: number, rows: DominatedRow[], total: number): void {
    const { columns } = this;
    const sumOf = (part: (row: DominatedRow) => number) =>
      rows.reduce((sum, row) => sum + part(row), 0);
    const own = (columns.shallowSize[parent] as number) || 0;
    const rest = this.size(parent) - sumOf(({ retainedSize }) => retainedSize) - own;
    const others: DominatedRow = {
      address: null,
      addressText: null,
      className: "",
      count: total - rows.length,
      shallowSize: rest,
      retainedSize: rest,
    };
    const wasm = columns.wasmSize;
    if (wasm !== undefined) {
      const ownWasm = columns.addressText[parent]?.startsWith("@") ? 0 : own;
      const restWasm = (wasm[parent] ?? 0) - sumOf(wasmOf) - ownWasm;
      others.retainedParts = { javascript: rest - restWasm, wasm: restWasm };
    }
    const all = others.count > 0 && rest > 0 ? [...rows, others] : rows;
    for (const row of all) {
      const cell = columns.parent.length;
      columns.parent.push(parent);
      columns.kind.push(row === others ? "rest" : "object");
      columns.className.push(row === others ? null : row.className);
      columns.address.push(row.address);
      columns.addressText.push(row.addressText);
      columns.count.push(row.count);
      columns.shallowSize.push(row.shallowSize);
      columns.retainedSize.push(row.retainedSize);
      wasm?.push(wasmOf(row));
      this.parts.push([]);
      this.parts[parent]?.push(cell);
    }
  }
}

/** The bytes of WebAssembly among what an object keeps alive. */
function wasmOf({ retainedParts }: DominatedRow): number {
  return retainedParts?.wasm ?? 0;
}
