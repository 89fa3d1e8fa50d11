// Types of blocks of programs that are compiled here, compared with what the programs themselves log.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import binaryen from "binaryen";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { captureDump, exposeGlobals } from "../dist/capture.js";
import { analyze, openHeap } from "../dist/index.js";
import { hasClang, PATH, PROGRAMS } from "./support/native_program.ts";
import { random, randomCProgram } from "./support/random_c_program.ts";
import { dumpedWithTypes, judgedTypes, typedShare } from "./support/typed_guest.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "native-types-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const started = (program: string, args: string[]) =>
  spawnSync(program, args, { cwd: PROGRAMS, env: { ...process.env, PATH }, encoding: "utf8" });

const C = ["--target=wasm32-wasi", "-g", `-I${PROGRAMS}`];
const compiled = (source: string, name: string, level: string) => {
  const wasm = join(folder, `${name}.wasm`);
  const { status, stderr } = started("clang", [...C, level, source, "-o", wasm]);
  expect(status, stderr).toBe(0);
  return wasm;
};

describe.skipIf(!hasClang)("C", () => {
  test.each(["-O0", "-O2"])("%s: the guest's blocks have types", (level) => {
    const { wasm, dump } = dumpedWithTypes(compiled("guest.c", `guest${level}`, level));
    const heap = openHeap(dump, wasm);
    const { blocks, bytes } = typedShare(heap);
    expect(blocks).toBeGreaterThan(0.95);
    expect(bytes).toBeGreaterThan(0.9);
    heap.close();
    const { constructors } = analyze(dump, wasm);
    const evidence = new Map(constructors.map((row) => [row.className, row.typeEvidence]));
    expect(evidence.get("session")).toBe("field");
    expect(evidence.get("entry[]")).toBe("field");
    expect(evidence.get("char[]")).toBe("field");
    expect([...evidence.values()]).toContain("none");
  });

  test("the classes have the same names in every build", () => {
    const names = ["-O0", "-O2"].map((level) => {
      const { wasm, dump } = dumpedWithTypes(compiled("guest.c", `same${level}`, level));
      const { constructors } = analyze(dump, wasm);
      const typed = constructors.filter(({ typeEvidence }) => typeEvidence !== "none");
      return typed.map(({ className }) => className).sort();
    });
    expect(names[0]).toEqual(names[1]);
    expect(names[0]).toContain("session");
  });

  test("paths, objects and conditions have the names of the source", () => {
    const { wasm, dump } = dumpedWithTypes(compiled("guest.c", "named", "-O0"));
    const heap = openHeap(dump, wasm);
    const found = heap.find({ class: "session", where: "this.id == 7", limit: 10 });
    expect(found.total).toBe(1);
    const [session] = found.objects;
    const path = heap.paths(session?.address ?? 0).path?.text;
    expect(path).toMatch(/^global static (sessions|table\[\*\]) > /);
    const { fields } = heap.object(session?.address ?? 0);
    expect(fields.map(({ name }) => name)).toEqual(["id", "name", "next", "load"]);
    expect(fields.map(({ type }) => type)).toEqual(["int", "char*", "session*", "double"]);
    expect(fields[0]?.value).toBe(7);
    expect(fields[1]?.value).toBe('"session 7"');
    expect(fields[2]?.className).toBe("session");
    expect(fields[3]?.value).toBeCloseTo(7 / 3);
    expect(heap.find({ where: "this.load > 30", limit: 1 }).total).toBeGreaterThan(10);
    // Old words lie in the texts of the configuration. All sessions have a path without them.
    for (const { address } of heap.find({ class: "session", limit: 1000 }).objects) {
      const text = heap.paths(address).path?.text ?? "";
      if (!text.startsWith("unreferenced")) expect(text).not.toContain("char[]");
    }
    heap.close();
  });

  test("members of a variable that the optimiser divided lead to blocks", () => {
    const { wasm, dump } = dumpedWithTypes(compiled("split.c", "split", "-O2"));
    const heap = openHeap(dump, wasm);
    for (const [name, member] of [
      ["session", "first"],
      ["message", "last"],
    ] as const) {
      const { total, objects } = heap.find({ class: name, limit: 1 });
      expect(total).toBe(30);
      const path = heap.paths(objects[0]?.address ?? 0).path?.text;
      expect(path).toMatch(new RegExp(`^global static state\\.${member} > ${name}`));
    }
    heap.close();
  });

  test("damaged debug information and damaged blocks change no size", () => {
    expectDamageToBeHarmless(dumpedWithTypes(compiled("guest.c", "damaged", "-O1")), 100);
  });

  test.each(Array.from({ length: 8 }, (_, nth) => nth + 1))(
    "no type contradicts what random program %d logs",
    (seed) => {
      const source = join(folder, `random${seed}.c`);
      writeFileSync(source, randomCProgram(seed));
      const { wrong } = judgedTypes(dumpedWithTypes(compiled(source, `random${seed}`, "-O1")));
      expect(wrong).toEqual([]);
    },
  );
});

