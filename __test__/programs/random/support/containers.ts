// Containers of everything: maps and sets of every combination of widths, arrays, static arrays,
// and what users derive from them.
import { Container } from "./container";
import { make } from "./make";
import { Labelled, makeNode, Node } from "./values";

/** More elements than this are thrown away. */
const MOST: i32 = 120;

class MapOf<K, V> extends Container {
  map: Map<K, V> = new Map<K, V>();

  use(what: i32, n: i32): void {
    const map = this.map;
    switch (<u32>what % 8) {
      case 0:
      case 1:
      case 2:
        for (let i = 0; i < (n & 15); i++) map.set(make<K>(n + i * 7), make<V>(n - i));
        break;
      case 3:
      case 4: {
        const keys = map.keys();
        for (let i = n & 1; i < keys.length; i += 1 + (n & 3)) map.delete(keys[i]);
        break;
      }
      case 5: {
        // Other values for keys that are there.
        const keys = map.keys();
        for (let i = 0; i < keys.length; i += 2) map.set(keys[i], make<V>(n + i));
        break;
      }
      case 6:
        for (let i = 0; i < 40; i++) map.set(make<K>(n + i), make<V>(i));
        break;
      default:
        if (n & 1) map.clear();
        else this.map = new Map<K, V>();
    }
    if (this.map.size > MOST) this.map.clear();
  }
}

class SetOf<K> extends Container {
  set: Set<K> = new Set<K>();

  use(what: i32, n: i32): void {
    const set = this.set;
    switch (<u32>what % 6) {
      case 0:
      case 1:
        for (let i = 0; i < (n & 15); i++) set.add(make<K>(n + i * 7));
        break;
      case 2:
      case 3: {
        const values = set.values();
        for (let i = n & 1; i < values.length; i += 1 + (n & 3)) set.delete(values[i]);
        break;
      }
      case 4:
        for (let i = 0; i < 40; i++) set.add(make<K>(n + i));
        break;
      default:
        if (n & 1) set.clear();
        else this.set = new Set<K>();
    }
    if (this.set.size > MOST) this.set.clear();
  }
}

function nothing<T>(): T {
  if (isReference<T>()) return changetype<T>(0);
  else return <T>0;
}

class ArrayOf<T> extends Container {
  array: T[] = [];
  nested: T[][] = [];

  use(what: i32, n: i32): void {
    const array = this.array;
    const length = array.length;
    switch (<u32>what % 18) {
      case 0:
      case 1:
        for (let i = 0; i < (n & 15); i++) array.push(make<T>(n + i));
        break;
      case 2:
        if (length > 0) array.pop();
        if (length > 1) array.pop();
        break;
      case 3:
        if (length > 0) array.shift();
        break;
      case 4:
        array.unshift(make<T>(n));
        break;
      case 5:
        array.splice(n % (length + 1), n & 7);
        break;
      case 6:
        array.length = length >> 1;
        break;
      case 7:
        array.reverse();
        break;
      case 8:
        if (isReference<T>()) {
          array.sort(
            (left: T, right: T): i32 =>
              <i32>((changetype<usize>(left) ^ 0x5a0) - (changetype<usize>(right) ^ 0x5a0)),
          );
        } else array.sort();
        break;
      case 9:
        if (length > 0) array.fill(make<T>(n), n % length);
        break;
      case 10:
        this.array = array.concat(array);
        break;
      case 11:
        this.array = array.slice(n & 3, length - (n & 1));
        break;
      case 12:
        this.nested.push(array);
        this.array = [];
        break;
      case 13:
        this.nested.push([make<T>(n), make<T>(n + 1)]);
        break;
      case 14:
        if (this.nested.length > 0) this.array = this.nested.pop();
        break;
      case 15:
        this.nested.length = 0;
        break;
      case 16:
        // Holes, if the type can have them. An array that was longer before shows again what it
        // held then, which the collector may have freed since: so they are filled at once.
        if (!isReference<T>() || isNullable<T>()) {
          array.length = length + (n & 31);
          array.fill(nothing<T>(), length);
        } else array[length] = make<T>(n);
        break;
      default:
        if (length > 2) array.copyWithin(0, length >> 1);
    }
    if (this.array.length > MOST) this.array.length = 3;
    if (this.nested.length > 12) this.nested.shift();
  }
}

