// Arrays of references: nested, with holes, and after every operation that leaves stale words in a
// buffer after the array's end.
import { judge } from "./support/host";

class Item {
  tag: i32;
  constructor(tag: i32) {
    this.tag = tag;
  }
}

let grown: Item[] = [];
let shrunk: Item[] = [];
let shifted: Item[] = [];
let spliced: Item[] = [];
let popped: Item[] = [];
let holes: (Item | null)[] = [];
let nested: Item[][] = [];
let deep: Item[][][] = [];
let words: string[] = [];
let numbers: f64[] = [];
let addresses: usize[] = [];
let bytes: u8[] = [];

function fill(array: Item[], count: i32): void {
  for (let i = 0; i < count; i++) array.push(new Item(i));
}

function build(): void {
  fill(grown, 37);
  fill(shrunk, 20);
  shrunk.length = 5;
  fill(shifted, 9);
  shifted.shift();
  shifted.shift();
  fill(spliced, 12);
  spliced.splice(3, 4);
  fill(popped, 8);
  popped.pop();
  popped.pop();
  for (let i = 0; i < 16; i++) holes.push(i % 3 ? null : new Item(i));
  for (let i = 0; i < 5; i++) {
    const inner: Item[] = [];
    fill(inner, i);
    nested.push(inner);
  }
  deep.push(nested);
  deep.push([[new Item(1)], []]);
  for (let i = 0; i < 10; i++) words.push("word " + i.toString());
  for (let i = 0; i < 10; i++) numbers.push(<f64>i);
  // A number that is an address is no reference.
  for (let i = 0; i < 10; i++) addresses.push(changetype<usize>(new Item(i)));
  for (let i = 0; i < 10; i++) bytes.push(<u8>i);
}

export function main(): void {
  build();
  judge(0);
  grown.length = 0;
  nested[4] = [];
  deep.length = 1;
  words = words.slice(2, 5);
  holes.reverse();
  judge(1);
  grown = [];
  shifted = spliced.concat(popped);
  spliced.fill(new Item(99));
  nested = [];
  judge(2);
}
