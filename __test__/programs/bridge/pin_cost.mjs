// What `HEAP_HANDLES` costs: pin_cost.mjs <memory.wasm> [1 | all]. Nanoseconds of processor time of a pin with its unpin, of an instance that
// is watched and of one that is not, in turn in one process; medians of 15 rounds.
import { readFileSync } from "node:fs";

const [, , wasm, value = "1"] = process.argv;
const PAIRS = value === "all" ? 20_000 : 400_000;
const ROUNDS = 15;
const bytes = readFileSync(wasm);
const instance = () =>
  new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { abort() {} } }).exports;

const plain = instance();
process.env.HEAP_HANDLES = value;
await import("@warpo/heap-analyzer/register");
const watched = instance();

// 256 objects in turn: a log of one object would always be in the caches.
const objects = (program) => Array.from({ length: 256 }, (_, nth) => program.makeTicket(nth));
const kept = new Map([plain, watched].map((program) => [program, objects(program)]));

function measure(program) {
  const addresses = kept.get(program);
  const start = process.cpuUsage();
  for (let nth = 0; nth < PAIRS; nth++) {
    const address = addresses[nth & 255];
    program.__pin(address);
    program.__unpin(address);
  }
  return (process.cpuUsage(start).user * 1000) / PAIRS;
}

const times = { plain: [], watched: [] };
for (let round = -3; round < ROUNDS; round++) {
  const [one, other] = [measure(plain), measure(watched)];
  if (round < 0) continue;
  times.plain.push(one);
  times.watched.push(other);
}
const median = (list) => list.sort((one, other) => one - other)[list.length >> 1];
const [one, other] = [median(times.plain), median(times.watched)];
console.log(`not watched ${one.toFixed(0)} ns, HEAP_HANDLES=${value} ${other.toFixed(0)} ns, ratio ${(other / one).toFixed(2)}`);
