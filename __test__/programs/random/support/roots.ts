// Globals of every kind, and paths from them into the graph.
import { Container } from "./container";
import { Deep, follow, Labelled, makeNode, Node, Wide } from "./values";

let first: Node | null = null;
export let second: Node | null = null;
let labelled: Labelled | null = null;
let anything: Object | null = null;
let callback: (n: i32) => i32 = (n: i32): i32 => n;
const fixed = new Deep(1);
const constant: (Node | null)[] = [null, null, null, null];
const fixedArray: StaticArray<Node | null> = [null, null, null];
let replaceable: Node[] = [];
let anchors = new StaticArray<Node | null>(8);
export const containers: Container[] = [];

class Registry {
  static current: Node | null = null;
  static list: Node[] = [];
  static readonly first: Node = new Wide(2);
  static byName: Map<string, Node> = new Map();
}

namespace outer {
  export namespace inner {
    export let node: Node | null = null;
    export const nodes: Node[] = [];
  }
}

// @ts-ignore: decorator
@lazy let lazy: Node[] = [];
// @ts-ignore: decorator
@inline const inlined: (Node | null)[] = [null, null];

// None of these keeps its object.
let number: usize = 0;
let wide: u64 = 0;
let real: f64 = 0;

const ROOTS: i32 = 32;

function root(index: i32): Node | null {
  const at = <u32>index % ROOTS;
  if (at < 8) return anchors[at];
  switch (at) {
    case 8:
      return first;
    case 9:
      return second;
    case 10:
      return labelled instanceof Node ? <Node>labelled : null;
    case 11:
      return anything instanceof Node ? <Node>anything : null;
    case 12:
      return constant[index & 3];
    case 13:
      return fixedArray[index & 1];
    case 14:
      return replaceable.length > 0 ? replaceable[index % replaceable.length] : null;
    case 15:
      return Registry.current;
    case 16:
      return Registry.list.length > 0 ? Registry.list[index % Registry.list.length] : null;
    case 17:
      return Registry.byName.has("one") ? Registry.byName.get("one") : null;
    case 18:
      return outer.inner.node;
    case 19:
      return outer.inner.nodes.length > 0 ? outer.inner.nodes[0] : null;
    case 20:
      return lazy.length > 0 ? lazy[lazy.length - 1] : null;
    case 21:
      return inlined[index & 1];
    case 22:
      return Registry.first;
    default:
      return fixed;
  }
}

/** The node at a path: its lowest bits choose a root, the others the way from there. */
export function pick(path: i32): Node {
  let at = root(path & 31);
  let way = <u32>path >> 5;
  while (at && way > 0) {
    const onward = follow(at, way);
    if (!onward) break;
    at = onward;
    way >>= 2;
  }
  return at ? at : fixed;
}

export function setRoot(index: i32, node: Node): void {
  const at = <u32>index % ROOTS;
  if (at < 8) anchors[at] = node;
  else
    switch (at) {
      case 8:
        first = node;
        break;
      case 9:
        second = node;
        break;
      case 10:
        labelled = node instanceof Wide ? <Wide>node : <Labelled>new Deep(index);
        break;
      case 11:
        anything = node;
        break;
      case 12:
        constant[<u32>index % 3] = node;
        break;
      case 13:
        fixedArray[index & 1] = node;
        break;
      case 14:
        if (replaceable.length < 50) replaceable.push(node);
        break;
      case 15:
        Registry.current = node;
        break;
      case 16:
        if (Registry.list.length < 50) Registry.list.push(node);
        break;
      case 17:
        Registry.byName.set(index & 32 ? "one" : "two " + index.toString(), node);
        break;
      case 18:
        outer.inner.node = node;
        break;
      case 19:
        if (outer.inner.nodes.length < 50) outer.inner.nodes.push(node);
        break;
      case 20:
        if (lazy.length < 50) lazy.push(node);
        break;
      case 21:
        inlined[index & 1] = node;
        break;
      case 22:
        Registry.first.left = node;
        break;
      case 23:
        callback = (n: i32): i32 => n * 2;
        break;
      case 24:
        number = changetype<usize>(new Node(index));
        break;
      case 25:
        wide = changetype<usize>(new Node(index));
        break;
      case 26:
        real = <f64>changetype<usize>(new Node(index));
        break;
      default:
        fixed.right = node;
    }
}

export function clearRoot(index: i32): void {
  const at = <u32>index % ROOTS;
  if (at < 8) anchors[at] = null;
  else
    switch (at) {
      case 8:
        first = null;
        break;
      case 9:
        second = null;
        break;
      case 10:
        labelled = null;
        break;
      case 11:
        anything = null;
        break;
      case 12:
        constant[index & 3] = null;
        break;
      case 13:
        fixedArray[index & 1] = null;
        break;
      case 15:
        Registry.current = null;
        break;
      case 18:
        outer.inner.node = null;
        break;
      case 21:
        inlined[index & 1] = null;
        break;
      case 22:
        Registry.first.left = null;
        break;
      default:
        fixed.left = null;
        fixed.right = null;
        fixed.tail = null;
    }
}

export function changeRegistry(index: i32, n: i32): void {
  switch (<u32>index % 10) {
    case 0:
      replaceable = [];
      break;
    case 1:
      replaceable.length = replaceable.length >> 1;
      break;
    case 2:
      Registry.list = replaceable;
      break;
    case 3:
      Registry.list = Registry.list.slice(0, 3);
      break;
    case 4:
      Registry.byName = new Map();
      break;
    case 5:
      Registry.byName.delete("one");
      break;
    case 6:
      outer.inner.nodes.length = 0;
      break;
    case 7:
      lazy = lazy.concat(Registry.list).slice(0, 20);
      break;
    case 8:
      anchors = StaticArray.fromArray<Node | null>([
        makeNode(n, n),
        null,
        anchors[0],
        anchors[3],
        null,
        null,
        anchors[1],
        null,
      ]);
      break;
    default:
      fixed.list.length = 0;
  }
}

/** So that an optimiser keeps the globals that nothing reads. */
export function numbers(): f64 {
  return real + <f64>number + <f64>wide + <f64>callback(1);
}

/** Objects in static memory. */
export function staticObject(n: i32): Object {
  switch (n & 3) {
    case 0:
      return constant;
    case 1:
      return changetype<Object>(changetype<usize>(fixedArray));
    case 2:
      return changetype<Object>(changetype<usize>(callback));
    default:
      return inlined;
  }
}
