/** A node-link graph in SVG: pan, zoom, drag, and a selected node. */
import type { Unreachable } from "./data.ts";
import { element, svg } from "./dom.ts";
import * as format from "./format.ts";
import { layOut, type Point } from "./layout.ts";

/** The objects and references of a graph that is drawn. */
export type DrawnGraph = Pick<Unreachable, "nodes" | "edges">;
export type GraphNode = DrawnGraph["nodes"][number];

/** Pixels that a pointer may move in a click. */
const CLICK = 4;
/** Below this scale, names would cover each other. */
const LEAST_NAMED = 0.5;
const LEAST_SCALE = 0.05;
const MOST_SCALE = 4;
const LEAST_RADIUS = 9;
const MOST_RADIUS = 24;

export interface GraphEvents {
  onSelect: (node: number | undefined) => void;
}

export class Graph {
  readonly element: HTMLElement;
  readonly #graph: DrawnGraph;
  readonly #events: GraphEvents;
  readonly #svg: SVGSVGElement;
  readonly #scene: SVGGElement;
  readonly #places: Point[];
  readonly #radii: number[];
  readonly #marks: SVGGElement[];
  readonly #lines: SVGPathElement[];
  /** The names of the references, if they are shown. */
  readonly #names: SVGTextElement[];
  #shown: boolean[];
  #selected: number | undefined;
  #view = { x: 0, y: 0, scale: 1 };
  #isFitted = false;

