// Holds sessions of Rust by the handles of wasm-bindgen, and gives it functions to hold.
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { capturePair } from "@warpo/heap-analyzer/capture";

const [prefix] = process.argv.slice(2);
const desk = createRequire(import.meta.url)("./desk.js");
const exports = desk.__wasm;

class Callback {
  constructor(number) {
    this.number = number;
  }
}

globalThis.app = { sessions: [], closed: [], table: undefined };
/** Addresses as texts: as numbers, the arrays would hold the sessions, too. */
const truth = {};
const addresses = (sessions) => sessions.map(({ __wbg_ptr }) => `${__wbg_ptr}`);
const open = (name, count) =>
  Array.from({ length: count }, (_, nth) => new desk.Session(`${name} ${nth}`, 4));

app.sessions = open("open", 25);
truth.open = addresses(app.sessions);
app.closed = open("closed", 8);
truth.closed = addresses(app.closed);
for (const session of app.closed) session.free();

for (let number = 0; number < 20; number++) desk.listen(number, new Callback(number));
for (let number = 0; number < 6; number++) desk.forget(number);
app.table = Object.values(exports).find((one) => one instanceof WebAssembly.Table && one.get(2) instanceof Object === false && one.length > 100);

gc();
capturePair(exports, prefix);
writeFileSync(`${prefix}.truth.json`, JSON.stringify(truth));
