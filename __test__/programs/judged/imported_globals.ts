// Imported globals come first in the module's numbering: one that is a plain number, a mutable one,
// and one that is wider than a word.
import { judge } from "./support/host";

// @ts-ignore: decorator
@external("host", "limit")
declare const limit: i32;
// @ts-ignore: decorator
@external("host", "counter")
declare let counter: i32;
// @ts-ignore: decorator
@external("host", "wide")
declare let wide: i64;

class Item {
  constructor(public tag: i32) {}
}

let items: Item[] = [];
let last: Item | null = null;

export function main(): void {
  for (let i = 0; i < limit; i++) {
    items.push(new Item(i));
    counter++;
    wide++;
  }
  last = new Item(limit);
  judge(0);
  items.length = 2;
  judge(1);
}
