/**
 * Dumps that are taken at every store of `malloc`, `realloc` and `free`, when the allocator's structures are inconsistent, as
 * at a trap inside of them: each is refused, or has the blocks from before the call or from after it. dlmalloc has one state
 * between the two. When `realloc` leaves a block where it is and needs less than there is, the rest first becomes a used block,
 * which is then freed. Between these, the rest is a block like any other, and stays one if the program is stopped there: the
 * dump has it.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import binaryen from "binaryen";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { captureDump, exposeGlobals } from "../dist/capture.js";
import { analyze } from "../dist/index.js";
import { hasClang, PATH, PROGRAMS } from "./support/native_program.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "native-stores-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const run = (program: string, args: string[]) =>
  spawnSync(program, args, { cwd: PROGRAMS, env: { ...process.env, PATH }, encoding: "utf8" });
const isNative = process.env.TEST_NATIVE !== undefined;
const hasEmcc = isNative && run("emcc", ["--version"]).status === 0;
const EMCC = ["-sSTANDALONE_WASM", "-sALLOW_MEMORY_GROWTH", "--no-entry", "stores.c"];
// A dump has all of the memory.
EMCC.push("-sINITIAL_MEMORY=262144", "-sTOTAL_STACK=65536");
const WASI = ["--target=wasm32-wasi", "-mexec-model=reactor", "stores.c"];

const BUILDS = [
  { name: "clang, dlmalloc", program: "clang", args: ["-O2", ...WASI], isHere: hasClang },
  { name: "emcc, dlmalloc", program: "emcc", args: ["-O2", ...EMCC], isHere: hasEmcc },
  {
    name: "emcc, emmalloc",
    program: "emcc",
    args: ["-O2", "-sMALLOC=emmalloc", ...EMCC],
    isHere: hasEmcc,
  },
];
/** The steps of the program, and which stores a dump is taken at. */
const [STEPS, EVERY] = isNative ? [400, 3] : [40, 7];

/** The size of each block, by address. */
function blocksOf(dump: Uint8Array, wasm: Uint8Array): Map<number, number> {
  const blocks = new Map<number, number>();
  for (const { instanceColumns } of analyze(dump, wasm).constructors) {
    const { addresses, shallowSizes } = instanceColumns;
    for (const [nth, address] of addresses.entries())
      blocks.set(address, shallowSizes[nth] as number);
  }
  return blocks;
}

/** What a dump has, between the blocks from before a call and those from after it. */
interface Between {
  wrong: string[];
  /** Blocks that are the rest of one that `realloc` resizes. */
  rests: number;
}

function compare(
  found: Map<number, number>,
  before: Map<number, number>,
  after: Map<number, number>,
): Between {
  const between: Between = { wrong: [], rests: 0 };
  for (const [address, size] of found) {
    if (before.get(address) === size || after.get(address) === size) continue;
    if (isRest({ address, size }, before, after)) between.rests++;
    else between.wrong.push(`there is no block of ${size} bytes at ${address}`);
  }
  for (const address of before.keys()) {
    if (after.has(address) && !found.has(address)) between.wrong.push(`${address} is missing`);
  }
  return between;
}

/**
 * Whether a block is what `realloc` gives back of another: from the new end of that one to its old end, or to that of the
 * free memory after it, which is where the next block begins.
 */
function isRest(
  { address, size }: { address: number; size: number },
  before: Map<number, number>,
  after: Map<number, number>,
): boolean {
  return [...before].some(([start, sizeBefore]) => {
    const sizeAfter = after.get(start) ?? sizeBefore;
    if (sizeAfter === sizeBefore || address !== start + sizeAfter) return false;
    const next = Math.min(...[...before.keys()].filter((other) => other > start));
    return address + size === (sizeAfter < sizeBefore ? start + sizeBefore : next);
  });
}

describe.each(BUILDS)("$name", ({ name, program, args, isHere }) => {
  test.skipIf(!isHere)("every store leaves a heap that is refused or right", () => {
    const file = join(folder, `${name.replaceAll(/\W/g, "")}.wasm`);
    const made = run(program, [...args, "-o", file]);
    expect(made.status, made.stderr).toBe(0);
    const wasm = readFileSync(file);
    const calling = binaryen.readBinary(wasm);
    const { BulkMemory, MutableGlobals, SignExt } = binaryen.Features;
    calling.setFeatures(BulkMemory | MutableGlobals | SignExt);
    calling.runPasses(["instrument-memory"]);
    const module = new WebAssembly.Module(exposeGlobals(calling.emitBinary()));
    calling.dispose();
    let dumps: Uint8Array[] | undefined;
    let stores = 0;
    const imports: Record<string, WebAssembly.ModuleImports> = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
      imports[from] ??= {};
      // Each gets the value or the address as its last argument, and returns it.
      imports[from][name] = (...passed: unknown[]) => {
        if (name === "store_ptr" && dumps !== undefined && stores++ % EVERY === 0)
          dumps.push(captureDump(exports));
        return passed.at(-1);
      };
    }
    const { exports } = new WebAssembly.Instance(module, imports);
    (exports._initialize as () => void)();
    const step = exports.step as () => void;
    const codes = new Map<string, number>();
    let rightBlocks = 0;
    let rests = 0;
    const wrong: string[] = [];
    // The first call makes the heap.
    step();
    let before = blocksOf(captureDump(exports), wasm);
    for (let nth = 0; nth < STEPS; nth++) {
      dumps = [];
      step();
      const taken: Uint8Array[] = dumps.slice(0, 100);
      dumps = undefined;
      const after = blocksOf(captureDump(exports), wasm);
      for (const dump of taken) {
        try {
          const found = compare(blocksOf(dump, wasm), before, after);
          if (found.wrong.length === 0) rightBlocks++;
          rests += found.rests;
          wrong.push(...found.wrong.map((text) => `step ${nth}: ${text}`));
        } catch (error) {
          const { code } = error as { code: string };
          codes.set(code, 1 + (codes.get(code) ?? 0));
        }
      }
      before = after;
    }
    expect(wrong).toEqual([]);
    expect(rightBlocks).toBeGreaterThan(50);
    if (name.includes("emmalloc")) expect(rests).toBe(0);
    else if (isNative) expect(rests).toBeGreaterThan(0);
    expect(codes.size).toBeGreaterThan(0);
    const refused = [...codes.keys()].filter((code) => code !== "ERR_ALLOCATOR_UNKNOWN");
    expect(refused.filter((code) => code !== "ERR_HEAP_CORRUPT")).toEqual([]);
  });
});
