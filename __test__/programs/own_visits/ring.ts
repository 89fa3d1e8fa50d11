import { Key, Ring } from "vlib";

@external("host", "dump")
declare function dump(): void;

const ring = new Ring();
const all: Ring[] = [];
function add(i: i32): void {
  ring.add(new Key("ring " + i.toString()));
  const other = new Ring();
  other.add(new Key("other " + i.toString()));
  all.push(other);
}
function cut(): void {
  ring.added = 2;
  all.length = 1;
}

export function main(): void {
  dump();
  for (let i = 0; i < 10; i++) {
    add(i);
    if (i % 3 == 0) dump();
  }
  dump();
  cut();
  dump();
}
