// A leak test of the JavaScript heap. `node leak_tests.cjs <kind of work> <options>` prints how it ended, as JSON.
"use strict";
const { EventEmitter } = require("node:events");
const { readFileSync, readdirSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { mock } = require("node:test");
const { exposeGlobals } = require("../../dist/capture.js");
const { expectNoLeak } = require("../../dist/testing.js");

class Visit {
  constructor(round) {
    this.round = round;
    this.trace = [round / 3, round / 7, round / 11, round / 13];
  }
}

class Kept {}

/** Held as the console of jest holds what is printed: in `_buffer`. */
class Printing extends console.Console {
  _buffer = [];
}

/** Holds what it is given as a mock of `node:test` does: in `#calls`. */
class MockFunctionContext {
  #calls = [];
  add(call) {
    this.#calls.push(call);
  }
}

/** The same with another name, which is no mock. */
class CallLog {
  #calls = [];
  add(call) {
    this.#calls.push(call);
  }
}

/** Adds a call in each round. Later, another class of objects leads there. */
function callOnAnotherPath(round, Calls) {
  const called = way.earlier ?? way.later ?? new Calls();
  called.add({ arguments: [new Visit(round)], stack: new Error("called") });
  way = round < 6 ? { earlier: called } : { later: called };
}

const byKey = {};
const byToken = Object.create(null);
const printing = new Printing(process.stderr);
const visits = new Map();
const bus = new EventEmitter().setMaxListeners(0);
const handles = [];
const mocked = mock.fn((visit) => ({ visit }));
let way = {};
let program;

const WORK = {
  map(round) {
    for (let nth = 0; nth < 3; nth++) visits.set(`visit ${round} ${nth}`, new Visit(round));
  },
  listener() {
    const kept = new Kept();
    bus.on("event", () => kept);
  },
  mocked(round) {
    for (let nth = 0; nth < 5; nth++) mocked(new Visit(round));
  },
  mockedOnAnotherPath: (round) => callOnAnotherPath(round, MockFunctionContext),
  loggedOnAnotherPath: (round) => callOnAnotherPath(round, CallLog),
  keys(round) {
    byKey[`visit ${round}`] = { round };
  },
  tokens(round) {
    byToken[Symbol(`visit ${round}`)] = [round];
  },
  printed(round) {
    printing._buffer.push({ message: `round ${round}`, origin: `line ${round}`, type: "log" });
  },
  both() {
    program.leak(25);
    for (let nth = 0; nth < 4; nth++) handles.push(new Kept());
  },
  async steady(round) {
    const pages = Array.from({ length: 1000 }, (_, nth) => new Visit(nth));
    console.error("round", round, pages.length, new Kept());
    visits.set("the last", pages);
    const later = [1, 2, 3].map((delay) => new Promise((done) => setTimeout(done, delay)));
    await Promise.all(later);
    const once = () => {};
    bus.on("event", once);
    bus.off("event", once);
  },
  failing() {
    throw new Error("the work failed");
  },
  hanging: () => new Promise(() => {}),
  exiting: () => process.exit(0),
};

const [kind, options] = process.argv.slice(2);
const notes = [];
console.warn = (note) => notes.push(note);
let during;
let ran = 0;

async function main() {
  const run = (round) => {
    during ??= readdirSync(tmpdir());
    ran++;
    return WORK[kind](round);
  };
  let error;
  const given = JSON.parse(options);
  if (given.wasm !== undefined) {
    const bytes = exposeGlobals(readFileSync(given.wasm));
    const { instance } = await WebAssembly.instantiate(bytes, { env: { abort() {} } });
    program = given.instance = instance.exports;
  }
  try {
    await expectNoLeak({ run, ...given });
  } catch (thrown) {
    error = thrown;
  }
  const { code, message, answer } = error ?? {};
  const after = readdirSync(tmpdir());
  const places = answer?.places;
  console.log(JSON.stringify({ code, message, places, during, after, notes, ran }));
}

main();
