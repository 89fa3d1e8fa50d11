// A host of @fluffylabs/anan-as, an interpreter in AssemblyScript with the bindings that its authors publish: anan.mjs <prefix>.
// It keeps prepared programs by name, and captures three pairs: with all, with the tenants deleted, and after their release.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { instantiate } from "@fluffylabs/anan-as/raw";
import { capturePair, exposeGlobals } from "../../../dist/capture.js";

const [, , prefix] = process.argv;
const wasm = createRequire(import.meta.url).resolve("@fluffylabs/anan-as/debug.wasm");
const module = new WebAssembly.Module(exposeGlobals(readFileSync(wasm)));
const interpreter = await instantiate(module, { env: {} });

class Tenant {
  constructor(name, program) {
    this.name = name;
    this.program = program;
  }
}

/** Adds two registers. */
const CODE = [0, 0, 3, 190, 135, 9, 1];
const prepared = () => interpreter.prepareProgram(0, 1, CODE, [], [], [], [], 0);

const app = { cache: new Map(), tenants: [] };
globalThis.app = app;
let truth = "";
const known = (kind, program) => {
  truth += `${kind} ${program.valueOf()}\n`;
  return program;
};
// In a function, because a running one keeps its temporary values.
function fill() {
  for (let nth = 0; nth < 60; nth++) app.cache.set(`code ${nth}`, known("cache", prepared()));
  for (let nth = 0; nth < 25; nth++) {
    app.tenants.push(new Tenant(`tenant ${nth}`, known("tenant", prepared())));
  }
}
fill();
writeFileSync(`${prefix}.truth.txt`, truth);
capturePair(interpreter, `${prefix}-all`, { closures: true });

app.tenants.length = 0;
// In this turn, no finalizer runs.
capturePair(interpreter, `${prefix}-deleted`, { closures: true });

// The heap snapshots above collected the wrappers; the finalizers run in a later turn.
for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setTimeout(resolve, 20));
capturePair(interpreter, `${prefix}-released`, { closures: true });
console.log(wasm);
