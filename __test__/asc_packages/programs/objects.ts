// @ts-ignore: decorator
@external("host", "dump")
declare function dump(): void;

export function gc(): void {
  __collect();
}

class Node {
  text: string = "";
  next: Node | null = null;
  buffer: Uint8Array = new Uint8Array(12);
}
const all: Node[] = [];
const byText: Map<string, Node> = new Map<string, Node>();

function add(i: i32): void {
  const node = new Node();
  node.text = "node " + i.toString();
  node.next = all.length > 0 ? all[all.length - 1] : null;
  all.push(node);
  byText.set(node.text, node);
  new Node();
}

export function main(): void {
  dump();
  for (let i = 0; i < 10; i++) {
    add(i);
    if (i % 3 == 0) dump();
  }
  all.length = 2;
  byText.clear();
  dump();
}
