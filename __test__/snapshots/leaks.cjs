// A server of Node that keeps too much in five ways, and three things that it keeps on purpose.
// `node leaks.cjs <snapshot> <snapshot>...`: answers requests before each snapshot.
"use strict";
const { EventEmitter } = require("node:events");
const v8 = require("node:v8");

const REQUESTS = 400;
const WORDS = 64;

/** What a request leaves behind: an array of numbers that are not small integers, about 1 KB. */
function payload(request) {
  return Array.from({ length: WORDS }, (_, nth) => request + nth / 3);
}

class CachedPage {
  constructor(request) {
    this.content = payload(request);
  }
}

class Visit {
  constructor(request) {
    this.trace = payload(request);
  }
}

// Leak 1: reached from the global object.
globalThis.app = { cache: { items: [] } };

// Leak 2: a Map of the module, whose keys are never deleted.
const visits = new Map();

// Leak 3: a variable that only a function knows.
function makeAuditLog() {
  const auditLines = [];
  return (line) => auditLines.push(line);
}
const audit = makeAuditLog();

// Leak 4: listeners that are not removed.
const bus = new EventEmitter();
bus.setMaxListeners(0);

// Leak 5: timers that are not cleared.
function poll(request) {
  const polled = payload(request);
  setInterval(() => polled.push(0), 1e9).unref();
}

// Bounded: the last hundred requests, a cache of a hundred pages, and what goes with its key.
const ring = new Array(100).fill(null);
const recent = new Map();
const notes = new WeakMap();

let served = 0;
function serve() {
  const request = served++;
  globalThis.app.cache.items.push(new CachedPage(request));
  visits.set(`visit ${request}`, new Visit(request));
  audit({ request, values: payload(request) });
  const heard = payload(request);
  bus.on("message", () => heard.length);
  poll(request);

  ring[request % ring.length] = payload(request);
  recent.set(`page ${request}`, payload(request));
  if (recent.size > 100) recent.delete(recent.keys().next().value);
  notes.set({ request }, payload(request));
}

for (const path of process.argv.slice(2)) {
  for (let nth = 0; nth < REQUESTS; nth++) serve();
  v8.writeHeapSnapshot(path);
}
