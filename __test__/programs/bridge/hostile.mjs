// Objects that would notice if a capture called them: own methods, getters, proxies, patched iterators. `build` returns
// a truth with what must be read all the same.
import { Pins, randomFrom, Truth } from "./truth.mjs";

const notice = (what) => {
  globalThis.noticed = (globalThis.noticed ?? "") + what + "\n";
};

class Loud extends Map {
  entries() { notice("entries"); return super.entries(); }
  forEach(visit) { notice("forEach"); return super.forEach(visit); }
  get size() { notice("size"); return super.size; }
  [Symbol.iterator]() { notice("iterator"); return super[Symbol.iterator](); }
  get [Symbol.toStringTag]() { notice("toStringTag"); return "Loud"; }
}

class LoudNumber extends Number {
  valueOf() { notice("valueOf"); return super.valueOf(); }
  [Symbol.toPrimitive]() { notice("toPrimitive"); return 0; }
}

export function build(program, seed) {
  const truth = new Truth();
  const pins = new Pins(program, randomFrom(seed));
  const app = {};
  globalThis.app = app;
  {
    const hold = truth.group("map with own methods", { at: "app.map", slot: "value" });
    app.map = new Loud();
    for (let nth = 0; nth < 5; nth++) app.map.set(nth, hold(pins.pin()));
  }
  {
    const hold = truth.group("number with own methods", { class: "LoudNumber", slot: "[[PrimitiveValue]]" });
    app.number = new LoudNumber(hold(pins.pin()));
  }
  {
    const hold = truth.group("array with a getter", { at: "app.array", slot: "element" });
    app.array = [hold(pins.pin()), 2, hold(pins.pin())];
    Object.defineProperty(app.array, 1, { get() { notice("element"); return 1; } });
  }
  {
    const hold = truth.group("typed array with own properties", { at: "app.typed", slot: "element" });
    app.typed = Uint32Array.of(hold(pins.pin()), 7);
    Object.defineProperty(app.typed, "length", { get() { notice("length"); return 1; } });
    Object.defineProperty(app.typed, "buffer", { get() { notice("buffer"); return null; } });
  }
  {
    const hold = truth.group("big integers", { at: "app.big", slot: "element" });
    app.big = [BigInt(hold(pins.pin())), BigInt(hold(pins.pin()))];
  }
  const every = new Proxy({}, { get: (_, trap) => () => notice(`trap ${String(trap)}`) });
  app.proxy = new Proxy([16, 32], every);
  // Brands that are not what they look like.
  app.fake = [Object.create(Map.prototype), Object.create(Set.prototype), Object.create(Number.prototype)];
  globalThis.noticed = "";
  return truth.text();
}
