// A program that does little but allocate: it builds and drops small objects, strings and arrays.

class Item {
  next: Item | null = null;
  constructor(public number: i32, public name: string) {}
}

const KEPT: i32 = 4096;
const kept: (Item | null)[] = new Array<Item | null>(KEPT);

/** Makes a number of items, each with a name and a short list, of which some stay alive. */
export function work(items: i32): i32 {
  let sum = 0;
  for (let i = 0; i < items; i++) {
    const item = new Item(i, i.toString());
    const list: i32[] = [i, i + 1, i + 2];
    if (i % 3 == 0) item.next = kept[(i * 31) % KEPT];
    if (i % 16 == 0) item.next = null;
    kept[i % KEPT] = item;
    sum += list.length + item.name.length;
  }
  return sum;
}
