/** Places the nodes of a graph: each connected part by forces, then the parts in rows, the largest first. */

export interface Point {
  x: number;
  y: number;
}

/** How far apart the nodes of an edge would like to be. */
const LENGTH = 76;
const ROUNDS = 160;
/** Of a part, so that the names of single nodes stand beside each other. */
const LEAST_WIDTH = 56;
/** Between parts. */
const MARGIN = 64;

/** A place for each node. The same graph always gets the same places. */
export function layOut(nodes: number, edges: { from: number; to: number }[]): Point[] {
  const places: Point[] = Array.from({ length: nodes }, () => ({ x: 0, y: 0 }));
  const parts = connectedParts(nodes, edges);
  const boxes = parts.map((part) => {
    const inside = new Set(part);
    const own = edges.filter(({ from, to }) => inside.has(from) && inside.has(to) && from !== to);
    spread(part, own, places);
    return normalized(part, places);
  });
  pack(parts, boxes, places);
  return places;
}

function connectedParts(nodes: number, edges: { from: number; to: number }[]): number[][] {
  const leader = Array.from({ length: nodes }, (_, node) => node);
  const find = (node: number): number => {
    let at = node;
    while (leader[at] !== at) {
      leader[at] = leader[leader[at] as number] as number;
      at = leader[at] as number;
    }
    return at;
  };
  for (const { from, to } of edges) {
    const [left, right] = [find(from), find(to)];
    leader[Math.max(left, right)] = Math.min(left, right);
  }
  const parts = new Map<number, number[]>();
  for (let node = 0; node < nodes; node++) {
    const first = find(node);
    parts.set(first, [...(parts.get(first) ?? []), node]);
  }
  return [...parts.values()].sort((left, right) => right.length - left.length);
}

/** Places the nodes of a part by forces: all repel each other, edges attract. */
function spread(part: number[], edges: { from: number; to: number }[], places: Point[]): void {
  const radius = (part.length * LENGTH) / (2 * Math.PI);
  for (const [nth, node] of part.entries()) {
    const angle = (nth / part.length) * 2 * Math.PI - Math.PI / 2;
    places[node] = { x: radius * Math.cos(angle), y: radius * Math.sin(angle) };
  }
  if (part.length < 3) return;
  const moves = new Map(part.map((node) => [node, { x: 0, y: 0 }]));
  for (let round = 0; round < ROUNDS; round++) {
    const heat = LENGTH * (1 - round / ROUNDS);
    for (const move of moves.values()) move.x = move.y = 0;
    for (const [nth, left] of part.entries()) {
      for (const right of part.slice(nth + 1)) push(left, right, places, moves);
    }
    for (const { from, to } of edges) pull(from, to, places, moves);
    for (const [node, move] of moves) {
      const length = Math.hypot(move.x, move.y) || 1;
      const step = Math.min(length, heat) / length;
      const place = places[node] as Point;
      place.x += move.x * step;
      place.y += move.y * step;
    }
  }
}

function push(left: number, right: number, places: Point[], moves: Map<number, Point>): void {
  const [from, to] = [places[left] as Point, places[right] as Point];
  const [x, y] = [to.x - from.x, to.y - from.y];
  const square = Math.max(x * x + y * y, 1);
  const force = (LENGTH * LENGTH) / square / 2;
  add(moves, left, -x * force, -y * force);
  add(moves, right, x * force, y * force);
}

function pull(left: number, right: number, places: Point[], moves: Map<number, Point>): void {
  const [from, to] = [places[left] as Point, places[right] as Point];
  const [x, y] = [to.x - from.x, to.y - from.y];
  const force = Math.hypot(x, y) / LENGTH / 2;
  add(moves, left, x * force, y * force);
  add(moves, right, -x * force, -y * force);
}

function add(moves: Map<number, Point>, node: number, x: number, y: number): void {
  const move = moves.get(node) as Point;
  move.x += x;
  move.y += y;
}

interface LayoutBox {
  width: number;
  height: number;
}

/** Moves a part so that it begins at the origin. */
function normalized(part: number[], places: Point[]): LayoutBox {
  const own = part.map((node) => places[node] as Point);
  const left = Math.min(...own.map(({ x }) => x));
  const top = Math.min(...own.map(({ y }) => y));
  for (const place of own) {
    place.x -= left;
    place.y -= top;
  }
  // A name is wider than its node.
  return {
    width: Math.max(LEAST_WIDTH, ...own.map(({ x }) => x)),
    height: Math.max(0, ...own.map(({ y }) => y)),
  };
}

/** Puts parts into rows of about the same width. */
function pack(parts: number[][], boxes: LayoutBox[], places: Point[]): void {
  const area = boxes.reduce(
    (sum, { width, height }) => sum + (width + MARGIN) * (height + MARGIN),
    0,
  );
  const widest = Math.max(0, ...boxes.map(({ width }) => width));
  const room = Math.max(widest, Math.sqrt(area) * 1.5);
  let [left, top, height] = [0, 0, 0];
  for (const [nth, part] of parts.entries()) {
    const box = boxes[nth] as LayoutBox;
    if (left > 0 && left + box.width > room) [left, top, height] = [0, top + height + MARGIN, 0];
    for (const node of part) {
      const place = places[node] as Point;
      place.x += left;
      place.y += top;
    }
    left += box.width + MARGIN;
    height = Math.max(height, box.height);
  }
}
