// Raw blocks that link to each other as the objects of a list do: a ring that no list's head is in.
import { judge } from "./support/host";

class Item {
  next: Item | null = null;
  constructor(public tag: i32) {}
}

let kept: Item[] = [];

function link(from: usize, to: usize, colour: usize): void {
  store<usize>(from, (to - 4) | colour);
  store<usize>(to, from - 4, 4);
}

function ring(colour: usize): void {
  const one = heap.alloc(28);
  const two = heap.alloc(28);
  const three = heap.alloc(28);
  link(one, two, colour);
  link(two, three, colour);
  link(three, one, colour);
  store<u32>(one, idof<Item>(), 8);
  store<u32>(two, idof<Item>(), 8);
  store<u32>(three, idof<Item>(), 8);
  store<u32>(one, 8, 12);
  store<u32>(two, 8, 12);
  store<u32>(three, 8, 12);
  store<usize>(one, changetype<usize>(new Item(1)), 16);
  store<usize>(two, three + 16, 16);
  store<usize>(three, one + 16, 16);
}

export function main(): void {
  for (let i = 0; i < 4; i++) kept.push(new Item(i));
  ring(0);
  ring(1);
  ring(2);
  // Looks pinned.
  ring(3);
  judge(0);
}
