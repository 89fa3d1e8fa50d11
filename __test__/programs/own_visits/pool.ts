import { Key, Pool } from "vlib";

@external("host", "dump")
declare function dump(): void;

const pool = new Pool();
const all: Pool[] = [];
function add(i: i32): void {
  pool.add(new Key("pool " + i.toString()));
  const other = new Pool();
  other.add(new Key("other " + i.toString()));
  all.push(other);
}
function cut(): void {
  pool.length = 2;
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
