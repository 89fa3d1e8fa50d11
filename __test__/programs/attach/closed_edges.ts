/** A program that exports nothing: it works when it is instantiated. */
class Link {
  constructor(public next: Link | null, public nth: i32) {}
}

let last: Link | null = null;
for (let round = 0; round < 40; round++) last = new Link(last, round);
