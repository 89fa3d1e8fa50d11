// Every kind of root, and words that look like roots but are not.
import { judge } from "./support/host";

class Item {
  next: Item | null = null;
  constructor(public tag: i32) {}
}

@unmanaged
class Raw {
  item: Item | null = null;
}

let mutable: Item | null = null;
const constant = new Item(1);
const staticArray: Item[] = [];
const staticInStatic: Item[][] = [[], []];
export let exported: Item | null = null;

class Registry {
  static items: Item[] = [];
  static current: Item | null = null;
  static readonly first: Item = new Item(2);
  static table: Map<string, Item> = new Map();
}

namespace outer {
  export let direct: Item | null = null;
  export namespace inner {
    export let items: Item[] = [];
    export const fixed = new Item(3);
  }
}

// @ts-ignore: decorator
@lazy let lazy: Item[] = [];
// @ts-ignore: decorator
@inline const inlined: Item[] = [];

let neverAssigned: Item | null = null;
let number: usize = 0;
let wide: u64 = 0;
let raw: Raw = changetype<Raw>(0);

function build(): void {
  mutable = new Item(10);
  mutable!.next = constant;
  staticArray.push(new Item(11));
  staticInStatic[1].push(new Item(12));
  exported = new Item(13);
  Registry.items.push(new Item(14));
  Registry.current = new Item(15);
  Registry.table.set("sixteen", new Item(16));
  outer.direct = new Item(17);
  outer.inner.items.push(new Item(18));
  outer.inner.fixed.next = new Item(19);
  lazy.push(new Item(20));
  inlined.push(new Item(21));
  if (neverAssigned) staticArray.push(neverAssigned!);
  // None of these keeps its object.
  number = changetype<usize>(new Item(30));
  wide = changetype<usize>(new Item(31));
  raw = changetype<Raw>(new Item(32));
}

function onStackOnly(depth: i32): i32 {
  const mine = new Item(depth);
  mine.next = new Item(-depth);
  if (depth == 0) judge(1);
  else onStackOnly(depth - 1);
  return mine.tag;
}

function pinned(): void {
  const address = __pin(changetype<usize>(new Item(40)));
  changetype<Item>(address).next = new Item(41);
  const staticAddress = __pin(changetype<usize>(staticArray));
  judge(2);
  mutable = null;
  judge(3);
  __unpin(staticAddress);
  __unpin(address);
}

// An array in static memory that only its pin holds.
let loose: Item[] | null = [];

function pinLoose(): usize {
  loose!.push(new Item(50));
  const address = __pin(changetype<usize>(loose));
  loose = null;
  return address;
}

export function main(): void {
  build();
  judge(0);
  onStackOnly(6);
  pinned();
  judge(4);
  const address = pinLoose();
  judge(5);
  __unpin(address);
  judge(6);
  assert(number != 0 && wide != 0 && changetype<usize>(raw) != 0);
  Registry.items = [];
  outer.inner.items.length = 0;
  staticArray.length = 0;
  judge(7);
}
