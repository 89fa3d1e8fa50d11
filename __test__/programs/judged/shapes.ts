// Shapes that are difficult for code that follows references: a very long list, cycles, a dense graph,
// an object that many refer to, and references to itself.
import { judge } from "./support/host";

class Node {
  left: Node | null = null;
  right: Node | null = null;
  constructor(public tag: i32) {}
}

let head: Node | null = null;
let ring: Node | null = null;
let shared: Node[] = [];
let self: Node | null = null;
let tree: Node | null = null;

function longList(length: i32): void {
  for (let i = 0; i < length; i++) {
    const node = new Node(i);
    node.left = head;
    head = node;
  }
}

function makeRing(length: i32): Node {
  const first = new Node(0);
  let last = first;
  for (let i = 1; i < length; i++) {
    const node = new Node(i);
    node.right = last;
    last.left = node;
    last = node;
  }
  last.left = first;
  first.right = last;
  return first;
}

function makeTree(depth: i32): Node {
  const node = new Node(depth);
  if (depth > 0) {
    node.left = makeTree(depth - 1);
    node.right = depth & 1 ? node.left : makeTree(depth - 2 > 0 ? depth - 2 : 0);
  }
  return node;
}

function build(): void {
  longList(50000);
  ring = makeRing(100);
  makeRing(100);
  const target = new Node(1);
  for (let i = 0; i < 200; i++) {
    const node = new Node(i);
    node.left = target;
    node.right = i > 0 ? shared[i - 1] : null;
    target.left = node;
    shared.push(node);
  }
  self = new Node(0);
  self!.left = self;
  self!.right = self;
  tree = makeTree(9);
}

export function main(): void {
  build();
  judge(0);
  let middle: Node = head!;
  for (let i = 0; i < 25000; i++) middle = middle.left!;
  head = middle;
  ring = null;
  self = null;
  judge(1);
  head = null;
  middle = shared[0];
  judge(2);
}
