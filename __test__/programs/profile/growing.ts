// One line's objects are all kept; another line has as many as the ring has places.
class Kept {
  constructor(public value: i32) {}
}
class Slot {
  constructor(public value: i32) {}
}
const kept: Kept[] = [];
const ring = new StaticArray<Slot | null>(100);

export function step(count: i32): void {
  for (let i = 0; i < count; i++) {
    const one = new Kept(i);
    kept.push(one);
    ring[i % 100] = new Slot(i);
  }
}
