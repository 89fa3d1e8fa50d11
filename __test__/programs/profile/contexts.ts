// Ways of calls to allocations: direct, virtual, through a function value, through the host, recursive, and after a
// call that failed.

class Item {
  constructor(public number: i32) {}
}
class Kind {
  make(number: i32): Item {
    return new Item(number);
  }
}
class OtherKind extends Kind {
  make(number: i32): Item {
    new Item(-number);
    return new Item(number);
  }
}

/** The host calls exports again in it. */
declare function host(number: i32): void;

const kept: Item[] = [];
const kinds: Kind[] = [new Kind(), new OtherKind()];
const functions: ((number: i32) => Item)[] = [
  (number: i32): Item => new Item(number),
  (number: i32): Item => kinds[number & 1].make(number),
];

export function allocate(number: i32): void {
  kept.push(new Item(number));
}

export function recursive(depth: i32): void {
  if (depth > 0) recursive(depth - 1);
  else allocate(depth);
  if (depth == 3) recursive(depth - 2);
}

export function indirect(number: i32): void {
  kept.push(functions[number & 1](number));
  kept.push(kinds[number & 1].make(number));
}

export function throughHost(number: i32): void {
  host(number);
  allocate(number);
  if (number > 2) host(-number);
}

export function failing(number: i32): void {
  allocate(number);
  throughHost(number);
  // Too large: it traps.
  load<i32>(0xffff_fff0);
}

export function drop(): void {
  kept.length = 0;
}
