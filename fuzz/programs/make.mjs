/**
 * Makes the real programs that the fuzzers start from: `npm run fuzz:programs`. Each is compiled with
 * stock `asc` and the project's transform, and run; what is kept of a run is its module and two dumps.
 *
 * A dump is mostly zeros, so it is kept as rows of words: how many are zero, how many follow, these.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";
import AscTransform from "../../dist/asc_transform.mjs";
import { captureDump, exposeGlobals } from "../../dist/capture.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const OUTPUT = fileURLToPath(new URL(".", import.meta.url));
const JUDGED = "__test__/programs/judged";

/** What is kept: source, flags, and what a program does that does not ask for its dumps itself. */
const PROGRAMS = [
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

async function compile(source, flags) {
  let wasm;
  const { error, stderr } = await asc.main(
    [source, "--baseDir", ROOT, "--outFile", "o.wasm", "--debug", "--exportRuntime", ...flags],
    {
      transforms: [AscTransform],
      writeFile: (_, contents) => {
        wasm = contents;
      },
    },
  );
  if (error) throw new Error(`${source}: ${stderr}`, { cause: error });
  return wasm;
}

/** The first dump of a run and the last. */
async function run(wasm) {
  const dumps = [];
  const variable = (value, initial) => new WebAssembly.Global({ value, mutable: true }, initial);
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
  const { main, grow, trade, serve } = instance.exports;
  const steps = {
    main: [main],
    shop: [() => grow(20), trade],
    server: [() => serve(8), () => serve(20)],
  };
  for (const step of main ? steps.main : grow ? steps.shop : steps.server) {
    step();
    if (!main) dumps.push(captureDump(instance.exports));
  }
  return [dumps[0], dumps.at(-1)];
}

function sparse(dump) {
  const words = new Uint32Array(dump.slice().buffer);
  const rows = [];
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
  const wasm = await compile(source, flags);
  const [before, after] = await run(wasm);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  writeFileSync(join(folder, "program.wasm"), wasm);
  writeFileSync(join(folder, "before"), sparse(before));
  writeFileSync(join(folder, "after"), sparse(after));
  console.log(`${name}: module ${wasm.length} bytes, dumps ${before.length} and ${after.length}`);
}
