// The classes of nodes, which make up the graph.
import { Container } from "./container";

export interface Labelled {
  label: string | null;
}

export class Node {
  left: Node | null = null;
  right: Node | null = null;
  anything: Object | null = null;
  constructor(public tag: i32) {}
  next(): Node | null {
    return this.left;
  }
}

export class Narrow extends Node {
  flag: bool = true;
  label: string | null = null;
  short: i16 = 7;
  tail: Node | null = null;
  next(): Node | null {
    return this.tail;
  }
}

export class Wide extends Node implements Labelled {
  value: i64 = -1;
  label: string | null = null;
  ratio: f64 = 0.5;
  numbers: f64[] | null = null;
  byte: u8 = 255;
  address: usize = 0;
}

export class Deep extends Narrow implements Labelled {
  labelled: Labelled | null = null;
  list: (Node | null)[] = [];
  next(): Node | null {
    return this.list.length > 0 ? this.list[0] : this.tail;
  }
}

export class Carrier extends Node {
  container: Container | null = null;
  view: ArrayBufferView | null = null;
  data: DataView | null = null;
  buffer: ArrayBuffer | null = null;
}

export class Listener extends Node {
  callback: ((n: i32) => i32) | null = null;
  fallback: (() => void) | null = null;
}

export class Box<T> extends Node {
  content: T;
  constructor(tag: i32, content: T) {
    super(tag);
    this.content = content;
  }
}

/** Not a node, and nothing extends it. */
export class Pair<A, B> {
  constructor(
    public first: A,
    public second: B,
  ) {}
}

@unmanaged
class Struct {
  x: i32 = 0;
  node: Node | null = null;
}

/** Has a field that is a pointer, but no reference. */
export class WithStruct extends Node {
  struct: Struct = changetype<Struct>(0);
  after: Node | null = null;
}

export const NODE_KINDS: i32 = 12;

export function makeNode(kind: i32, n: i32): Node {
  switch (<u32>kind % NODE_KINDS) {
    case 0: {
      const node = new Narrow(n);
      node.label = n & 1 ? text(n) : null;
      return node;
    }
    case 1: {
      const node = new Wide(n);
      node.label = n & 1 ? text(n) : "a text in static memory";
      node.numbers = n & 2 ? [1.5, <f64>n] : null;
      return node;
    }
    case 2: {
      const node = new Deep(n);
      for (let i = 0; i < (n & 3); i++) node.list.push(i & 1 ? new Node(i) : null);
      node.labelled = n & 4 ? new Wide(n) : changetype<Wide | null>(0);
      return node;
    }
    case 3:
      return new Carrier(n);
    case 4: {
      const node = new Listener(n);
      if (n & 1) node.callback = (n: i32): i32 => n + 1;
      if (n & 2) node.fallback = (): void => {};
      return node;
    }
    case 5:
      return new Box<i64>(n, n);
    case 6:
      return new Box<string>(n, text(n));
    case 7:
      return new Box<Pair<u8, Node>>(n, new Pair<u8, Node>(<u8>n, new Node(n)));
    case 8:
      return new Box<StaticArray<string>>(n, [text(n), "", text(n + 1)]);
    case 9: {
      const node = new WithStruct(n);
      // The address of an object that nothing else holds.
      node.struct = changetype<Struct>(changetype<usize>(new Node(n)));
      return node;
    }
    default:
      return new Node(n);
  }
}

export function text(n: i32): string {
  switch (n & 7) {
    case 0:
      return "";
    case 1:
      return "static";
    default:
      return "text " + n.toString();
  }
}

export function setField(node: Node, field: i32, value: Node | null): void {
  switch (field & 7) {
    case 0:
    case 1:
      node.left = value;
      break;
    case 2:
    case 3:
      node.right = value;
      break;
    case 4:
      node.anything = value;
      break;
    default:
      if (node instanceof Narrow) (<Narrow>node).tail = value;
      if (node instanceof Deep) {
        const deep = <Deep>node;
        if (deep.list.length < 40) deep.list.push(value);
        if (value instanceof Wide) deep.labelled = <Wide>value;
      } else if (node instanceof WithStruct) (<WithStruct>node).after = value;
      else node.right = value;
  }
}

export function clearField(node: Node, field: i32, among: i32): void {
  switch (field & 7) {
    case 0:
    case 1:
      node.left = null;
      break;
    case 2:
    case 3:
      node.right = null;
      break;
    case 4:
      node.anything = null;
      break;
    default:
      if (node instanceof Narrow) {
        (<Narrow>node).tail = null;
        (<Narrow>node).label = null;
      }
      if (node instanceof Deep) {
        const deep = <Deep>node;
        if (deep.list.length > 0) {
          if (among & 1) deep.list.pop();
          else if (among & 2) deep.list.shift();
          else deep.list[<u32>among % deep.list.length] = null;
        }
        deep.labelled = null;
      } else if (node instanceof Wide) {
        (<Wide>node).numbers = null;
        (<Wide>node).label = null;
      } else if (node instanceof Carrier) {
        const carrier = <Carrier>node;
        if (among & 1) carrier.container = null;
        if (among & 2) carrier.view = null;
        if (among & 4) carrier.data = null;
        if (among & 8) carrier.buffer = null;
      } else if (node instanceof Listener) {
        if (among & 1) (<Listener>node).callback = null;
        else (<Listener>node).fallback = null;
      }
  }
}

/** The node that is one step away, if there is one. */
export function follow(node: Node, way: i32): Node | null {
  switch (way & 3) {
    case 0:
      return node.left;
    case 1:
      return node.right;
    case 2:
      return node.anything instanceof Node ? <Node>node.anything : node.right;
    default:
      return node.next();
  }
}
