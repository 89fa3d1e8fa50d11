/** Globals that are hard to read by name or by value. */
let first: i32 = 7;
let other: i32 = 8;
let wide: i64 = -5;
let real: f64 = 0.5;
let held: externref = null;

class Link {
  constructor(public next: Link | null, public nth: i32) {}
}

let last: Link | null = null;

export function work(rounds: i32): i32 {
  for (let round = 0; round < rounds; round++) {
    last = new Link(last, round);
    first += 2;
    other += 3;
    wide -= first;
    real += <f64>other;
  }
  return first;
}

export function hold(value: externref): void {
  held = value;
}
