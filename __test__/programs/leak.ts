// A program that leaks if it is told to, and has a bounded cache of the same class beside the leak.

class Entry {
  constructor(public id: i32, public name: string) {}
}

const kept: Entry[] = [];
const cache: Map<i32, Entry> = new Map();
let next: i32 = 1000;

function entry(): Entry {
  next++;
  return new Entry(next, "entry " + next.toString());
}

/** Nothing removes these entries. */
export function leak(count: i32): void {
  for (let i = 0; i < count; i++) kept.push(entry());
}

/** New entries take the place of old ones. */
export function work(count: i32): void {
  for (let i = 0; i < count; i++) cache.set(i & 15, entry());
}
