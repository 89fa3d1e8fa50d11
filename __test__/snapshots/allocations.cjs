// Tracks allocations, keeps some objects and drops others, and writes a snapshot; does the same with fewer objects, and
// writes another: `node allocations.cjs <snapshot> <later-snapshot> <timeline>`. The third file is what V8 writes when the tracking
// ends: the `.heaptimeline` of DevTools.
"use strict";
const { closeSync, openSync, writeSync } = require("node:fs");
const inspector = require("node:inspector");

const session = new inspector.Session();
session.connect();
session.post("HeapProfiler.startTrackingHeapObjects", { trackAllocations: true });

const kept = [];
globalThis.kept = kept;
class Order {
  constructor(number) {
    this.number = number;
  }
}
function takeOrder(number) {
  const order = new Order(number);
  kept.push(order);
}
function dropOrder(number) {
  return new Order(number).number;
}
function work(count) {
  for (let number = 0; number < count; number++) {
    takeOrder(number);
    dropOrder(number);
  }
}
let file;
session.on("HeapProfiler.addHeapSnapshotChunk", ({ params }) => writeSync(file, params.chunk));
function write(name) {
  file = openSync(name, "w");
  session.post("HeapProfiler.takeHeapSnapshot", { reportProgress: false });
  closeSync(file);
}

work(500);
write(process.argv[2]);
work(300);
write(process.argv[3]);
file = openSync(process.argv[4], "w");
session.post("HeapProfiler.stopTrackingHeapObjects", { reportProgress: false });
closeSync(file);
// The session would keep the process alive.
process.exit();
