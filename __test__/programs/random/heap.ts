// Executes a stream of operations from the judge on a heap of every kind of object.
import { Container } from "./support/container";
import { makeContainer } from "./support/containers";
import {
  AFTER_COLLECTION,
  AFTER_CUT,
  BEFORE_COLLECTION,
  BEFORE_CUT,
  dump,
  markingAt,
  next,
  operand,
} from "./support/host";
import { make } from "./support/make";
import { Operation } from "./support/operations";
export { foreignBytes, forgedBytes, rawBytes } from "./support/raw";
import { freeRaw, growMemory, hasRoom, makeRaw, makeRawRing, resizeRaw } from "./support/raw";
import {
  changeRegistry,
  clearRoot,
  containers,
  numbers,
  pick,
  setRoot,
  staticObject,
} from "./support/roots";
import {
  Box,
  Carrier,
  clearField,
  Listener,
  makeNode,
  Node,
  Pair,
  setField,
  text,
  Wide,
} from "./support/values";

/** Addresses of pinned objects. */
const pinned = new StaticArray<usize>(16);
let pinnedCount: i32 = 0;

export function countOfPinned(): i32 {
  return pinnedCount;
}

const MOST_CONTAINERS: i32 = 24;

let large: ArrayBuffer | null = null;
let depth: i32 = 0;

function judge(): void {
  dump(BEFORE_COLLECTION);
  __collect();
  dump(AFTER_COLLECTION);
}

function cutReferences(times: i32): void {
  for (let i = 0; i < times; i++) {
    __collect();
    dump(BEFORE_CUT);
    __collect();
    dump(AFTER_CUT);
  }
}

function addContainer(kind: i32, place: i32, elements: i32): void {
  const container = makeContainer(kind);
  container.use(0, elements);
  if (place & 1) {
    const node = pick(place >> 1);
    if (node instanceof Carrier) (<Carrier>node).container = container;
    else node.anything = container;
  } else {
    containers.push(container);
    if (containers.length > MOST_CONTAINERS) containers.shift();
  }
}

function containerAt(index: i32): Container | null {
  if (index & 1) {
    const node = pick(index >> 1);
    if (node instanceof Carrier) return (<Carrier>node).container;
    if (node.anything instanceof Container) return <Container>node.anything;
  }
  return containers.length > 0 ? containers[<u32>index % containers.length] : null;
}

function dropContainer(index: i32): void {
  if (containers.length > 0) containers.splice(<u32>index % containers.length, 1);
}

/**
 * Gives a node a function value on the heap that owns an environment, as closures will be. The
 * node has it before the environment is made, as an address alone keeps nothing.
 */
function attachClosure(node: Node, n: i32): void {
  const template: (n: i32) => i32 = (n: i32): i32 => n + 2;
  const closure = __new(8, load<u32>(changetype<usize>(template) - 8));
  store<u32>(closure, load<u32>(changetype<usize>(template)));
  if (node instanceof Listener) (<Listener>node).callback = changetype<(n: i32) => i32>(closure);
  else node.anything = changetype<Object>(closure);
  const environment = changetype<usize>(makeNode(n, n));
  store<usize>(closure, environment, 4);
  __link(closure, environment, false);
}

function attach(kind: i32, node: Node, n: i32): void {
  switch (<u32>kind % 18) {
    case 0:
      node.anything = changetype<Object>(changetype<usize>(text(n)));
      break;
    case 1:
      node.anything = [1.5, 2.5, <f64>n];
      break;
    case 2:
      node.anything = [makeNode(n, n), node];
      break;
    case 3:
      node.anything = staticObject(n);
      break;
    case 4:
      node.anything = changetype<Object>(__new(8, idof<Object>()));
      break;
    case 5:
      node.anything = new Pair<string, Node | null>(text(n), n & 1 ? node : null);
      break;
    case 6:
      node.anything = new Pair<i64, Pair<bool, Node>>(n, new Pair<bool, Node>(true, new Node(n)));
      break;
    case 7:
      node.anything = changetype<Object>(changetype<usize>(new ArrayBuffer(n & 127)));
      break;
    case 8:
      node.anything = new StaticArray<Node | null>(n & 7);
      break;
    case 9:
      node.anything = new Box<Map<i32, Node>>(n, new Map<i32, Node>());
      break;
    case 10:
      attachClosure(node, n);
      break;
    case 11:
      if (node instanceof Wide) {
        (<Wide>node).address = changetype<usize>(new Node(n));
        (<Wide>node).value = changetype<usize>(new Node(n));
        (<Wide>node).numbers = [<f64>n];
      }
      break;
    case 12:
      if (node instanceof Carrier) {
        const carrier = <Carrier>node;
        const buffer = new ArrayBuffer(32);
        carrier.buffer = n & 1 ? buffer : null;
        carrier.view = n & 2 ? Uint8Array.wrap(buffer, 8) : changetype<Uint8Array>(new Int64Array(n & 7));
        carrier.data = n & 4 ? new DataView(buffer, 4, 8) : null;
      }
      break;
    case 13:
      // A container that belongs to a node.
      node.anything = makeContainer(n);
      break;
    case 14:
      if (containers.length > 0) node.anything = containers[<u32>n % containers.length];
      break;
    case 15: {
      // A long list.
      let last = node;
      for (let i = 0; i < (n & 127); i++) {
        const link = new Node(i);
        last.left = link;
        last = link;
      }
      break;
    }
    case 16: {
      // A ring that leads back.
      const ring = new Node(n);
      ring.left = makeNode(n + 1, n);
      ring.left!.right = ring;
      ring.right = node;
      node.right = ring;
      break;
    }
    default:
      node.anything = node.anything ? null : make<Object | null>(n);
  }
}

