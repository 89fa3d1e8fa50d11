/** The parts of a cell of the dominator tree as a treemap: areas by retained size, and what is within the parts. */
import { hierarchy, treemap, treemapSquarify } from "d3-hierarchy";
import type { Cells } from "./cells.ts";
import { element, fill } from "./dom.ts";

const WIDTH = 1000;
const HEIGHT = 480;
/** Levels below the cell that is shown. */
const LEVELS = 2;
/** Rectangles of a level of one part at most; the rest is too small to be seen. */
const MOST_PARTS = 60;
/** Parts of the area from which a rectangle has a name. */
const LEAST_NAMED = { width: 7, height: 7 };

interface TreemapNode {
  cell: number;
  size: number;
  children: TreemapNode[];
}

export interface TreemapEvents {
  /** The reader chose a cell. */
  onSelect: (cell: number) => void;
}

export class Treemap {
  readonly element = element("div", {
    class: "treemap",
    role: "group",
    aria: { label: "Treemap of what it keeps alive" },
  });
  readonly #cells: Cells;
  readonly #events: TreemapEvents;

  constructor(cells: Cells, events: TreemapEvents) {
    this.#cells = cells;
    this.#events = events;
  }

  /** Shows the parts of a cell. */
  show(selected: number, zoom: number): void {
    const root = hierarchy(this.#node(zoom, LEVELS), ({ children }) => children);
    // What an object has itself is the room that its parts leave.
    root.eachAfter((node) => {
      const parts = node.children ?? [];
      const inside = parts.reduce((sum, part) => sum + part.data.size, 0);
      Object.assign(node, { value: Math.max(node.data.size, inside) });
    });
    const layout = treemap<TreemapNode>()
      .tile(treemapSquarify)
      .size([WIDTH, HEIGHT])
      .paddingInner(3)
      .paddingTop((node) => (node.depth === 0 ? 0 : 24));
    const boxes = layout(root as Parameters<typeof layout>[0]).descendants();
    fill(
      this.element,
      ...boxes.slice(1).map((box) => {
        const share = (one: number, all: number) => (one / all) * 100;
        const [left, top] = [share(box.x0, WIDTH), share(box.y0, HEIGHT)];
        const width = share(box.x1 - box.x0, WIDTH);
        const height = share(box.y1 - box.y0, HEIGHT);
        return this.#box(box.data.cell, box.depth, selected, { left, top, width, height });
      }),
      boxes.length === 1 &&
        element("p", { class: "empty" }, "This cell is not divided any further."),
    );
  }

  #node(cell: number, levels: number): TreemapNode {
    const parts = levels === 0 ? [] : (this.#cells.parts[cell] ?? []).slice(0, MOST_PARTS);
    const children = parts.map((part) => this.#node(part, levels - 1));
    return { cell, size: this.#cells.size(cell), children };
  }

  #box(
    cell: number,
    depth: number,
    selected: number,
    place: { left: number; top: number; width: number; height: number },
  ): HTMLElement {
    const title = `${this.#cells.title(cell)}, ${this.#cells.sizeText(cell)}`;
    const isNamed = place.width > LEAST_NAMED.width && place.height > LEAST_NAMED.height;
    const button = element(
      "button",
      {
        type: "button",
        class: `tile cell-${this.#cells.category(cell)} depth-${depth}`,
        title,
        aria: { label: title, pressed: String(cell === selected) },
        on: { click: () => this.#events.onSelect(cell) },
      },
      isNamed && element("span", {}, title),
    );
    for (const [side, share] of Object.entries(place)) {
      button.style.setProperty(side, `${share}%`);
    }
    return button;
  }
}
