/**
 * `npm run bench -- --gate`: counts the instructions of fixed small heaps with callgrind, on one thread, and compares them
 * with the counts in the repository. Unlike a time, a count is the same on a busy machine: runs differ by 0.01 %.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type BenchBinary, benchBinary } from "./processes.js";

const FILE = resolve(__dirname, "../../benches/results/instructions.json");
const OBJECTS = 20_000;
const SHAPES = ["mix", "list", "tree", "maps", "text", "garbage", "shuffled", "classes"];
/** How much larger a count may be than the one in the repository, and how much smaller before that is to be renewed. */
const TOLERANCE = 0.02;

interface Counts {
  /** The compiler of these counts, as `rustc --version` says it: another one makes other code. */
  rustc: string;
  objects: number;
  /** By command and shape: instructions of the whole process. */
  instructions: Record<string, number>;
}

/** Counts, and compares or writes. Returns whether no count has grown. */
export function gate(binary: BenchBinary, folder: string, update: boolean): boolean {
  const counted = count(binary, folder);
  if (update) {
    writeFileSync(FILE, `${JSON.stringify(counted, null, 2)}\n`);
    console.log(`wrote ${FILE}`);
    return true;
  }
  const known = JSON.parse(readFileSync(FILE, "utf8")) as Counts;
  if (known.rustc !== counted.rustc || known.objects !== counted.objects) {
    throw new Error(
      `the counts in ${FILE} are those of ${known.rustc} and ${known.objects} objects, these of ${counted.rustc} and ${counted.objects}: install that compiler, or count the commit before with --update`,
    );
  }
  let isWithin = true;
  for (const [what, now] of Object.entries(counted.instructions)) {
    const before = known.instructions[what];
    const ratio = before === undefined ? Number.NaN : now / before;
    isWithin &&= ratio <= 1 + TOLERANCE;
    console.log(
      `${what.padEnd(20)} ${now.toLocaleString("en").padStart(14)} ${ratio.toFixed(3).padStart(7)}  ${verdict(ratio)}`,
    );
  }
  return isWithin;
}

function verdict(ratio: number): string {
  if (Number.isNaN(ratio)) return "no count in the repository: pass --update";
  if (ratio > 1 + TOLERANCE) return `more than ${1 + TOLERANCE} of the count in the repository`;
  return ratio < 1 - TOLERANCE ? "fewer: keep that with --update" : "yes";
}

function count(binary: BenchBinary, folder: string): Counts {
  const heap = { dump: join(folder, "counted.dump"), wasm: join(folder, "counted.wasm") };
  const instructions: Record<string, number> = {};
  for (const shape of SHAPES) {
    binary.forge(shape, ["--objects", String(OBJECTS)], heap);
    for (const command of ["analyze", "questions"]) {
      instructions[`${command} ${shape}`] = instructionsOf([command, heap.dump, heap.wasm]);
    }
  }
  const rustc = execFileSync("rustc", ["--version"], { encoding: "utf8" }).trim();
  return { rustc, objects: OBJECTS, instructions };
}

function instructionsOf(args: string[]): number {
  const valgrind = ["--tool=callgrind", "--callgrind-out-file=/dev/null", benchBinary(), ...args];
  const run = spawnSync("valgrind", valgrind, {
    encoding: "utf8",
    env: { ...process.env, RAYON_NUM_THREADS: "1" },
  });
  const collected = /Collected : (\d+)/.exec(run.stderr ?? "")?.[1];
  if (run.status !== 0 || collected === undefined) {
    throw new Error(
      `valgrind (of Debian's package valgrind) cannot count ${args.join(" ")}: ${run.error?.message ?? run.stderr}`,
    );
  }
  return Number(collected);
}
