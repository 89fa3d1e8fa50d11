// A program of Node with five leaks, and a bounded cache beside them. `node hunts.cjs <folder>` leaks in one way after
// the other, and writes <folder>/<kind>/before.heapsnapshot and after.heapsnapshot of each.
"use strict";
const { EventEmitter } = require("node:events");
const { mkdirSync } = require("node:fs");
const { join } = require("node:path");
const { setImmediate: nextTurn } = require("node:timers/promises");
const v8 = require("node:v8");

const ROUNDS = 2000;

class Page {
  constructor(request) {
    this.words = Array.from({ length: 16 }, (_, nth) => request + nth / 3);
  }
}

const bus = new EventEmitter().setMaxListeners(0);
const cache = new Map();
const history = [];
const sessions = new Map();
function counter() {
  const counted = [];
  return (page) => counted.push(page);
}
const count = counter();

const LEAKS = {
  array: (request) => history.push(new Page(request)),
  map: (request) => sessions.set(`session ${request}`, new Page(request)),
  closure: (request) => count(new Page(request)),
  listener(request) {
    const heard = new Page(request);
    bus.on("message", () => heard);
  },
  timer(request) {
    const polled = new Page(request);
    setInterval(() => polled, 1e9).unref();
  },
};

const folder = process.argv[2];
let request = 0;

function serve(leak) {
  for (let round = 0; round < ROUNDS; round++) {
    request++;
    leak(request);
    cache.set(request % 100, new Page(request));
  }
}

async function main() {
  for (const [kind, leak] of Object.entries(LEAKS)) {
    mkdirSync(join(folder, kind));
    for (const name of ["before", "after"]) {
      serve(leak);
      // In a turn of its own: what a running function uses would be held by the handle scope as well.
      await nextTurn();
      v8.writeHeapSnapshot(join(folder, kind, `${name}.heapsnapshot`));
    }
  }
}

main();
