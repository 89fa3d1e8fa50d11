import { Key, Boxed } from "vlib";

@external("host", "dump")
declare function dump(): void;

const all: Boxed[] = [];
const others: Key[] = [];
function add(i: i32): void {
  const one = new Boxed();
  // A number that is the address of an object, but no reference.
  if (i % 3 == 2) one.setNumber(changetype<usize>(new Key("number " + i.toString())));
  else if (i & 1) one.setKey(new Key("boxed " + i.toString()));
  else one.setNumber(1000 + i);
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
