/** The dominator tree as an icicle on a canvas: a row for each depth, widths by retained size. */
import type { CellCategory, Cells } from "./cells.ts";
import { element } from "./dom.ts";
import * as format from "./format.ts";

const ROW = 26;
/** Rows for which there is always room if the tree has them, so that the page below does not jump. */
const STEADY_ROWS = 10;
/** Pixels that a cell takes at least to be drawn, and to have a text. */
const LEAST_WIDTH = 0.5;
const LEAST_TEXT = 34;
const INSET = 7;

interface IcicleBox {
  cell: number;
  row: number;
  left: number;
  width: number;
}

interface Theme {
  family: string;
  fills: Record<CellCategory, string>;
  text: string;
  muted: string;
  paper: string;
  accent: string;
}

export interface IcicleEvents {
  /** The reader chose a cell, and wants to see it larger. */
  onSelect: (cell: number, zoom: boolean) => void;
}

export class Icicle {
  readonly element: HTMLElement;
  readonly #canvas: HTMLCanvasElement;
  readonly #tooltip: HTMLElement;
  readonly #cells: Cells;
  readonly #events: IcicleEvents;
  readonly #steadyRows: number;
  #theme: Theme | undefined;
  #boxes: IcicleBox[] = [];
  #selected = 0;
  #zoom = 0;
  #hovered: number | undefined;

