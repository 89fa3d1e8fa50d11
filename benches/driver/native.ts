/**
 * `npm run bench -- native --blocks 10000000`: the time of one analysis of a heap of C, with and without debug information,
 * and of one of AssemblyScript with as many objects, the fastest of several. It needs clang with wasi-libc.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { exposeGlobals, writeDump } from "@warpo/heap-analyzer/capture";
import { BenchBinary, buildUnoptimised, type Heap } from "./processes.js";

const ROOT = resolve(__dirname, "../..");
const PROGRAM = join(ROOT, "benches/native/tree.c");

interface Measured {
  name: string;
  objects: number;
  bytes: number;
  seconds: number;
}

function main(): void {
  const { values } = parseArgs({
    options: {
      blocks: { type: "string", default: "10000000" },
      times: { type: "string", default: "5" },
      unoptimised: { type: "boolean", default: false },
    },
  });
  if (values.unoptimised) buildUnoptimised();
  const [blocks, times] = [Number(values.blocks), Number(values.times)];
  const folder = mkdtempSync(join(tmpdir(), "heap-analyzer-bench-"));
  try {
    const binary = new BenchBinary();
    const fastest = (name: string, heap: Heap): Measured => {
      const runs = Array.from({ length: times }, () => binary.analyze(heap, false));
      const seconds = Math.min(...runs.map((run) => run.seconds));
      const { live, dumpBytes } = runs[0] as (typeof runs)[number];
      return { name, objects: live, bytes: dumpBytes, seconds };
    };
    const plain = { dump: join(folder, "c.dump"), wasm: join(folder, "c.wasm") };
    const described = { dump: join(folder, "g.dump"), wasm: join(folder, "g.wasm") };
    makeHeap(plain, blocks, []);
    makeHeap(described, blocks, ["-g"]);
    const forged = { dump: join(folder, "as.dump"), wasm: join(folder, "as.wasm") };
    binary.forge("tree", ["--objects", String(blocks)], forged);
    const all = [
      fastest("AssemblyScript", forged),
      fastest("C without debug information", plain),
      fastest("C with types", described),
    ];
    const [reference] = all as [Measured];
    for (const { name, objects, bytes, seconds } of all) {
      const size = `${(bytes / 2 ** 20).toFixed(0)} MiB`;
      const ratio = (seconds / reference.seconds).toFixed(2);
      console.log(`${name}: ${objects} objects, ${size}: ${seconds.toFixed(3)} s, × ${ratio}`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Compiles the program of C, runs it, and writes its dump. */
function makeHeap({ dump, wasm }: Heap, blocks: number, options: string[]): void {
  // Not the `wasm-opt` of this project, which clang would run.
  const parts = (process.env.PATH ?? "").split(delimiter);
  const PATH = parts.filter((part) => !part.includes("node_modules")).join(delimiter);
  const target = ["--target=wasm32-wasi", "-mexec-model=reactor", "-O1"];
  const link = "-Wl,--max-memory=4294967296";
  execFileSync("clang", [...target, link, ...options, PROGRAM, "-o", wasm], {
    env: { ...process.env, PATH },
  });
  const module = new WebAssembly.Module(exposeGlobals(readFileSync(wasm)));
  const { exports } = new WebAssembly.Instance(module);
  (exports._initialize as () => void)();
  (exports.make as (count: number) => void)(blocks);
  writeDump(exports, dump);
}

main();
