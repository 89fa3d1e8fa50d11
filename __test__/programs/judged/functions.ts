// Function values: in fields, containers and globals. They are static objects, and their field for
// an environment is a reference although its type is a number.
import { judge } from "./support/host";

class Item {
  constructor(public tag: i32) {}
}

type Callback = (item: Item) => i32;

class Listener {
  callback: Callback;
  fallback: ((text: string) => string) | null = null;
  item: Item | null = null;
  constructor(callback: Callback) {
    this.callback = callback;
  }
}

let listeners: Listener[] = [];
let callbacks: Callback[] = [];
let byName = new Map<string, Callback>();
let direct: Callback = (item: Item): i32 => item.tag;
const constant: () => void = () => {};

function build(): void {
  for (let i = 0; i < 5; i++) {
    const listener = new Listener((item: Item): i32 => item.tag + 1);
    listener.item = new Item(i);
    if (i & 1) listener.fallback = (text: string): string => text + "!";
    listeners.push(listener);
  }
  callbacks.push(direct);
  callbacks.push((item: Item): i32 => -item.tag);
  byName.set("one", callbacks[1]);
}

export function main(): void {
  build();
  constant();
  judge(0);
  listeners.length = 2;
  byName.delete("one");
  judge(1);
}
