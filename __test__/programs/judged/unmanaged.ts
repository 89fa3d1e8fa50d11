// Unmanaged classes: a field of such a type is a plain pointer, even if an object lies there.
import { judge } from "./support/host";

class Item {
  constructor(public tag: i32) {}
}

@unmanaged
class Struct {
  x: i32;
  item: Item | null;
}

class Holder {
  before: Item | null = null;
  struct: Struct = changetype<Struct>(0);
  after: Item | null = null;
  address: usize = 0;
  byte: u8 = 1;
  last: Item | null = null;
}

let holder = new Holder();
let list: Struct[] = [];
let byNumber = new Map<i32, Struct>();
let pointer: Struct = changetype<Struct>(0);

function build(): void {
  holder.before = new Item(1);
  holder.after = new Item(2);
  holder.last = new Item(3);
  holder.struct = changetype<Struct>(heap.alloc(offsetof<Struct>()));
  holder.struct.item = new Item(4);
  holder.address = changetype<usize>(new Item(5));
  list.push(holder.struct);
}

/** Pointers of an unmanaged type that are addresses of objects which nothing else holds. */
function mislead(): void {
  holder.struct = changetype<Struct>(changetype<usize>(new Item(6)));
  list.push(changetype<Struct>(changetype<usize>(new Item(7))));
  byNumber.set(1, changetype<Struct>(changetype<usize>(new Item(8))));
  pointer = changetype<Struct>(changetype<usize>(new Item(9)));
}

export function main(): void {
  build();
  judge(0);
  mislead();
  judge(1);
  assert(changetype<usize>(pointer) != 0);
  holder.before = null;
  judge(2);
}
