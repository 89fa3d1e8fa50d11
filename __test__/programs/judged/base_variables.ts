// Variables of a base, an interface or a generic class, which refer to objects of other classes.
import { judge } from "./support/host";

interface Readable {
  pages: i32;
  title: string;
  read(): i32;
}
interface Printed extends Readable {
  press: string;
}

class Work {
  title: string = "work".repeat(1);
  read(): i32 {
    return 1;
  }
}
class Book extends Work {
  next: Work | null = null;
}
class Novel extends Book implements Printed {
  pages: i32 = 300;
  press: string = "press".repeat(1);
  read(): i32 {
    return this.pages;
  }
}

class Shelf<T> {
  constructor(public first: T) {}
}
class NamedShelf<T> extends Shelf<T> {
  name: string = "shelf".repeat(1);
}
class NovelShelf extends NamedShelf<Novel> {}

abstract class Reader {
  abstract next(): Work;
}
class Student extends Reader {
  work: Work = new Book();
  next(): Work {
    return this.work;
  }
}

class Bytes extends Uint8Array {
  owner: Work | null = null;
}
class Index extends Map<string, Work> {
  fallback: Work | null = null;
}
class Works extends Array<Work> {
  name: string = "works".repeat(1);
}

// The same fields, so an optimiser merges the code of their visitors.
class Left {
  work: Work | null = null;
}
class Right {
  work: Work | null = null;
}

@unmanaged
class Words {
  first: i32;
  second: i32;
}

class Current {
  static work: Work = new Work();
  static readable: Readable | null = null;
}

let work: Work = new Work();
let nullable: Work | null = null;
let readable: Readable | null = null;
let printed: Printed | null = null;
let shelf: Shelf<Novel> | null = null;
let namedShelf: NamedShelf<Novel> | null = null;
let reader: Reader | null = null;
let view: ArrayBufferView = new Int32Array(1);
let array: Uint8Array = new Uint8Array(1);
let index: Map<string, Work> = new Map();
let works: Array<Work> = [];
let left: Left = new Left();
let right: Right = new Right();
let words: Words = changetype<Words>(new ArrayBuffer(8));
let buffer: ArrayBuffer = new ArrayBuffer(8);
let text: string = "static text";
let numbers: StaticArray<i32> = [1, 2, 3];
let texts: string[] = ["static"];
let compare: (a: i32, b: i32) => i32 = (a, b) => a - b;
let nested: StaticArray<Readable | null> = new StaticArray(2);
export let shared: Work | null = null;

function build(): void {
  work = new Novel();
  nullable = new Book();
  shared = new Novel();
  readable = new Novel();
  printed = new Novel();
  Current.work = new Book();
  Current.readable = new Novel();
  shelf = new NovelShelf(new Novel());
  namedShelf = new NovelShelf(new Novel());
  reader = new Student();
  const bytes = new Bytes(8);
  bytes.owner = new Book();
  view = bytes;
  array = new Bytes(4);
  const named = new Index();
  named.set("novel", new Novel());
  index = named;
  const list = new Works();
  list.push(new Novel());
  works = list;
  left.work = new Novel();
  right.work = new Book();
  nested[0] = new Novel();
  words = changetype<Words>(buffer);
  words.second = compare(3, numbers[0]) + text.length + texts.length;
}

function read(): i32 {
  let sum = work.read() + nullable!.read() + readable!.read() + printed!.read();
  sum += reader!.next().read() + Current.work.read() + Current.readable!.read();
  sum += shelf!.first.read() + namedShelf!.first.read() + view.byteLength + array.length;
  return sum + index.size + works.length + words.second + nested[0]!.read();
}

export function main(): void {
  build();
  assert(read() > 0);
  judge(0);
  view = new Uint16Array(4);
  array = new Uint8Array(4);
  work = new Work();
  nullable = null;
  readable = new Novel();
  Current.readable = null;
  judge(1);
}
