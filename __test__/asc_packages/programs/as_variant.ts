import { Variant } from "as-variant/assembly";

@external("host", "dump")
declare function dump(): void;

class Key {
  text: string = "key";
}
const all: Variant[] = [];
const byNumber = new Map<i32, Variant>();

function add(i: i32): void {
  all.push(Variant.from("text " + i.toString()));
  all.push(Variant.from(i));
  all.push(Variant.from(new Key()));
  all.push(Variant.from<i32[]>([i, 2]));
  byNumber.set(i, Variant.from(new Key()));
}

export function main(): void {
  dump();
  for (let i = 0; i < 10; i++) {
    add(i);
    if (i % 3 == 0) dump();
  }
  dump();
  all.length = 3;
  byNumber.delete(2);
  dump();
}