  constructor(cells: Cells, events: IcicleEvents) {
    this.#cells = cells;
    this.#events = events;
    this.#steadyRows = Math.min(STEADY_ROWS, cells.depth());
    this.#canvas = element("canvas", {
      class: "icicle",
      tabindex: "0",
      role: "application",
      aria: {
        roledescription: "icicle chart",
        describedby: "icicle-keys",
      },
      on: {
        click: (event) => this.#click(event as MouseEvent),
        pointermove: (event) => this.#hover(event as PointerEvent),
        pointerleave: () => this.#leave(),
        keydown: (event) => this.#key(event as KeyboardEvent),
      },
    });
    this.#tooltip = element("div", { class: "tooltip", hidden: true, aria: { hidden: "true" } });
    this.element = element("div", { class: "icicle-box" }, this.#canvas, this.#tooltip);
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  /** Shows a cell, and what `zoom` and the cells above it are. */
  show(selected: number, zoom: number): void {
    this.#selected = selected;
    this.#zoom = zoom;
    const label = `${this.#cells.title(selected)}, retains ${this.#cells.sizeText(selected)}`;
    this.#canvas.setAttribute("aria-label", `Dominator tree. Selected: ${label}`);
    this.draw();
  }

  focus(): void {
    this.#canvas.focus({ preventScroll: true });
  }

  /** Draws everything in the colours of another theme. */
  redraw(): void {
    this.#theme = undefined;
    this.draw();
  }

  /** The colours of the page, which a canvas cannot name. */
  #readTheme(): Theme {
    const probe = this.#tooltip;
    const colour = (name: string) => {
      probe.style.setProperty("color", `var(--${name})`);
      return getComputedStyle(probe).color;
    };
    const theme = {
      family: getComputedStyle(this.#canvas).fontFamily,
      fills: {
        heap: colour("cell-heap"),
        program: colour("cell-program"),
        container: colour("cell-container"),
        contents: colour("cell-contents"),
        sum: colour("cell-sum"),
      },
      text: colour("text"),
      muted: colour("cell-muted"),
      paper: colour("paper"),
      accent: colour("accent"),
    };
    probe.style.removeProperty("color");
    this.#theme = theme;
    return theme;
  }

  /** Draws everything anew, after the size or the selection have changed. */
  draw(): void {
    const width = this.element.clientWidth;
    if (width === 0) return;
    this.#boxes = this.#layout(width);
    const rows = Math.max(this.#steadyRows, ...this.#boxes.map(({ row }) => row + 1));
    const height = rows * ROW;
    const ratio = devicePixelRatio || 1;
    const canvas = this.#canvas;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.setProperty("height", `${height}px`);
    const context = canvas.getContext("2d");
    if (context === null) return;
    context.scale(ratio, ratio);
    const { family, fills, text, muted, paper, accent } = this.#theme ?? this.#readTheme();
    context.textBaseline = "middle";
    for (const box of this.#boxes) {
      const top = box.row * ROW;
      context.fillStyle = fills[this.#cells.category(box.cell)];
      // A gap of a pixel keeps neighbours apart.
      const drawn = Math.max(box.width - (box.width > 3 ? 1 : 0), LEAST_WIDTH);
      context.fillRect(box.left, top, drawn, ROW - 1);
      if (box.width >= LEAST_TEXT) this.#label(context, box, family, text, muted);
    }
    for (const [cell, line] of [
      [this.#hovered, 1],
      [this.#selected, 2.5],
    ] as const) {
      const box = this.#boxes.find((box) => box.cell === cell);
      if (box === undefined) continue;
      const inset = line / 2;
      context.lineWidth = line + 2;
      context.strokeStyle = paper;
      const [left, top] = [box.left + inset, box.row * ROW + inset];
      const [wide, high] = [Math.max(box.width - line - 1, 1), ROW - 1 - line];
      context.strokeRect(left, top, wide, high);
      context.lineWidth = line;
      context.strokeStyle = accent;
      context.strokeRect(left, top, wide, high);
    }
  }

  #label(
    context: CanvasRenderingContext2D,
    { cell, row, left, width }: IcicleBox,
    family: string,
    text: string,
    muted: string,
  ): void {
    const middle = row * ROW + ROW / 2;
    const room = width - 2 * INSET;
    context.font = `500 12.5px ${family}`;
    const title = shortened(context, this.#cells.title(cell), room);
    if (title === "") return;
    context.fillStyle = text;
    context.fillText(title, left + INSET, middle);
    const used = context.measureText(title).width + 8;
    context.font = `400 12px ${family}`;
    const size = this.#cells.sizeText(cell);
    if (used + context.measureText(size).width > room) return;
    context.fillStyle = muted;
    context.fillText(size, left + INSET + used, middle);
  }

  #layout(width: number): IcicleBox[] {
    const boxes: IcicleBox[] = [];
    const above = this.#cells.lineage(this.#zoom);
    for (const [row, cell] of above.entries()) boxes.push({ cell, row, left: 0, width });
    const pending = [{ cell: this.#zoom, row: above.length - 1, left: 0, width }];
    for (let box = pending.pop(); box !== undefined; box = pending.pop()) {
      const perByte = box.width / this.#cells.size(box.cell);
      let left = box.left;
      for (const cell of this.#cells.parts[box.cell] as number[]) {
        const part = { cell, row: box.row + 1, left, width: this.#cells.size(cell) * perByte };
        left += part.width;
        if (part.width < LEAST_WIDTH) continue;
        boxes.push(part);
        pending.push(part);
      }
    }
    return boxes;
  }

  #at(event: MouseEvent): IcicleBox | undefined {
    const bounds = this.#canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - bounds.left, event.clientY - bounds.top];
    const row = Math.floor(y / ROW);
    return this.#boxes.find(
      (box) => box.row === row && x >= box.left && x < box.left + Math.max(box.width, 1),
    );
  }

  #click(event: MouseEvent): void {
    const box = this.#at(event);
    if (box !== undefined) this.#events.onSelect(box.cell, true);
  }

  #hover(event: PointerEvent): void {
    const box = this.#at(event);
    if (box?.cell !== this.#hovered) {
      this.#hovered = box?.cell;
      this.draw();
    }
    this.#tooltip.hidden = box === undefined;
    this.#canvas.classList.toggle("on-cell", box !== undefined);
    if (box === undefined) return;
    const whole = this.#cells.size(0);
    const size = this.#cells.size(box.cell);
    this.#tooltip.textContent = `${this.#cells.title(box.cell)} — ${this.#cells.sizeText(box.cell)}, ${format.share(size, whole)} of live`;
    const bounds = this.element.getBoundingClientRect();
    const room = bounds.width - this.#tooltip.offsetWidth;
    const left = Math.max(0, Math.min(event.clientX - bounds.left + 12, room));
    this.#tooltip.style.setProperty("left", `${left}px`);
    this.#tooltip.style.setProperty("top", `${event.clientY - bounds.top + 18}px`);
  }

  #leave(): void {
    this.#tooltip.hidden = true;
    if (this.#hovered === undefined) return;
    this.#hovered = undefined;
    this.draw();
  }

  #key(event: KeyboardEvent): void {
    const cells = this.#cells;
    const selected = this.#selected;
    const parent = cells.parent(selected);
    const siblings = parent === undefined ? [selected] : (cells.parts[parent] as number[]);
    const nth = siblings.indexOf(selected);
    const moves: Record<string, number | undefined> = {
      ArrowUp: parent,
      ArrowDown: cells.parts[selected]?.[0],
      ArrowLeft: siblings[nth - 1],
      ArrowRight: siblings[nth + 1],
      Home: siblings[0],
      End: siblings.at(-1),
      Enter: selected,
      Escape: 0,
    };
    if (!Object.hasOwn(moves, event.key)) return;
    event.preventDefault();
    const target = moves[event.key];
    if (target === undefined) return;
    const isShown = this.#boxes.some((box) => box.cell === target && box.width >= 3);
    const zooms = event.key === "Enter" || event.key === "Escape" || !isShown;
    this.#events.onSelect(target, zooms);
  }
}

/** As much of a text as fits; nothing if that is not much. */
function shortened(context: CanvasRenderingContext2D, text: string, room: number): string {
  if (context.measureText(text).width <= room) return text;
  let [short, long] = [0, text.length];
  while (short + 1 < long) {
    const middle = (short + long) >> 1;
    const isShort = context.measureText(`${text.slice(0, middle)}…`).width <= room;
    [short, long] = isShort ? [middle, long] : [short, middle];
  }
  return short < 2 ? "" : `${text.slice(0, short)}…`;
}
