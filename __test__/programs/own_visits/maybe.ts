import { Key, Maybe } from "vlib";

@external("host", "dump")
declare function dump(): void;

const all: Maybe[] = [];
function add(i: i32): void {
  const one = new Maybe();
  one.set(new Key("maybe " + i.toString()), (i & 1) == 0);
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
