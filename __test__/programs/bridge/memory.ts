// What the programs of this folder allocate: objects that hosts keep by their addresses, objects that only this module
// keeps, and garbage.

class Ticket {
  next: Ticket | null = null;
  constructor(public id: i32, public price: f64) {}
}

class Entry {
  text: string = "";
  bytes: StaticArray<u8> | null = null;
}

const kept: Entry[] = [];
const tickets = new Map<i32, Ticket>();

/** Adds objects that this module keeps, and as much garbage. */
export function work(rounds: i32): i32 {
  for (let round = 0; round < rounds; round++) {
    const entry = new Entry();
    entry.text = "entry " + round.toString();
    entry.bytes = new StaticArray<u8>(8 + (round * 29) % 120);
    if (round % 2 == 0) kept.push(entry);
    tickets.set(round % 64, new Ticket(round, <f64>round * 0.5));
  }
  return kept.length;
}

export function makeTicket(id: i32): Ticket {
  return new Ticket(id, <f64>id * 1.5);
}

export function makeText(length: i32): string {
  return "x".repeat(length);
}

export function makeBytes(size: i32): StaticArray<u8> {
  return new StaticArray<u8>(size);
}

export function priceOf(ticket: Ticket): f64 {
  return ticket.price;
}
