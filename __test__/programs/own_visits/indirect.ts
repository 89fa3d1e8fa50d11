import { Key, Indirect } from "vlib";

@external("host", "dump")
declare function dump(): void;

const all: Indirect[] = [];
function add(i: i32): void {
  const one = new Indirect();
  one.set(new Key("indirect " + i.toString()));
  all.push(one);
}
function cut(): void {
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
