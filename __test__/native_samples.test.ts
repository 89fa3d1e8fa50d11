/**
 * Dumps of programs of C, C++ and Rust that several compilers made, with the log of each program. So every clone is tested,
 * whatever compilers it has. `NATIVE_SAMPLES=write` writes them again, with the compilers that are there;
 * `NATIVE_SAMPLES=missing` only those that are not there.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { openHeap } from "../dist/index.js";
import { dumped, type NativeGuest } from "./support/native_program.ts";
import { CLANG, emscripten, rust, type Toolchain } from "./support/native_toolchains.ts";

const SAMPLES = join(__dirname, "samples/native");

interface Sample {
  name: string;
  toolchain: Toolchain;
  source: string;
  level: string;
  options?: string[];
}

/** Without debug information, which is not needed, and large. */
const SMALL = ["-g0"];
const SMALL_RUST = ["-Cstrip=debuginfo"];

const MADE: Sample[] = [
  { name: "clang-14-O0", toolchain: CLANG, source: "guest.c", level: "-O0", options: SMALL },
  { name: "clang-14-O2", toolchain: CLANG, source: "guest.c", level: "-O2", options: SMALL },
  { name: "clang-14-cpp-O2", toolchain: CLANG, source: "guest.cpp", level: "-O2", options: SMALL },
  ...(["dlmalloc", "emmalloc"] as const).flatMap((allocator) =>
    ["guest.c", "guest.cpp"].map((source) => ({
      name: `emscripten-3.1.6-${allocator}-${source.split(".")[1]}-O2`,
      toolchain: emscripten(allocator),
      source,
      level: "-O2",
      options: SMALL,
    })),
  ),
  {
    name: "rust-1.63-wasi-O2",
    toolchain: rust("/usr/bin/rustc", "wasm32-wasi"),
    source: "guest.rs",
    level: "-O2",
    options: SMALL_RUST,
  },
  {
    name: "rust-1.95-unknown-O2",
    toolchain: rust("rustc", "wasm32-unknown-unknown"),
    source: "guest.rs",
    level: "-O2",
    options: SMALL_RUST,
  },
];

/** What the program says of itself. */
interface Truth {
  /** The address and the size of each block at the dump. */
  blocks: [number, number][];
  /** The address of a block, and what becomes of it. */
  fates: [number, string][];
}

const writing = process.env.NATIVE_SAMPLES;
if (writing === "write" || writing === "missing") {
  const folder = mkdtempSync(join(tmpdir(), "native-samples-"));
  for (const { name, toolchain, source, level, options } of MADE) {
    if (writing === "missing" && existsSync(join(SAMPLES, name))) continue;
    const wasm = join(folder, `${name}.wasm`);
    const problem = toolchain.make(source, level, wasm, options);
    if (problem === undefined) write(name, dumped(wasm));
    else console.warn(`${name}: ${problem}`);
  }
  rmSync(folder, { recursive: true });
}

function write(name: string, { wasm, dump, live, fates }: NativeGuest): void {
  mkdirSync(join(SAMPLES, name), { recursive: true });
  const truth: Truth = { blocks: [...live], fates: [...fates] };
  const files = {
    "guest.wasm": wasm,
    "guest.dump": readFileSync(dump),
    "truth.json": JSON.stringify(truth),
  };
  for (const [file, content] of Object.entries(files))
    writeFileSync(join(SAMPLES, name, `${file}.gz`), gzipSync(content, { level: 9 }));
}

function read(name: string) {
  const file = (part: string) => gunzipSync(readFileSync(join(SAMPLES, name, `${part}.gz`)));
  const truth: Truth = JSON.parse(file("truth.json").toString());
  const heap = openHeap(file("guest.dump"), file("guest.wasm"));
  return { heap, blocks: new Map(truth.blocks), fates: truth.fates };
}

const names = existsSync(SAMPLES) ? readdirSync(SAMPLES) : [];

test("there is a sample of every compiler and allocator", () => {
  expect(names.sort()).toEqual(MADE.map(({ name }) => name).sort());
});

describe.each(names)("%s", (name) => {
  test("the blocks are those of the log", () => {
    const { heap, blocks } = read(name);
    const found = heap.find({ limit: 100_000 }).objects;
    expect(blocks.size).toBeGreaterThan(1000);
    expect(found.map(({ address }) => address).sort()).toEqual([...blocks.keys()].sort());
    for (const { address, shallowSize } of found) {
      const rounding = shallowSize - (blocks.get(address) ?? 0);
      // The headers, and what rounding adds.
      expect(rounding).toBeGreaterThanOrEqual(4);
      expect(rounding).toBeLessThanOrEqual(4 + 28);
    }
    heap.close();
  });

  test("what the program leaks is unreferenced, and what it keeps is not", () => {
    const { heap, fates } = read(name);
    expect(fates.length).toBeGreaterThan(15);
    for (const [block, fate] of fates) {
      const root = heap.paths(block).path?.root.kind;
      const isHeld = ["static", "stack", "interior"].includes(fate);
      if (fate === "register") continue;
      expect({ block, fate, root }).toEqual({
        block,
        fate,
        root: isHeld ? expect.stringMatching(/global|stack/) : "unreferenced",
      });
    }
    heap.close();
  });
});