/** The range of a custom section in a module. */
function sectionOf(wasm: Uint8Array, name: string): { start: number; end: number } {
  const number = (at: number) => {
    let [value, shift, next] = [0, 0, at];
    for (;;) {
      const byte = wasm[next++] as number;
      value |= (byte & 0x7f) << shift;
      shift += 7;
      if (byte < 0x80) return { value, next };
    }
  };
  for (let at = 8; at < wasm.length; ) {
    const size = number(at + 1);
    const end = size.next + size.value;
    const length = number(size.next);
    const start = length.next + length.value;
    const found = new TextDecoder().decode(wasm.subarray(length.next, start));
    if (wasm[at] === 0 && found === name) return { start, end };
    at = end;
  }
  throw new Error(`there is no section ${name}`);
}

/** Opens a dump with damaged debug information, and with damaged contents of blocks: no block is lost. */
function expectDamageToBeHarmless(
  { wasm, dump }: { wasm: Uint8Array; dump: Uint8Array },
  times: number,
) {
  const heap = openHeap(dump, wasm);
  const { live, size } = { live: heap.summary().objects.live, size: heap.summary().totalLiveSize };
  const blocks = heap.find({ limit: 1_000_000 }).objects;
  heap.close();
  const below = random(times);
  const start = dump.length - (dump.length & ~0xffff);
  for (let nth = 0; nth < times; nth++) {
    const [damagedModule, damagedDump] = [Uint8Array.from(wasm), Uint8Array.from(dump)];
    const section = sectionOf(wasm, nth % 3 === 0 ? ".debug_abbrev" : ".debug_info");
    for (let edit = 0; edit < 1 + below(20); edit++) {
      damagedModule[section.start + below(section.end - section.start)] = below(256);
    }
    for (let edit = 0; edit < 20; edit++) {
      const { address, shallowSize } = blocks[below(blocks.length)] as (typeof blocks)[number];
      const other = blocks[below(blocks.length)] as (typeof blocks)[number];
      const at = start + address + 4 * below((shallowSize - 4) >> 2);
      new DataView(damagedDump.buffer).setUint32(at, other.address + 4 * below(3), true);
    }
    const damaged = openHeap(damagedDump, damagedModule);
    expect(damaged.summary().objects.live).toBe(live);
    expect(damaged.summary().totalLiveSize).toBe(size);
    const { address } = blocks[below(blocks.length)] as (typeof blocks)[number];
    damaged.object(address);
    damaged.paths(address);
    damaged.close();
  }
}

const EMXX = ["-g", "-fno-exceptions", "-sSTANDALONE_WASM", "-sALLOW_MEMORY_GROWTH"];
// Imports of the log are in no library.
EMXX.push("-sERROR_ON_UNDEFINED_SYMBOLS=0", `-I${PROGRAMS}`);
const hasEmxx = started("em++", ["--version"]).status === 0;

describe.skipIf(!hasEmxx)("C++ with libc++", () => {
  test.each([
    ["-O0", []],
    ["-O2", []],
    ["-O2", ["-fno-rtti"]],
  ])("em++ %s %j: the guest's blocks have types", (level, more) => {
    const file = join(folder, `cpp${level}${more}.wasm`);
    const { status, stderr } = started("em++", [...EMXX, level, ...more, "guest.cpp", "-o", file]);
    expect(status, stderr).toBe(0);
    const { wasm, dump } = dumpedWithTypes(file);
    const heap = openHeap(dump, wasm);
    const { blocks, bytes } = typedShare(heap);
    expect(blocks).toBeGreaterThan(0.95);
    expect(bytes).toBeGreaterThan(0.9);
    heap.close();
    const { constructors } = analyze(dump, wasm);
    const rows = new Map(constructors.map((row) => [row.className, row]));
    const counted = (name: string) => rows.get(name)?.count;
    expect(counted("Order[]")).toBe(1);
    expect(counted("app::Session")).toBe(120);
    expect(counted("std::__tree_node<std::__value_type<int, std::string>, void *>")).toBe(120);
    expect(counted("std::__list_node<int, void *>")).toBe(30);
    // A guess has a mark, and nothing else has it.
    const marked = constructors.filter(({ className }) => className.endsWith("?"));
    const guessed = constructors.filter(({ typeEvidence }) => typeEvidence === "fit");
    expect(marked).toEqual(guessed);
    expect(guessed.length > 0).toBe(more.length > 0);
    if (more.length > 0) return;
    // 30 in a vector, and 11 that nothing refers to.
    expect(counted("Square")).toBe(41);
    expect(rows.get("Square")?.typeEvidence).toBe("dynamic");
    expect(counted("Circle")).toBe(30);
    expect(counted("std::__shared_ptr_emplace<Node>")).toBe(25 + 12);
  });
});

