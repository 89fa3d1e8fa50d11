// The only reference to an object is cut between two collections: what vanishes is what it retained.
import { afterCut, beforeCut } from "./support/host";

class Item {
  next: Item | null = null;
  other: Item | null = null;
  text: string | null = null;
  constructor(public tag: i32) {}
}
class Owner {
  item: Item | null = null;
  items: Item[] = [];
  byName: Map<string, Item[]> = new Map();
  byItem: Map<Item, i64> = new Map();
  group: Set<Item> = new Set();
  fixed: StaticArray<Item | null> = [];
}

let owner: Owner | null = null;
let shared: Item | null = null;
const registry: Owner[] = [];

function chain(length: i32): Item {
  const first = new Item(0);
  let last = first;
  for (let i = 1; i < length; i++) {
    const next = new Item(i);
    next.text = "text ".repeat(i);
    last.next = next;
    last = next;
  }
  return first;
}

function build(): void {
  owner = new Owner();
  const all = owner!;
  shared = chain(3);
  // A chain that ends in something shared.
  all.item = chain(10);
  all.item!.next!.next!.other = shared;
  // A diamond with a tail: a → b, a → c, b → d, c → d, d → tail.
  const a = new Item(1);
  const b = new Item(2);
  const c = new Item(3);
  const d = new Item(4);
  a.next = b;
  a.other = c;
  b.next = d;
  c.next = d;
  d.next = chain(4);
  all.items.push(a);
  // A cycle that leads back to its entry, and one to the owner's own data.
  const entry = chain(6);
  entry.next!.next!.other = entry;
  entry.other = entry.next!.next;
  all.items.push(entry);
  // Two that share a part: neither retains it.
  const part = chain(5);
  const left = new Item(5);
  left.next = part;
  const right = new Item(6);
  right.next = part;
  all.items.push(left);
  all.items.push(right);
  // In maps, as value and as key, and in a set.
  const list: Item[] = [];
  for (let i = 0; i < 20; i++) list.push(chain(2));
  all.byName.set("list" + (1).toString(), list);
  const key = chain(7);
  all.byItem.set(key, 1);
  all.byItem.set(new Item(9), 2);
  const member = chain(8);
  all.group.add(member);
  all.group.add(new Item(8));
  all.fixed = new StaticArray<Item | null>(3);
  all.fixed[1] = chain(3);
  registry.push(new Owner());
  registry[0].item = chain(12);
}

function itemOf(index: i32): usize {
  return changetype<usize>(owner!.items[index]);
}

function firstKey(): usize {
  return load<usize>(load<usize>(changetype<usize>(owner!.byItem), offsetof<Map<Item, i64>>("entries")));
}

function firstMember(): usize {
  return load<usize>(load<usize>(changetype<usize>(owner!.group), offsetof<Set<Item>>("entries")));
}

function deleteKey(): void {
  owner!.byItem.delete(changetype<Item>(firstKey()));
}

function deleteMember(): void {
  owner!.group.delete(changetype<Item>(firstMember()));
}

function listOf(name: string): usize {
  return changetype<usize>(owner!.byName.get(name));
}

function addressOfItem(): usize {
  return changetype<usize>(owner!.item);
}
function addressOfFixed(): usize {
  return changetype<usize>(owner!.fixed);
}
function addressOfRegistered(): usize {
  return changetype<usize>(registry[0]);
}
function addressOfOwner(): usize {
  return changetype<usize>(owner);
}

function cutItem(): void {
  owner!.item = null;
}
function cutFixed(): void {
  owner!.fixed = changetype<StaticArray<Item | null>>(changetype<usize>(empty));
}
function cutRegistered(): void {
  registry.length = 0;
}

const empty: StaticArray<Item | null> = [];

/** Prepares everything that a cut needs, so that nothing is allocated in between. */
const spare = new Item(-1);
const spareList: Item[] = [];
// Each cut is a separate function, because a frame's slots keep their last values.
function replaceList(): void {
  // Deleting the entry would release its key too.
  owner!.byName.set("list1", spareList);
}
function replaceElement(index: i32): void {
  owner!.items[index] = spare;
}

export function main(): void {
  build();
  beforeCut(0, addressOfItem());
  cutItem();
  afterCut(0);
  for (let index = 0; index < 4; index++) {
    beforeCut(1 + index, itemOf(index));
    replaceElement(index);
    afterCut(1 + index);
  }
  beforeCut(5, firstKey());
  deleteKey();
  afterCut(5);
  beforeCut(6, firstMember());
  deleteMember();
  afterCut(6);
  beforeCut(7, listOf("list1"));
  replaceList();
  afterCut(7);
  beforeCut(8, addressOfFixed());
  cutFixed();
  afterCut(8);
  beforeCut(9, addressOfRegistered());
  cutRegistered();
  afterCut(9);
  beforeCut(10, addressOfOwner());
  owner = null;
  afterCut(10);
}