  /** With `namesReferences`, each has its label at its middle, for small graphs. */
  constructor(graph: DrawnGraph, events: GraphEvents, title: string, namesReferences = false) {
    this.#graph = graph;
    this.#events = events;
    this.#places = layOut(graph.nodes.length, graph.edges);
    const largest = Math.max(1, ...graph.nodes.map(({ shallowSize }) => shallowSize));
    this.#radii = graph.nodes.map(
      ({ shallowSize }) =>
        LEAST_RADIUS + (MOST_RADIUS - LEAST_RADIUS) * Math.sqrt(shallowSize / largest),
    );
    this.#shown = graph.nodes.map(() => true);
    this.#lines = graph.edges.map(({ from, to }) => this.#line(from, to));
    this.#names = namesReferences ? graph.edges.map((edge) => this.#name(edge)) : [];
    this.#marks = graph.nodes.map((node, nth) => this.#mark(node, nth));
    for (const node of mostConnected(graph)) this.#marks[node]?.classList.add("major");
    this.#scene = svg("g", {}, ...this.#lines, ...this.#names, ...this.#marks);
    this.#svg = svg(
      "svg",
      {
        class: "graph",
        role: "application",
        "aria-label": title,
        tabindex: 0,
      },
      svg("defs", {}, arrow("arrow"), arrow("arrow-cycle")),
      this.#scene,
    );
    this.#listen();
    const zoom = (factor: number) => () => this.#zoomBy(factor);
    const button = (text: string, label: string, click: () => void) =>
      element("button", { type: "button", aria: { label }, title: label, on: { click } }, text);
    this.element = element(
      "div",
      { class: "graph-box" },
      this.#svg,
      element(
        "div",
        { class: "graph-buttons" },
        button("+", "Zoom in", zoom(1.4)),
        button("−", "Zoom out", zoom(1 / 1.4)),
        button("Fit", "Fit the whole graph", () => this.fit(0)),
      ),
    );
    new ResizeObserver(() => {
      if (!this.#isFitted) this.fit();
    }).observe(this.element);
  }

  /** Shows only these nodes, and the references between them. */
  filter(isShown: (node: number) => boolean): void {
    this.#shown = this.#graph.nodes.map((_, node) => isShown(node));
    for (const [node, mark] of this.#marks.entries()) {
      mark.classList.toggle("left-out", this.#shown[node] !== true);
    }
    for (const [nth, { from, to }] of this.#graph.edges.entries()) {
      const isLeftOut = this.#shown[from] !== true || this.#shown[to] !== true;
      this.#lines[nth]?.classList.toggle("left-out", isLeftOut);
    }
  }

  /** Marks a node, its references and its neighbours. */
  select(node: number | undefined): void {
    this.#selected = node;
    const near = new Set<number>(node === undefined ? [] : [node]);
    for (const [nth, { from, to }] of this.#graph.edges.entries()) {
      const isNear = from === node || to === node;
      this.#lines[nth]?.classList.toggle("near", isNear);
      if (isNear) near.add(from).add(to);
    }
    this.#svg.classList.toggle("has-selection", node !== undefined);
    for (const [nth, mark] of this.#marks.entries()) {
      mark.classList.toggle("selected", nth === node);
      mark.classList.toggle("near", near.has(nth));
    }
  }

  /** Brings nodes into the view. */
  show(nodes: number[]): void {
    const places = nodes.map((node) => this.#places[node] as Point);
    if (places.length > 0) this.#fitTo(places, 1.5);
  }

  /** Brings all nodes that are shown into the view; with a least scale, as many as have room: the largest parts. */
  fit(least = LEAST_NAMED): void {
    const places = this.#places.filter((_, node) => this.#shown[node] === true);
    if (places.length > 0 && this.#svg.clientWidth > 0) this.#fitTo(places, 1.2, least);
  }

  #fitTo(places: Point[], most: number, least = 0): void {
    this.#isFitted = true;
    const [xs, ys] = [places.map(({ x }) => x), places.map(({ y }) => y)];
    const [left, top] = [Math.min(...xs) - 60, Math.min(...ys) - 50];
    const [width, height] = [Math.max(...xs) + 60 - left, Math.max(...ys) + 60 - top];
    const { clientWidth, clientHeight } = this.#svg;
    const fitting = Math.min(most, clientWidth / width, clientHeight / height);
    const scale = Math.max(fitting, least);
    const middle = (room: number, needed: number) => Math.max(0, (room - needed * scale) / 2);
    this.#view = {
      scale,
      x: middle(clientWidth, width) - left * scale,
      y: middle(clientHeight, height) - top * scale,
    };
    this.#applyView();
  }

  #applyView(): void {
    const { x, y, scale } = this.#view;
    this.#scene.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
    // Names stay readable as long as they do not cover each other.
    const nameScale = Math.min(1.2, Math.max(0.3, scale));
    this.#svg.style.setProperty("--name-scale", String(nameScale));
    this.#svg.classList.toggle("far", scale < LEAST_NAMED);
  }

  #zoomBy(factor: number, at?: Point): void {
    const { x, y, scale } = this.#view;
    const center = at ?? { x: this.#svg.clientWidth / 2, y: this.#svg.clientHeight / 2 };
    const next = Math.min(MOST_SCALE, Math.max(LEAST_SCALE, scale * factor));
    const ratio = next / scale;
    this.#view = {
      scale: next,
      x: center.x - (center.x - x) * ratio,
      y: center.y - (center.y - y) * ratio,
    };
    this.#applyView();
  }

  #mark(node: GraphNode, nth: number): SVGGElement {
    const radius = this.#radii[nth] as number;
    const isInCycle = node.cycle !== null;
    const mark = svg(
      "g",
      { class: `node ${node.state}${isInCycle ? " in-cycle" : ""}`, "data-node": nth },
      isInCycle && svg("circle", { class: "ring", r: radius + 4.5 }),
      shape(node, radius),
      svg("text", { y: radius + 17, "text-anchor": "middle" }, nodeName(node)),
      svg("title", {}, nodeTitle(node)),
    );
    this.#place(mark, nth);
    return mark;
  }

  #place(mark: SVGGElement, nth: number): void {
    const { x, y } = this.#places[nth] as Point;
    mark.setAttribute("transform", `translate(${x} ${y})`);
  }

  #line(from: number, to: number): SVGPathElement {
    const { nodes } = this.#graph;
    const cycle = nodes[from]?.cycle;
    const isInCycle = cycle !== null && cycle === nodes[to]?.cycle;
    return svg("path", {
      class: `edge${isInCycle ? " in-cycle" : ""}`,
      d: this.#course(from, to),
      "marker-end": `url(#${isInCycle ? "arrow-cycle" : "arrow"})`,
    });
  }

  /** The label of a reference, at its middle. */
  #name({ from, to, label }: DrawnGraph["edges"][number]): SVGTextElement {
    const text = label.length > 20 ? `${label.slice(0, 19)}…` : label;
    const name = svg("text", { class: "edge-name", "text-anchor": "middle" }, text);
    this.#placeName(name, from, to);
    return name;
  }

  #placeName(name: SVGTextElement, from: number, to: number): void {
    const [start, end] = [this.#places[from] as Point, this.#places[to] as Point];
    name.setAttribute("x", String((start.x + end.x) / 2));
    name.setAttribute("y", String((start.y + end.y) / 2 - (from === to ? 40 : 4)));
  }

  /** A bent line from the border of one node to that of another, or a loop. */
  #course(from: number, to: number): string {
    const [start, end] = [this.#places[from] as Point, this.#places[to] as Point];
    const room = (node: number) =>
      (this.#radii[node] as number) + (this.#graph.nodes[node]?.cycle === null ? 2 : 7);
    if (from === to) {
      const radius = room(from);
      const { x, y } = start;
      return `M ${x - radius * 0.6} ${y - radius * 0.8} C ${x - 34} ${y - radius - 42} ${x + 34} ${y - radius - 42} ${x + radius * 0.6} ${y - radius * 0.8}`;
    }
    const [x, y] = [end.x - start.x, end.y - start.y];
    const length = Math.hypot(x, y) || 1;
    const [alongX, alongY] = [x / length, y / length];
    const bend = Math.min(18, length * 0.12);
    const [first, last] = [room(from), room(to) + 3];
    const beginX = start.x + alongX * first;
    const beginY = start.y + alongY * first;
    const [stopX, stopY] = [end.x - alongX * last, end.y - alongY * last];
    const middleX = (beginX + stopX) / 2 - alongY * bend;
    const middleY = (beginY + stopY) / 2 + alongX * bend;
    return `M ${beginX} ${beginY} Q ${middleX} ${middleY} ${stopX} ${stopY}`;
  }

  /** Pan, drag, zoom and select, by pointer and by keyboard. */
  #listen(): void {
    let held: { node: number | undefined; x: number; y: number; moved: number } | undefined;
    const graph = this.#svg;
    graph.addEventListener("pointerdown", (event) => {
      const mark = (event.target as Element).closest("[data-node]");
      const node = mark === null ? undefined : Number(mark.getAttribute("data-node"));
      held = { node, x: event.clientX, y: event.clientY, moved: 0 };
      graph.setPointerCapture(event.pointerId);
    });
    graph.addEventListener("pointermove", (event) => {
      if (held === undefined) return;
      const [x, y] = [event.clientX - held.x, event.clientY - held.y];
      held = { ...held, x: event.clientX, y: event.clientY, moved: held.moved + Math.hypot(x, y) };
      if (held.moved < CLICK) return;
      if (held.node === undefined) {
        this.#view.x += x;
        this.#view.y += y;
        this.#applyView();
      } else {
        this.#drag(held.node, x / this.#view.scale, y / this.#view.scale);
      }
    });
    graph.addEventListener("pointerup", () => {
      if (held !== undefined && held.moved < CLICK) this.#events.onSelect(held.node);
      held = undefined;
    });
    graph.addEventListener("pointercancel", () => {
      held = undefined;
    });
    graph.addEventListener(
      "wheel",
      (event) => {
        // Without a key, the wheel scrolls the page.
        if (!event.ctrlKey && !event.metaKey && !event.shiftKey) return;
        event.preventDefault();
        const bounds = graph.getBoundingClientRect();
        const at = { x: event.clientX - bounds.left, y: event.clientY - bounds.top };
        const delta = event.deltaY === 0 ? event.deltaX : event.deltaY;
        this.#zoomBy(delta < 0 ? 1.15 : 1 / 1.15, at);
      },
      { passive: false },
    );
    graph.addEventListener("keydown", (event) => this.#key(event));
  }

  #drag(node: number, x: number, y: number): void {
    const place = this.#places[node] as Point;
    place.x += x;
    place.y += y;
    this.#place(this.#marks[node] as SVGGElement, node);
    for (const [nth, { from, to }] of this.#graph.edges.entries()) {
      if (from !== node && to !== node) continue;
      this.#lines[nth]?.setAttribute("d", this.#course(from, to));
      const name = this.#names[nth];
      if (name !== undefined) this.#placeName(name, from, to);
    }
  }

  #key(event: KeyboardEvent): void {
    const PAN = 60;
    const pans: Record<string, [number, number]> = {
      ArrowLeft: [PAN, 0],
      ArrowRight: [-PAN, 0],
      ArrowUp: [0, PAN],
      ArrowDown: [0, -PAN],
    };
    const pan = pans[event.key];
    if (pan !== undefined) {
      this.#view.x += pan[0];
      this.#view.y += pan[1];
      this.#applyView();
    } else if (event.key === "+" || event.key === "=") this.#zoomBy(1.4);
    else if (event.key === "-") this.#zoomBy(1 / 1.4);
    else if (event.key === "0") this.fit(0);
    else if (event.key === "n" || event.key === "p") this.#selectNext(event.key === "n" ? 1 : -1);
    else if (event.key === "Escape") this.#events.onSelect(undefined);
    else return;
    event.preventDefault();
  }

  #selectNext(step: number): void {
    const nodes = [...this.#shown.keys()].filter((node) => this.#shown[node] === true);
    if (nodes.length === 0) return;
    const at = this.#selected === undefined ? -1 : nodes.indexOf(this.#selected);
    const next = at < 0 && step < 0 ? nodes.length - 1 : (at + step + nodes.length) % nodes.length;
    this.#events.onSelect(nodes[next]);
  }
}