/** Zig from PyPI. Its caches are those of the tests of the profiler. */
const zig = (args: string[]) => {
  const cache = join(tmpdir(), "heap-analyzer-zig");
  const env = { ...process.env, PATH, ZIG_GLOBAL_CACHE_DIR: cache, ZIG_LOCAL_CACHE_DIR: cache };
  return spawnSync("python3", ["-m", "ziglang", ...args], { cwd: PROGRAMS, env, encoding: "utf8" });
};
const hasZig = zig(["version"]).status === 0;

describe.skipIf(!hasZig)("Zig", () => {
  const target = ["-target", "wasm32-freestanding", "-fno-entry", "-rdynamic", "-fno-strip"];

  test("the blocks of wasm_allocator are those of the log, and have types", () => {
    const file = join(folder, "zig.wasm");
    const { status, stderr } = zig(["build-exe", "guest.zig", ...target, `-femit-bin=${file}`]);
    expect(status, stderr).toBe(0);
    const { wasm, dump, live } = dumpedWithTypes(file);
    const heap = openHeap(dump, wasm);
    const found = heap.find({ limit: 1_000_000 }).objects;
    expect(found.map(({ address }) => address).sort()).toEqual([...live.keys()].sort());
    // A slot is a power of two, in which a word is not the program's.
    for (const { address, shallowSize } of found) {
      expect(shallowSize).toBeGreaterThanOrEqual((live.get(address) as number) + 4);
      expect(Math.log2(shallowSize) % 1).toBe(0);
    }
    expect(heap.warnings.map(({ code }) => code)).not.toContain("WARN_PAGES_UNKNOWN");
    expect(typedShare(heap).blocks).toBeGreaterThan(0.95);
    expect(heap.find({ class: "guest.Session", limit: 1 }).total).toBe(300);
    heap.close();
    const { constructors } = analyze(dump, wasm);
    const rows = new Map(constructors.map((row) => [row.className, row]));
    const list = { count: 1, typeEvidence: "container" };
    expect(rows.get("guest.Order[]")).toMatchObject(list);
    expect(rows.get("*guest.Item[]")).toMatchObject(list);
    // A slice, and a hash map.
    expect(rows.get("*guest.Session[]")).toMatchObject(list);
    expect([...rows.keys()].filter((name) => name.startsWith("hash_map."))).toHaveLength(1);
    // Five of the 30 were removed from their list, in whose buffer their addresses still are.
    expect(rows.get("guest.Item")).toMatchObject({ count: 25, typeEvidence: "field" });
    // The members of a list in another type have no meaning: a name of each session, and one more block.
    expect(rows.get("u8[]")).toMatchObject({ count: 301, typeEvidence: "field" });
  });

  test("the blocks of its libc are those of the log, and C++ has types", () => {
    const file = join(folder, "zig-cpp.wasm");
    const options = ["--target=wasm32-wasi", "-g", "-O0", "-fno-exceptions"];
    const { status, stderr } = zig(["c++", ...options, "guest.cpp", "-o", file]);
    expect(status, stderr).toBe(0);
    const { wasm, dump } = dumpedWithTypes(file);
    const heap = openHeap(dump, wasm);
    // As with libc++ of emscripten and dlmalloc.
    expect(heap.summary().objects.live).toBe(1407);
    const { blocks, bytes } = typedShare(heap);
    expect(blocks).toBeGreaterThan(0.95);
    expect(bytes).toBeGreaterThan(0.9);
    expect(heap.find({ class: "Square", limit: 1 }).total).toBe(41);
    expect(heap.find({ class: "char[]", limit: 1 }).total).toBe(481);
    heap.close();
  });
});

/** The newest Rust of this machine, and that of Debian. */
const RUSTS = ["rustc", "/usr/bin/rustc"].flatMap((rustc) =>
  ["0", "2"].map((level) => ({ rustc, level })),
);