class StaticArrayOf<T> extends Container {
  array: StaticArray<T> = new StaticArray<T>(0);
  nested: StaticArray<StaticArray<T>> = [];

  use(what: i32, n: i32): void {
    const array = this.array;
    switch (<u32>what % 5) {
      case 0:
        this.array = new StaticArray<T>(n & 31);
        break;
      case 1:
      case 2:
        for (let i = 0; i < array.length; i += 1 + (n & 3)) array[i] = make<T>(n + i);
        break;
      case 3:
        this.nested = [array, new StaticArray<T>(n & 3), array];
        break;
      default:
        this.nested = [];
    }
  }
}

class Stack extends Array<Node | null> {
  note: Node | null = null;
  size: i64 = 7;
}
class NamedStack extends Stack {
  title: string = "";
}
class Index extends Map<string, Node> {
  fallback: Node | null = null;
}
class Numbers extends Map<i64, f32> {
  owner: Node | null = null;
}
class Group extends Set<Node> {
  leader: Node | null = null;
}
class Bytes extends Uint8Array {
  owner: Node | null = null;
}

/** Objects of classes that users derive from containers. */
class Derived extends Container {
  stack: Stack = new Stack();
  index: Index = new Index();
  numbers: Numbers | null = null;
  group: Group = new Group();
  bytes: Bytes | null = null;

  use(what: i32, n: i32): void {
    switch (<u32>what % 12) {
      case 0:
        for (let i = 0; i < (n & 15); i++) this.stack.push(makeNode(n + i, i));
        this.stack.note = makeNode(n, n);
        break;
      case 1: {
        const named = new NamedStack();
        named.title = "title".repeat(n & 3);
        named.push(this.stack.length > 0 ? this.stack[0] : null);
        named.note = this.stack.note;
        this.stack = named;
        break;
      }
      case 2:
        this.stack.length = this.stack.length >> 1;
        this.stack.note = null;
        break;
      case 3:
        for (let i = 0; i < (n & 15); i++) this.index.set(i.toString(), makeNode(n + i, i));
        this.index.fallback = makeNode(n, n);
        break;
      case 4:
        this.index.delete("3");
        this.index.fallback = null;
        break;
      case 5: {
        const numbers = new Numbers();
        for (let i = 0; i < (n & 15); i++) numbers.set(i, <f32>n);
        numbers.owner = makeNode(n, n);
        this.numbers = numbers;
        break;
      }
      case 6:
        if (this.numbers) this.numbers!.owner = null;
        break;
      case 7:
        for (let i = 0; i < (n & 15); i++) this.group.add(makeNode(n + i, i));
        this.group.leader = makeNode(n, n);
        break;
      case 8:
        this.group.clear();
        break;
      case 9: {
        const bytes = new Bytes(n & 63);
        bytes.owner = makeNode(n, n);
        this.bytes = bytes;
        break;
      }
      case 10:
        this.bytes = null;
        this.numbers = null;
        break;
      default:
        this.stack = new Stack();
    }
    if (this.stack.length > MOST) this.stack.length = 1;
    if (this.index.size > MOST) this.index.clear();
    if (this.group.size > MOST) this.group.clear();
  }
}

/** Views of bytes, whose contents may be addresses. */
class Views extends Container {
  buffer: ArrayBuffer = new ArrayBuffer(64);
  words: Uint32Array = new Uint32Array(4);
  part: Uint32Array | null = null;
  longs: Int64Array | null = null;
  reals: Float32Array | null = null;
  bytes: Uint8ClampedArray | null = null;
  view: DataView | null = null;
  all: ArrayBufferView[] = [];

  use(what: i32, n: i32): void {
    switch (<u32>what % 10) {
      case 0:
        this.words = new Uint32Array(n & 31);
        break;
      case 1:
        for (let i = 0; i < this.words.length; i++) this.words[i] = <u32>changetype<usize>(new Node(i));
        break;
      case 2:
        this.part = this.words.subarray(this.words.length >> 1);
        break;
      case 3:
        this.longs = Int64Array.wrap(this.buffer, 0, this.buffer.byteLength >> 3);
        break;
      case 4:
        this.reals = new Float32Array(n & 15);
        this.bytes = new Uint8ClampedArray(n & 7);
        break;
      case 5:
        this.view = new DataView(this.buffer, 8, 8);
        break;
      case 6:
        this.buffer = new ArrayBuffer(32 + (n & 31) * 8);
        store<usize>(changetype<usize>(this.buffer), changetype<usize>(new Node(n)), 8);
        break;
      case 7:
        this.all.push(n & 1 ? <ArrayBufferView>this.words : new Int16Array(n & 15));
        break;
      case 8:
        this.all.length = 0;
        this.part = null;
        break;
      default:
        this.view = null;
        this.longs = null;
        this.bytes = null;
    }
    if (this.all.length > 20) this.all.length = 2;
  }
}

