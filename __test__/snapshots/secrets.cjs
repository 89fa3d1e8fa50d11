// A program whose names contain `Unspoken`, and whose strings contain `classified`, in all forms that V8 writes.
// It writes a snapshot to the file that is its argument.
const v8 = require("node:v8");

const joined = (...parts) => parts.join(" ");
const text = joined("classified", "text", "of", "many", "words");

class UnspokenTicket {
  #unspokenNumber = joined("classified", "number");
  constructor() {
    this.unspokenTitle = joined("classified", "title");
    this["two Unspoken words"] = [{ unspokenKey: 1 }, { unspokenKey: 2 }];
  }
  number() {
    return this.#unspokenNumber;
  }
}

const key = {};
globalThis.unspoken = {
  tickets: Array.from({ length: 200 }, () => new UnspokenTicket()),
  ropes: Array.from({ length: 20 }, (_, nth) => joined(text, "rope") + joined(" end", nth)),
  slices: Array.from({ length: 20 }, (_, nth) => text.slice(nth % 7)),
  map: new Map([[joined("classified", "key"), key]]),
  set: new Set([joined("classified", "member")]),
  weak: new WeakMap([[key, joined("classified", "value")]]),
  key,
  bound: function unspokenFunction() {}.bind(null, joined("classified", "argument")),
  closure: (
    (unspokenVariable) => () =>
      unspokenVariable
  )(joined("classified", "variable")),
  symbol: Symbol("unspokenSymbol"),
  pattern: new RegExp(joined("classified", "pattern")),
  error: new Error(joined("classified", "message")),
  boxed: new String(joined("classified", "box")),
};
v8.writeHeapSnapshot(process.argv[2]);
