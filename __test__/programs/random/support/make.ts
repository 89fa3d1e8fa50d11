// Values of any type, for containers.
import { pick } from "./roots";
import { Deep, Labelled, makeNode, Node, text, Wide } from "./values";

/** A value of any type that a container can hold: a new one, or one that exists already. */
export function make<T>(n: i32): T {
  if (isReference<T>()) {
    if (isNullable<T>() && n % 5 == 0) return changetype<T>(0);
    if (isString<T>()) return changetype<T>(text(n));
    if (isFunction<T>()) {
      const callback: (n: i32) => i32 = n & 1 ? (n: i32): i32 => n : (n: i32): i32 => -n;
      return changetype<T>(callback);
    }
    if (isArray<T>()) {
      const list: (Node | null)[] = [new Node(n), null, n & 1 ? pick(n) : null];
      return changetype<T>(list);
    }
    // An interface; the other types are classes of nodes.
    if (idof<T>() == idof<Labelled>()) return changetype<T>(n & 1 ? new Wide(n) : <Labelled>new Deep(n));
    return changetype<T>(n % 3 ? makeNode(n, n) : pick(n));
  } else {
    // Some numbers are addresses of objects that nothing else holds.
    if (n % 4 == 0) return <T>changetype<usize>(new Node(n));
    return <T>n;
  }
}
