// A function value on the heap that owns an environment, put together by hand: the compiler has no
// closures yet, but the collector already follows the field that is meant for them.
import { judge } from "./support/host";

class Environment {
  captured: string = "captured ".repeat(2);
}

class Holder {
  callback: (() => void) | null = null;
}

let holder = new Holder();

function nothing(): void {}

function build(): void {
  const template: () => void = nothing;
  const id = load<u32>(changetype<usize>(template) - 8);
  const closure = __new(8, id);
  store<u32>(closure, load<u32>(changetype<usize>(template)));
  holder.callback = changetype<() => void>(closure);
  store<usize>(closure, changetype<usize>(new Environment()), 4);
  // The index of a function is a number, even if an object is at this address.
  const other = __new(8, id);
  store<usize>(other, changetype<usize>(new Environment()));
  array.push(changetype<() => void>(other));
}

let array: (() => void)[] = [];

export function main(): void {
  build();
  judge(0);
  holder.callback = null;
  judge(1);
}
