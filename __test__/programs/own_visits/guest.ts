import { Key, Guest, keepGuests } from "vlib";

@external("host", "dump")
declare function dump(): void;

const all: Guest[] = [];
function add(i: i32): void {
  const one = new Guest();
  one.set(new Key("guest " + i.toString()));
  all.push(one);
}
function cut(): void {
  keepGuests(false);
  all.length = 2;
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