function makeGarbage(kind: i32, howMany: i32): void {
  for (let i = 0; i < howMany; i++) {
    if (kind & 1) makeNode(kind >> 1, i);
    else if (kind & 2) "garbage ".repeat(i & 7);
    else {
      const one = new Node(i);
      one.left = new Node(-i);
      one.left!.left = one;
    }
  }
}

function pin(path: i32, kind: i32): void {
  if (pinnedCount == pinned.length) return;
  let target: usize;
  switch (kind & 7) {
    case 0:
      target = changetype<usize>(makeNode(path, path));
      break;
    case 1:
      target = changetype<usize>(staticObject(path));
      break;
    case 2:
      target = changetype<usize>([new Node(path)]);
      break;
    case 3:
      target = changetype<usize>("pinned " + path.toString());
      break;
    default:
      target = changetype<usize>(pick(path));
  }
  for (let i = 0; i < pinnedCount; i++) {
    if (pinned[i] == target) return;
  }
  // The runtime loses its way when the object that it marks at this moment is pinned.
  if (target - 20 == markingAt()) return;
  pinned[pinnedCount++] = __pin(target);
}

function unpin(index: i32): void {
  if (pinnedCount == 0) return;
  const at = <u32>index % pinnedCount;
  const target = pinned[at];
  if (target - 20 == markingAt()) return;
  __unpin(target);
  pinned[at] = pinned[--pinnedCount];
}

/** Holds a node, a text, a list and a map, each in its own local variable. */
function holdInLocals(path: i32): i32 {
  const node = makeNode(path, path);
  node.left = new Node(path);
  const words = "held " + path.toString();
  const list: Node[] = [new Node(1), new Node(2), pick(path)];
  const map = new Map<Node, string>();
  map.set(new Node(3), "value " + path.toString());
  run();
  return node.tag + words.length + list.length + map.size;
}

/** Holds objects that the program may release during the call. */
function holdShared(path: i32): i32 {
  const node = pick(path);
  const container = containerAt(path);
  run();
  return node.tag + (container ? 1 : 0);
}

/** Holds its argument, which the caller does not. */
function holdArgument(node: Node, words: string): i32 {
  run();
  return node.tag + words.length;
}

/** Holds temporary values in the middle of an expression. */
function holdTemporaries(path: i32): i32 {
  return sum(makeNode(path, path), run(), new Pair<Node, f64>(new Node(path), 1));
}

function sum(node: Node, middle: i32, pair: Pair<Node, f64>): i32 {
  return node.tag + middle + pair.first.tag;
}

/** Has several frames between itself and the running function. */
function holdDeeply(path: i32, frames: i32): i32 {
  const node = new Wide(path);
  node.label = text(path);
  const result = frames > 0 ? holdDeeply(path + 1, frames - 1) : run();
  return node.tag + result;
}

function call(kind: i32, path: i32): void {
  if (depth == 12) return;
  depth++;
  switch (<u32>kind % 6) {
    case 0:
      holdInLocals(path);
      break;
    case 1:
      holdShared(path);
      break;
    case 2:
      holdArgument(makeNode(path, path), text(path));
      break;
    case 3:
      holdTemporaries(path);
      break;
    case 4:
      holdDeeply(path, path & 7);
      break;
    default:
      run();
  }
  depth--;
}

function makeLarge(kind: i32): void {
  if (!hasRoom(2)) return;
  const made = new ArrayBuffer(20000 + ((kind & 15) << 12));
  if (kind & 1) large = made;
  else large = null;
}

function execute(operation: Operation, a: i32, b: i32, c: i32): void {
  switch (operation) {
    case Operation.MakeNode:
      setField(pick(b), c, makeNode(a, b));
      break;
    case Operation.Link:
      setField(pick(a), c, pick(b));
      break;
    case Operation.Unlink:
      clearField(pick(a), c, b);
      break;
    case Operation.SetRoot:
      setRoot(a, c & 1 ? pick(b) : makeNode(b, c));
      break;
    case Operation.ClearRoot:
      clearRoot(a);
      break;
    case Operation.ChangeRegistry:
      changeRegistry(a, b);
      break;
    case Operation.MakeContainer:
      addContainer(a, b, c);
      break;
    case Operation.UseContainer: {
      const container = containerAt(a);
      if (container) container.use(b, c);
      break;
    }
    case Operation.DropContainer:
      dropContainer(a);
      break;
    case Operation.Attach:
      attach(a, pick(b), c);
      break;
    case Operation.MakeGarbage:
      makeGarbage(a, b & 255);
      break;
    case Operation.Pin:
      pin(a, b);
      break;
    case Operation.Unpin:
      unpin(a);
      break;
    case Operation.MakeRaw:
      makeRaw(a, b, c);
      break;
    case Operation.FreeRaw:
      freeRaw(a);
      break;
    case Operation.ResizeRaw:
      resizeRaw(a, b);
      break;
    case Operation.MakeRawRing:
      makeRawRing(a, b);
      break;
    case Operation.GrowMemory:
      growMemory(a, b);
      break;
    case Operation.MakeLarge:
      makeLarge(a);
      break;
    case Operation.Call:
      call(a, b);
      break;
    case Operation.Collect:
      __collect();
      break;
    case Operation.Judge:
      judge();
      break;
    case Operation.CutReferences:
      cutReferences(a);
      break;
    default:
  }
}

/** Executes operations until a function must return. */
function run(): i32 {
  let operation = next();
  while (operation != Operation.End && operation != Operation.Return) {
    execute(operation, operand(0), operand(1), operand(2));
    operation = next();
  }
  return operation;
}

export function main(): f64 {
  // A return without a call, as a shortened stream may have it, is passed over.
  while (run() != Operation.End) {}
  return numbers();
}
