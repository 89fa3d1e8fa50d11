// A shop whose heap fills every page of a report: containers, lists, duplicates, garbage in cycles, raw blocks.
class Order {
  lines: string[] = [];
  constructor(public id: i32) {}
}

class Customer {
  orders: Order[] = [];
  constructor(public name: string) {}
}

class LogEntry {
  next: LogEntry | null = null;
  constructor(public text: string) {}
}

class Parent {
  children: Child[] = [];
  peer: Parent | null = null;
}

class Child {
  constructor(public parent: Parent) {}
}

class Timer {
  self: Timer | null = null;
}

class Note {
  constructor(public text: string) {}
}

const customers = new Map<string, Customer>();
const notes: Note[] = [];
const config = new Note("settings");
let log: LogEntry | null = null;
let rooms: StaticArray<i32>[] = [];
let block: usize = 0;

/** Customers with orders, whose lines are often alike. */
export function sell(first: i32, count: i32): void {
  for (let nth = first; nth < first + count; nth++) {
    const customer = new Customer("customer " + nth.toString());
    for (let order = 0; order < nth % 5; order++) {
      const made = new Order(nth * 10 + order);
      for (let line = 0; line < 3; line++) made.lines.push("article " + (line % 2).toString());
      customer.orders.push(made);
    }
    customers.set(customer.name, customer);
  }
}

/** A list. */
export function write(entries: i32): void {
  for (let nth = 0; nth < entries; nth++) {
    const entry = new LogEntry("request " + nth.toString());
    entry.next = log;
    log = entry;
  }
}

/** Large buffers. */
export function reserve(count: i32, size: i32): void {
  for (let nth = 0; nth < count; nth++) rooms.push(new StaticArray<i32>(size));
}

/** Keeps a text. */
export function note(text: string): void {
  notes.push(new Note(text));
}

/** Families that refer to each other, timers that refer to themselves, and blocks. Nothing keeps them. */
export function drop(families: i32, children: i32, timers: i32): void {
  for (let nth = 0; nth < families; nth++) {
    const parent = new Parent();
    const peer = new Parent();
    parent.peer = peer;
    peer.peer = parent;
    for (let child = 0; child < children; child++) parent.children.push(new Child(parent));
    new Note("garbage " + nth.toString());
    new Order(nth).lines.push(config.text);
  }
  for (let nth = 0; nth < timers; nth++) {
    const timer = new Timer();
    timer.self = timer;
  }
  heap.alloc(100);
  block = heap.alloc(200);
  memory.fill(block, 0, 200);
}

/** So that no compiler removes the variable. */
export function used(): usize {
  return block;
}