/** Nodes that keep their names when the graph is small. */
const MAJOR = 14;

/** The nodes with the most references, of equal ones the largest. */
function mostConnected({ nodes, edges }: DrawnGraph): number[] {
  const degree = nodes.map(() => 0);
  for (const { from, to } of edges) {
    degree[from] = (degree[from] as number) + 1;
    degree[to] = (degree[to] as number) + 1;
  }
  const all = [...nodes.keys()];
  all.sort((one, other) => (degree[other] as number) - (degree[one] as number) || one - other);
  return all.slice(0, MAJOR);
}

/** What a node is called: its class, or that it is a raw block. */
export function nodeName({ className }: GraphNode): string {
  const name = className === null ? "raw block" : format.shortClassName(className);
  return name.length > 22 ? `${name.slice(0, 21)}…` : name;
}

function nodeTitle(node: GraphNode): string {
  const name = node.className === null ? "raw block" : format.className(node.className);
  return `${name} at ${node.addressText}, ${node.state}, ${format.bytes(node.shallowSize)}`;
}

/** States differ by shape: garbage is round, what is alive is a diamond, raw blocks are squares. */
function shape({ state }: GraphNode, radius: number): SVGElement {
  if (state === "garbage") return svg("circle", { class: "shape", r: radius });
  const side = radius * 1.7;
  const box = { x: -side / 2, y: -side / 2, width: side, height: side, rx: 2 };
  return svg("rect", { class: "shape", ...box, transform: `rotate(${state === "raw" ? 0 : 45})` });
}

function arrow(id: string): SVGMarkerElement {
  return svg(
    "marker",
    {
      id,
      class: id,
      viewBox: "0 0 8 8",
      refX: 6,
      refY: 4,
      markerWidth: 7,
      markerHeight: 7,
      orient: "auto",
    },
    svg("path", { d: "M 0 0.8 L 7 4 L 0 7.2 z" }),
  );
}
