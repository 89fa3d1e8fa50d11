// Sets with keys of every width, managed and not, with deleted entries and after rehashing.
import { judge } from "./support/host";

class Item {
  constructor(public tag: i32) {}
}

let references = new Set<Item>();
let words = new Set<string>();
let arrays = new Set<Item[]>();
let nullable = new Set<Item | null>();
let bytes = new Set<i8>();
let shorts = new Set<u16>();
let addresses = new Set<usize>();
let longs = new Set<u64>();
let doubles = new Set<f64>();

function build(): void {
  for (let i = 0; i < 19; i++) {
    references.add(new Item(i));
    words.add("word " + i.toString());
    arrays.add([new Item(i)]);
    nullable.add(i == 5 ? null : new Item(i));
    bytes.add(<i8>i);
    shorts.add(<u16>i);
    addresses.add(changetype<usize>(new Item(i)));
    longs.add(changetype<usize>(new Item(i)));
    doubles.add(i);
  }
}

function deleteSome(): void {
  const items = references.values();
  for (let i = 0; i < items.length; i += 2) references.delete(items[i]);
  const inner = arrays.values();
  for (let i = 0; i < inner.length; i += 3) arrays.delete(inner[i]);
  for (let i = 0; i < 19; i += 2) words.delete("word " + i.toString());
  nullable.delete(null);
}

export function main(): void {
  build();
  judge(0);
  deleteSome();
  judge(1);
  for (let i = 0; i < 50; i++) {
    references.add(new Item(i));
    words.add("more " + i.toString());
  }
  judge(2);
  references.clear();
  judge(3);
}
