/**
 * A list of any number of rows of one height, of which only those in view exist. A browser's elements are at most some
 * 16 million pixels high, so with more rows the scrolling is scaled.
 */
import { type Child, element, fill } from "./dom.ts";

/** Pixels of a row, and of one on a narrow screen, whose contents stand on a second line. As in the style. */
const ROW = 34;
const NARROW_ROW = 60;
const NARROW = "(max-width: 52rem)";
/** Pixels of the highest element. */
const HIGHEST = 8_000_000;
/** Rows that are asked for at a time. */
const BLOCK = 60;
/** Blocks that are kept. */
const MOST_BLOCKS = 60;
/** Questions that wait for an answer. What was only scrolled past is not asked for. */
const MOST_ASKED = 2;
/** Rows above and below the view. */
const MARGIN = 8;

export interface RowSource<Row> {
  total: number;
  load: (offset: number, limit: number) => Promise<Row[]>;
  /** The cells of a row, with the role `cell`. */
  cells: (row: Row, nth: number) => HTMLElement[];
  columns: number;
}

export class VirtualList<Row> {
  readonly element: HTMLElement;
  readonly #spacer: HTMLElement;
  readonly #source: RowSource<Row>;
  readonly #rowHeight: number;
  readonly #blocks = new Map<number, Row[] | "asked">();
  #asked = 0;
  #isDrawing = false;

  constructor(source: RowSource<Row>) {
    this.#source = source;
    this.#rowHeight = matchMedia(NARROW).matches ? NARROW_ROW : ROW;
    this.#spacer = element("div", { class: "spacer", role: "presentation" });
    const height = Math.min(source.total * this.#rowHeight, HIGHEST);
    this.#spacer.style.setProperty("height", `${height}px`);
    this.element = element("div", { class: "rows", role: "rowgroup", tabindex: "0" }, this.#spacer);
    this.element.addEventListener("scroll", () => this.#soon());
    new ResizeObserver(() => this.#draw()).observe(this.element);
  }

  #soon(): void {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    requestAnimationFrame(() => {
      this.#isDrawing = false;
      this.#draw();
    });
  }

  #draw(): void {
    const { total } = this.#source;
    const rowHeight = this.#rowHeight;
    const { scrollTop, clientHeight } = this.element;
    if (clientHeight === 0) return;
    const height = Math.min(total * rowHeight, HIGHEST);
    const isScaled = total * rowHeight > HIGHEST;
    const visible = clientHeight / rowHeight;
    const part = scrollTop / Math.max(1, height - clientHeight);
    const first = isScaled ? part * (total - visible) : scrollTop / rowHeight;
    const start = Math.max(0, Math.floor(first) - MARGIN);
    const end = Math.min(total, Math.ceil(first + visible) + MARGIN);
    const lines: HTMLElement[] = [];
    for (let nth = start; nth < end; nth++) {
      const line = this.#line(nth);
      const top = isScaled ? scrollTop + (nth - first) * rowHeight : nth * rowHeight;
      line.style.setProperty("transform", `translateY(${top}px)`);
      lines.push(line);
    }
    // The row that has the focus stays the same element.
    const focused = document.activeElement;
    const held = focused instanceof HTMLElement && this.#spacer.contains(focused);
    const row = held ? focused.closest("[aria-rowindex]")?.getAttribute("aria-rowindex") : null;
    fill(this.#spacer, ...lines);
    if (row !== null && row !== undefined) {
      const again = this.#spacer.querySelector<HTMLElement>(`[aria-rowindex="${row}"] a`);
      again?.focus({ preventScroll: true });
    }
  }

  #line(nth: number): HTMLElement {
    const row = this.#row(nth);
    const cells: Child[] =
      row === undefined
        ? [element("span", { role: "cell", class: "muted", aria: { colspan: "4" } }, "…")]
        : this.#source.cells(row, nth);
    // The header is the first row.
    return element(
      "div",
      { class: "row", role: "row", aria: { rowindex: String(nth + 2) } },
      ...cells,
    );
  }

  #row(nth: number): Row | undefined {
    const block = Math.floor(nth / BLOCK);
    const known = this.#blocks.get(block);
    if (known === undefined) this.#ask(block);
    return known === undefined || known === "asked" ? undefined : known[nth % BLOCK];
  }

  #ask(block: number): void {
    // The next answer draws the list again, which asks for what is in view then.
    if (this.#asked >= MOST_ASKED) return;
    this.#asked++;
    this.#blocks.set(block, "asked");
    for (const oldest of this.#blocks.keys()) {
      if (this.#blocks.size <= MOST_BLOCKS) break;
      this.#blocks.delete(oldest);
    }
    this.#source.load(block * BLOCK, BLOCK).then(
      (rows) => {
        this.#asked--;
        this.#blocks.set(block, rows);
        this.#soon();
      },
      () => {
        this.#asked--;
        // It is asked for again when it is scrolled to.
        this.#blocks.delete(block);
      },
    );
  }
}
