// Shows objects in the console of an inspector, and has long chains of objects of one class. The snapshots have numbers.
// `node console.cjs <snapshot> <snapshot>...`: shows more objects before each snapshot.
"use strict";
const inspector = require("node:inspector");
const v8 = require("node:v8");

const SHOWN = 100;

class Shown {
  constructor(number) {
    this.number = number;
  }
}
globalThis.Shown = Shown;

class Leaf {
  price = 12.75;
}
class EarlyLeaf {}
class ListLeaf {}

class Link {
  constructor(name, next) {
    this[name] = next;
  }
}

/** A chain of links over properties of these names, with a leaf at its end. */
function chain(names, leaf) {
  return names.reduceRight((next, name) => new Link(name, next), new Link("leaf", leaf));
}

const NAMES = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
globalThis.deep = chain(NAMES, new Leaf());
globalThis.shallow = chain(NAMES.slice(0, 7), new EarlyLeaf());
globalThis.list = chain(new Array(20).fill("next"), new ListLeaf());

const session = new inspector.Session();
session.connect();
let number = 0;
for (const path of process.argv.slice(2)) {
  for (let nth = 0; nth < SHOWN; nth++) {
    const expression = `new Shown(${number++})`;
    session.post("Runtime.evaluate", { expression, objectGroup: "console" });
  }
  v8.writeHeapSnapshot(path, { exposeNumericValues: true });
}
// The session would keep the process alive.
process.exit();
