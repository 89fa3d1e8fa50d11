// Static arrays of references and of values, on the heap and in static memory.
import { judge } from "./support/host";

class Item {
  constructor(public tag: i32) {}
}

let references: StaticArray<Item | null> = new StaticArray<Item | null>(8);
let nested: StaticArray<StaticArray<Item | null>> = [];
let words: StaticArray<string> = ["static", "text"];
let numbers: StaticArray<usize> = new StaticArray<usize>(8);
const fixed: StaticArray<Item | null> = [null, null, null];
const fixedNumbers: StaticArray<i32> = [1, 2, 3];

function build(): void {
  for (let i = 0; i < 6; i++) references[i] = new Item(i);
  const inner = new StaticArray<Item | null>(2);
  inner[1] = new Item(100);
  nested = [inner, new StaticArray<Item | null>(1), references];
  for (let i = 0; i < 8; i++) numbers[i] = changetype<usize>(new Item(i));
  fixed[1] = new Item(200);
  words[1] = "heap " + fixedNumbers[2].toString();
}

export function main(): void {
  build();
  judge(0);
  references = new StaticArray<Item | null>(0);
  fixed[1] = null;
  fixed[2] = new Item(201);
  judge(1);
  nested = [];
  numbers = new StaticArray<usize>(0);
  judge(2);
}
