// Tracks allocations, keeps some objects and drops others, and writes a snapshot: `node allocations.cjs <snapshot>`.
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
for (let number = 0; number < 500; number++) {
  takeOrder(number);
  dropOrder(number);
}

const file = openSync(process.argv[2], "w");
session.on("HeapProfiler.addHeapSnapshotChunk", ({ params }) => writeSync(file, params.chunk));
session.post("HeapProfiler.takeHeapSnapshot", { reportProgress: false });
closeSync(file);
// The session would keep the process alive.
process.exit();