describe.each(RUSTS)("$rustc -Copt-level=$level", ({ rustc, level }) => {
  test("the guest's blocks have types", (context) => {
    const file = join(folder, `${rustc.replaceAll("/", "")}${level}.wasm`);
    const options = ["-g", `-Copt-level=${level}`, "--target=wasm32-unknown-unknown"];
    const { status, stderr } = started(rustc, [...options, "guest.rs", "-o", file]);
    const isMissing = status === null || /E0463|could not find specification/.test(stderr);
    context.skip(isMissing, `there is no ${rustc} for wasm32-unknown-unknown`);
    expect(status, stderr).toBe(0);
    const { wasm, dump } = dumpedWithTypes(file);
    const heap = openHeap(dump, wasm);
    const { blocks, bytes } = typedShare(heap);
    expect(blocks).toBeGreaterThan(0.95);
    expect(bytes).toBeGreaterThan(0.9);
    heap.close();
    const { constructors } = analyze(dump, wasm);
    const rows = new Map(constructors.map((row) => [row.className, row]));
    expect(rows.get("guest::Order")?.count).toBe(120);
    expect(rows.get("guest::Square")).toMatchObject({ count: 30, typeEvidence: "dynamic" });
    expect(rows.get("guest::Order[]")).toMatchObject({ count: 1, typeEvidence: "container" });
  });
});

test("slices of Rust have as many values as the number beside the pointer says", (context) => {
  const file = join(folder, "slices.wasm");
  const options = ["-g", "-Copt-level=2", "--crate-type=cdylib", "--target=wasm32-unknown-unknown"];
  const { status, stderr } = started("rustc", [...options, "slices.rs", "-o", file]);
  const isMissing = status === null || /E0463|could not find specification/.test(stderr);
  context.skip(isMissing, "there is no rustc for wasm32-unknown-unknown");
  expect(status, stderr).toBe(0);
  const { wasm, dump } = dumpedWithTypes(file);
  const { constructors } = analyze(dump, wasm);
  const rows = new Map(constructors.map((row) => [row.className, row]));
  for (const name of [
    "ArcInner<[String]>",
    "ArcInner<str>",
    "RcInner<[slices::Document]>",
    "u64[]",
  ]) {
    expect(rows.get(name), name).toMatchObject({ count: 1, typeEvidence: "container" });
  }
  // A part of a buffer with 20 documents, whose owner is gone.
  expect(rows.get("slices::Document[]")).toMatchObject({ count: 1, typeEvidence: "field" });
  expect(rows.get("u8[]")?.count).toBe(20 + 20 + 10);
});

describe("the heaps of other languages are refused by their names", () => {
  /** A program that allocates with one function, with a stack pointer of this name. */
  const made = (allocator: string, pointer: string, start: number) => {
    const parsed = binaryen.parseText(`(module
      (memory (export "memory") 1)
      (global $${pointer} (mut i32) (i32.const ${start}))
      (func $${allocator} (export "run") (param i32) (result i32)
        (global.set $${pointer} (i32.sub (global.get $${pointer}) (i32.const 16)))
        (memory.grow (local.get 0))))`);
    binaryen.setDebugInfo(true);
    const wasm = new Uint8Array(parsed.emitBinary());
    binaryen.setDebugInfo(false);
    return wasm;
  };
  /** A dump of the program whose allocator has no known name. */
  const dump = () => {
    const module = new WebAssembly.Module(exposeGlobals(made("allocate", "__stack_pointer", 1024)));
    return captureDump(new WebAssembly.Instance(module).exports);
  };
  const refused = (message: RegExp) =>
    expect.objectContaining({
      code: "ERR_ALLOCATOR_UNKNOWN",
      message: expect.stringMatching(message),
    });

  test.each([
    ["runtime.mallocgc", "Go"],
    ["runtime.alloc", "TinyGo"],
  ])("%s is of %s: it is refused before the program runs, and in a dump", (allocator, language) => {
    const wasm = made(allocator, "__stack_pointer", 1024);
    expect(() => exposeGlobals(wasm)).toThrow(refused(RegExp(`a program of ${language},`)));
    const inDump = refused(RegExp(`the allocator of ${language},`));
    expect(() => openHeap(dump(), wasm)).toThrow(inDump);
  });

  test("an unknown allocator is of none", () => {
    const wasm = made("allocate", "__stack_pointer", 1024);
    expect(() => openHeap(dump(), wasm)).toThrow(refused(/^(?!.*Go).*$/));
  });

  test("Go has no stack pointer that is known, and is refused by its name nevertheless", () => {
    const other = (allocator: string) => () => exposeGlobals(made(allocator, "SP", 0));
    expect(other("runtime.mallocgc")).toThrow(refused(/a program of Go,/));
    expect(other("allocate")).toThrow(expect.objectContaining({ code: "ERR_GLOBAL_MISSING" }));
  });
});
