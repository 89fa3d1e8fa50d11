/** A table that can be sorted and filtered. */
import { type Child, element } from "./dom.ts";
import * as format from "./format.ts";

export interface Column<Row> {
  key: string;
  title: string;
  /** Explains the title. */
  hint?: string | undefined;
  /** Numbers stand on the right. */
  kind: "text" | "number";
  cell: (row: Row) => Child;
  /** What the column is sorted by; it is not sortable without. */
  order?: (row: Row) => number | string;
}

export interface TableOptions<Row> {
  caption: string;
  columns: Column<Row>[];
  rows: Row[];
  /** The column that the rows are sorted by, and whether the smallest comes first. */
  sort?: { key: string; ascending: boolean };
  /** Lines below the rows. */
  footer?: Child[][];
  /** Called when the reader sorts. */
  onSort?: (key: string, ascending: boolean) => void;
}

export interface Table<Row> {
  element: HTMLElement;
  /** Shows only such rows, and returns how many these are. */
  filter: (isShown: (row: Row) => boolean) => number;
}

/** A table in a box that scrolls sideways if it must. */
export function table<Row>(options: TableOptions<Row>): Table<Row> {
  const { columns, caption } = options;
  const lines = options.rows.map((row) => ({ row, line: rowElement(row, columns) }));
  const body = element("tbody");
  const headings = new Map<string, HTMLElement>();

  const sort = (key: string, ascending: boolean) => {
    const column = columns.find((column) => column.key === key);
    const order = column?.order;
    if (order === undefined) return;
    const sorted = lines
      .map((entry) => ({ entry, by: order(entry.row) }))
      .sort((left, right) => (ascending ? compare(left.by, right.by) : compare(right.by, left.by)));
    body.append(...sorted.map(({ entry }) => entry.line));
    for (const [of, heading] of headings) {
      if (of === key) heading.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      else heading.removeAttribute("aria-sort");
    }
  };

  const heading = (column: Column<Row>) => {
    const press = () => {
      const current = headings.get(column.key)?.getAttribute("aria-sort");
      // Numbers begin with the largest, names with the first.
      const ascending = column.kind === "text" ? current !== "ascending" : current === "descending";
      sort(column.key, ascending);
      options.onSort?.(column.key, ascending);
    };
    const content =
      column.order === undefined
        ? column.title
        : element("button", { type: "button", on: { click: press } }, column.title);
    const hint = column.hint === undefined ? {} : { title: column.hint };
    const made = element("th", { scope: "col", class: column.kind, ...hint }, content);
    headings.set(column.key, made);
    return made;
  };

  const head = element("thead", {}, element("tr", {}, ...columns.map(heading)));
  body.append(...lines.map(({ line }) => line));
  if (options.sort !== undefined) sort(options.sort.key, options.sort.ascending);
  const footer = options.footer?.map((cells) =>
    element(
      "tr",
      {},
      ...cells.map((cell, nth) =>
        element(nth === 0 ? "th" : "td", footerProperties(nth, columns), cell),
      ),
    ),
  );
  const whole = element(
    "table",
    {},
    element("caption", { class: "visually-hidden" }, caption),
    head,
    body,
    footer !== undefined && footer.length > 0 && element("tfoot", {}, ...footer),
  );
  const box = { class: "table-box", role: "region", tabindex: "0", aria: { label: caption } };
  return {
    element: element("div", box, whole),
    filter: (isShown) => {
      let shown = 0;
      for (const { row, line } of lines) {
        line.hidden = !isShown(row);
        if (!line.hidden) shown += 1;
      }
      return shown;
    },
  };
}

function footerProperties<Row>(nth: number, columns: Column<Row>[]) {
  const kind = columns[nth]?.kind ?? "text";
  return nth === 0 ? { scope: "row", class: kind } : { class: kind };
}

function rowElement<Row>(row: Row, columns: Column<Row>[]): HTMLTableRowElement {
  return element(
    "tr",
    {},
    ...columns.map(({ cell, kind }, nth) =>
      nth === 0
        ? element("th", { scope: "row", class: kind }, cell(row))
        : element("td", { class: kind }, cell(row)),
    ),
  );
}

function compare(left: number | string, right: number | string): number {
  if (typeof left === "number" && typeof right === "number") return left - right;
  return String(left) < String(right) ? -1 : String(left) > String(right) ? 1 : 0;
}

/** A column of counts. */
export function countColumn<Row>(
  key: string,
  title: string,
  order: (row: Row) => number,
  hint?: string,
): Column<Row> {
  return { key, title, hint, kind: "number", cell: (row) => format.count(order(row)), order };
}

/** A column of sizes. */
export function bytesColumn<Row>(
  key: string,
  title: string,
  order: (row: Row) => number,
  hint?: string,
): Column<Row> {
  return { key, title, hint, kind: "number", cell: (row) => format.bytes(order(row)), order };
}
