/**
 * Makes the real programs that the fuzzers start from: `npm run fuzz -- --programs`. Each is compiled with
 * stock `asc` and the project's transform, and run; what is kept of a run is its module and two dumps.
 *
 * A dump is mostly zeros, so it is kept as rows of words: how many are zero, how many follow, these.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { captureDump, exposeGlobals } from "@warpo/heap-analyzer/capture";

const require = createRequire(import.meta.url);
/** From where this is compiled to. */
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const OUTPUT = join(ROOT, "fuzz/programs");
const JUDGED = "__test__/programs/judged";

/** Sources, each with the flags of its build. */
const PROGRAMS: [source: string, ...flags: string[]][] = [
  [`${JUDGED}/arrays.ts`],
  [`${JUDGED}/sets.ts`, "-O3"],
  [`${JUDGED}/interfaces_generics.ts`],
  [`${JUDGED}/subclasses.ts`, "-O3"],
  [`${JUDGED}/functions.ts`, "-Oz"],
  [`${JUDGED}/environments.ts`],
  [`${JUDGED}/imported_globals.ts`, "-O3"],
  [`${JUDGED}/foreign_region.ts`, "-O3"],
  [`${JUDGED}/empty_heap.ts`, "-O3"],
  ["benches/shop/assembly/index.ts", "-O3"],
  ["examples/leaky-server/assembly/server.ts"],
];

function compile(source: string, flags: string[], wasm: string): void {
  const asc = join(require.resolve("assemblyscript/package.json"), "..", "bin", "asc.js");
  const transform = require.resolve("@warpo/heap-analyzer/asc-transform");
  const all = ["--debug", "--exportRuntime", "--transform", transform, ...flags];
  execFileSync(process.execPath, [asc, source, "-o", wasm, ...all], { cwd: ROOT });
}

/** The first dump of a run and the last. */
async function run(wasm: Uint8Array): Promise<[before: Uint8Array, after: Uint8Array]> {
  const dumps: Uint8Array[] = [];
  const variable = (value: "i32" | "i64", initial: number | bigint) =>
    new WebAssembly.Global({ value, mutable: true }, initial);
  const { instance } = await WebAssembly.instantiate(exposeGlobals(wasm), {
    host: {
      dump: () => dumps.push(captureDump(instance.exports)),
      victim() {},
      collectorState: () => 0,
      limit: 10,
      counter: variable("i32", 0),
      wide: variable("i64", 0n),
    },
    env: {
      abort() {
        throw new Error("the program aborted");
      },
    },
  });
  const { main, grow, trade, serve } = instance.exports as Record<string, (n?: number) => void>;
  // The judged programs ask for their dumps themselves.
  const shop = [() => grow?.(20), () => trade?.()];
  const server = [() => serve?.(8), () => serve?.(20)];
  const steps = main ? [] : grow ? shop : server;
  main?.();
  for (const step of steps) {
    step();
    dumps.push(captureDump(instance.exports));
  }
  const [before] = dumps;
  const after = dumps.at(-1);
  if (!before || !after) throw new Error("the program asked for no dump");
  return [before, after];
}

function sparse(dump: Uint8Array): Uint8Array {
  const words = new Uint32Array(dump.slice().buffer);
  const rows: number[] = [];
  for (let at = 0; at < words.length; ) {
    const start = at;
    while (at < words.length && words[at] === 0) at++;
    const first = at;
    while (at < words.length && words[at] !== 0) at++;
    rows.push(first - start, at - first, ...words.subarray(first, at));
  }
  return new Uint8Array(Uint32Array.from(rows).buffer);
}

for (const [source, ...flags] of PROGRAMS) {
  const name = basename(source, ".ts") === "index" ? "shop" : basename(source, ".ts");
  const folder = join(OUTPUT, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const file = join(folder, "program.wasm");
  compile(source, flags, file);
  const wasm = readFileSync(file);
  const [before, after] = await run(wasm);
  writeFileSync(join(folder, "before"), sparse(before));
  writeFileSync(join(folder, "after"), sparse(after));
  console.log(`${name}: module ${wasm.length} bytes, dumps ${before.length} and ${after.length}`);
}