/** Maps from one type of key to everything. */
function mapFrom<K>(value: i32): Container {
  switch (<u32>value % 12) {
    case 0:
      return new MapOf<K, bool>();
    case 1:
      return new MapOf<K, i8>();
    case 2:
      return new MapOf<K, i16>();
    case 3:
      return new MapOf<K, u32>();
    case 4:
      return new MapOf<K, i64>();
    case 5:
      return new MapOf<K, f32>();
    case 6:
      return new MapOf<K, f64>();
    case 7:
      return new MapOf<K, string>();
    case 8:
      return new MapOf<K, Node>();
    case 9:
      return new MapOf<K, Node | null>();
    case 10:
      return new MapOf<K, Labelled>();
    default:
      return new MapOf<K, (Node | null)[]>();
  }
}

const KEYS: i32 = 10;

function makeMap(key: i32, value: i32): Container {
  switch (<u32>key % KEYS) {
    case 0:
      return mapFrom<bool>(value);
    case 1:
      return mapFrom<i8>(value);
    case 2:
      return mapFrom<i16>(value);
    case 3:
      return mapFrom<u32>(value);
    case 4:
      return mapFrom<i64>(value);
    case 5:
      return mapFrom<f32>(value);
    case 6:
      return mapFrom<f64>(value);
    case 7:
      return mapFrom<string>(value);
    case 8:
      return mapFrom<Node>(value);
    default:
      return mapFrom<Node | null>(value);
  }
}

function makeSet(key: i32): Container {
  switch (<u32>key % (KEYS + 3)) {
    case 0:
      return new SetOf<bool>();
    case 1:
      return new SetOf<i8>();
    case 2:
      return new SetOf<i16>();
    case 3:
      return new SetOf<u32>();
    case 4:
      return new SetOf<i64>();
    case 5:
      return new SetOf<f32>();
    case 6:
      return new SetOf<f64>();
    case 7:
      return new SetOf<string>();
    case 8:
      return new SetOf<Node>();
    case 9:
      return new SetOf<Node | null>();
    case 10:
      return new SetOf<Labelled>();
    case 11:
      return new SetOf<(Node | null)[]>();
    default:
      return new SetOf<(n: i32) => i32>();
  }
}

function makeArray(element: i32): Container {
  switch (<u32>element % 12) {
    case 0:
      return new ArrayOf<bool>();
    case 1:
      return new ArrayOf<i16>();
    case 2:
      return new ArrayOf<usize>();
    case 3:
      return new ArrayOf<f64>();
    case 4:
      return new ArrayOf<string>();
    case 5:
      return new ArrayOf<Labelled>();
    case 6:
      return new ArrayOf<(Node | null)[]>();
    case 7:
      return new ArrayOf<(n: i32) => i32>();
    case 8:
    case 9:
      return new ArrayOf<Node>();
    default:
      return new ArrayOf<Node | null>();
  }
}

function makeStaticArray(element: i32): Container {
  switch (<u32>element % 6) {
    case 0:
      return new StaticArrayOf<u8>();
    case 1:
      return new StaticArrayOf<usize>();
    case 2:
      return new StaticArrayOf<i64>();
    case 3:
      return new StaticArrayOf<string | null>();
    default:
      return new StaticArrayOf<Node | null>();
  }
}

export function makeContainer(kind: i32): Container {
  const which = <u32>kind >> 4;
  switch (kind & 15) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
    case 6:
      return makeMap(which & 15, which >> 4);
    case 7:
    case 8:
    case 9:
      return makeSet(which);
    case 10:
    case 11:
    case 12:
      return makeArray(which);
    case 13:
      return makeStaticArray(which);
    case 14:
      return new Derived();
    default:
      return new Views();
  }
}
