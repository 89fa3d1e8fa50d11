// Work of every kind for the allocator and the collector, on a heap that mostly stays as it is.
class Node {
  next: Node | null = null;
  constructor(public tag: i32) {}
}

class Leaf extends Node {
  text: string = "x";
}

const kept: Node[] = [];
const byName: Map<string, Node> = new Map();
let text: string = "";
let raw: usize = 0;
let pinned: usize = 0;

export function setup(): void {
  for (let i = 0; i < 30; i++) {
    const node = new Node(i);
    node.next = new Leaf(i);
    kept.push(node);
    byName.set("k" + i.toString(), new Leaf(i));
    new Node(-i);
  }
  raw = heap.alloc(100);
  __collect();
}

export const steps = 7;

export function step(nth: i32): void {
  switch (nth % steps) {
    case 0: {
      for (let i = 0; i < 12; i++) kept.push(new Node(i));
      break;
    }
    case 1: {
      for (let i = 0; i < 12; i++) byName.set(nth.toString() + ":" + i.toString(), new Leaf(i));
      break;
    }
    case 2: {
      text = (text + "abc" + nth.toString()).repeat(2).substring(0, 40);
      break;
    }
    case 3: {
      const other = heap.alloc(64);
      raw = heap.realloc(raw, 200 + nth * 16);
      heap.free(other);
      break;
    }
    case 4: {
      if (pinned) __unpin(pinned);
      pinned = __pin(changetype<usize>(new Leaf(nth)));
      break;
    }
    case 5: {
      for (let i = 0; i < 300; i++) new Node(i);
      break;
    }
    case 6: {
      __collect();
      break;
    }
  }
}
