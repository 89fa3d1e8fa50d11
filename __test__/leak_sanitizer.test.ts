/**
 * LeakSanitizer, which scans the memory of the same program compiled for this machine or by emscripten, against the
 * unreferenced blocks of a dump, by the line that allocated them.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openHeap } from "../dist/index.js";
import { createProfiler, instrument } from "../dist/profile.js";
import { dumped, PROGRAMS } from "./support/native_program.ts";
import { CLANG, compile, emscripten, rust, type Toolchain } from "./support/native_toolchains.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "leak-sanitizer-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The number of blocks by the line of the source that allocated them. */
type ByLine = Map<number, number>;

function add(counts: ByLine, line: number, count: number): void {
  counts.set(line, count + (counts.get(line) ?? 0));
}

/** The frames of an allocator that logs and passes on, which the source of Rust has. */
const ALLOCATOR = /^.* in (?:__rg_|.*GlobalAlloc).*\n/gm;

/** The first report of LeakSanitizer: the program asks for it where it asks for a dump otherwise. */
function leaksIn(report: string, source: string): ByLine {
  const counts: ByLine = new Map();
  const [first = ""] = report.split("SUMMARY:", 1);
  const place = new RegExp(`${source.replace(".", "\\.")}:(\\d+)`);
  for (const leak of first.split(/^(?=(?:Direct|Indirect) leak of )/m).slice(1)) {
    const [, count] = /in (\d+) object/.exec(leak) ?? [];
    const [, line] = place.exec(leak.replace(ALLOCATOR, "")) ?? [];
    add(counts, Number(line ?? 0), Number(count));
  }
  return counts;
}

/** The unreferenced blocks of a dump, by a profile of the same moment. */
function unreferencedIn(wasm: string): ByLine {
  const program = instrument(readFileSync(wasm));
  const profiler = createProfiler(program, { interval: 1 });
  let profile = new Uint8Array();
  const guest = dumped(wasm, {
    wasm: program.wasm,
    imports: profiler.imports,
    attach: (exports) => profiler.attach(exports),
    onDump: () => {
      profile = profiler.heapProfile();
    },
  });
  const heap = openHeap(readFileSync(guest.dump), guest.wasm, { profile });
  const counts: ByLine = new Map();
  for (const block of guest.live.keys()) {
    const { path, allocatedAt } = heap.object(block);
    if (path?.root.kind === "unreferenced") add(counts, allocatedAt?.line ?? 0, 1);
  }
  heap.close();
  return counts;
}

/** What is not the same, by line: the number of blocks here, and that of LeakSanitizer. */
function differences(here: ByLine, leaks: ByLine): Map<number, [number, number]> {
  const lines = [...new Set([...here.keys(), ...leaks.keys()])].sort((one, other) => one - other);
  return new Map(
    lines
      .map((line): [number, [number, number]] => [
        line,
        [here.get(line) ?? 0, leaks.get(line) ?? 0],
      ])
      .filter(([, [found, leaked]]) => found !== leaked),
  );
}

/** The line of a program with this text. */
function lineOf(source: string, part: string): number {
  const lines = readFileSync(join(PROGRAMS, source), "utf8").split("\n");
  return 1 + lines.findIndex((line) => line.includes(part));
}

const total = (counts: ByLine) => [...counts.values()].reduce((sum, count) => sum + count, 0);

interface Program {
  source: string;
  level: string;
  toolchain: Toolchain;
  /** The commands that make the program for this machine. */
  native: (program: string, level: string) => string[][];
  /** How many blocks the program leaks. */
  leaked: number;
  /** A text of the line that allocates what only a local variable holds. LeakSanitizer also looks into registers. */
  held?: string;
}

const ofC = (compiler: string, source: string) => (program: string, level: string) => [
  [compiler, "-g", level, "-fsanitize=leak", source, "-o", program],
];
const ofRust = (program: string, level: string) => [
  ["clang", "-c", "stub.c", "-o", `${program}.o`],
  [
    "/usr/bin/rustc",
    "-g",
    `-Copt-level=${level.slice(2)}`,
    "-Clinker=clang",
    "-Clink-arg=-fsanitize=leak",
    `-Clink-arg=${program}.o`,
    "guest.rs",
    "-o",
    program,
  ],
];

const HELD = "int *in_register";
const PROGRAMS_OF_ALL: Program[] = [
  {
    source: "guest.c",
    level: "-O0",
    toolchain: CLANG,
    native: ofC("clang", "guest.c"),
    leaked: 44,
  },
  {
    source: "guest.c",
    level: "-O2",
    toolchain: CLANG,
    native: ofC("clang", "guest.c"),
    leaked: 44,
    held: HELD,
  },
  {
    source: "guest.cpp",
    level: "-O0",
    toolchain: CLANG,
    native: ofC("clang++", "guest.cpp"),
    leaked: 42,
  },
  {
    source: "guest.rs",
    level: "-O0",
    toolchain: rust("/usr/bin/rustc", "wasm32-wasi"),
    native: ofRust,
    leaked: 38,
  },
];

const IS_THOROUGH = process.env.TEST_NATIVE !== undefined;

describe("LeakSanitizer of this machine", () => {
  test.for(PROGRAMS_OF_ALL.filter(({ source }) => IS_THOROUGH || source === "guest.c"))(
    "$source $level: the same blocks by line",
    (program, context) => {
      const { source, level, toolchain, leaked, held } = program;
      const file = join(folder, `${source}${level}`);
      const wasm = `${file}.wasm`;
      const problem = compile(program.native(file, level)) ?? toolchain.make(source, level, wasm);
      if (problem !== undefined) return context.skip(problem);
      const env = { ...process.env, LSAN_OPTIONS: "fast_unwind_on_malloc=0" };
      const { stderr } = spawnSync(file, { encoding: "utf8", env });
      context.skip(/LeakSanitizer has encountered a fatal/.test(stderr), "it may not trace here");
      const leaks = leaksIn(stderr, source);
      const here = unreferencedIn(wasm);
      if (held !== undefined) {
        const line = lineOf(source, held);
        expect([here.get(line), leaks.get(line)]).toEqual([1, undefined]);
        here.delete(line);
      }
      expect(total(here)).toBe(leaked);
      // Old words on the stack of this machine may keep a few, here none.
      const found = differences(here, leaks);
      if (found.size > 0) console.log(`${source} ${level}: kept by old words:`, found);
      for (const [ours, theirs] of found.values()) {
        expect(ours).toBeGreaterThan(theirs);
        expect(ours - theirs).toBeLessThanOrEqual(2);
      }
    },
  );
});

/** Where the code section begins, from which debug information counts. */
function codeStart(wasm: Uint8Array): number {
  for (let at = 8; at < wasm.length; ) {
    let [size, shift, start] = [0, 0, at + 1];
    for (let byte = 0x80; byte >= 0x80; shift += 7) {
      byte = wasm[start++] as number;
      size += (byte & 0x7f) * 2 ** shift;
    }
    if (wasm[at] === 10) return start;
    at = start + size;
  }
  throw new Error("the module has no code");
}

/** The report of emscripten has offsets in the module. This adds the lines of the source. */
function withLines(report: string, wasm: string): string {
  const offsets = [...new Set(report.match(/(?<=\.wasm\+)0x[0-9a-f]+/g))];
  const start = codeStart(readFileSync(wasm));
  const addresses = offsets.map((offset) => `0x${(Number(offset) - start).toString(16)}`);
  const args = [`--obj=${wasm}`, "--functions=none", "--inlining=false", ...addresses];
  const { stdout, error } = spawnSync("llvm-symbolizer", args, { encoding: "utf8" });
  expect(error).toBeUndefined();
  const lines = stdout.split("\n").filter((line) => line !== "");
  return report.replace(
    /\.wasm\+(0x[0-9a-f]+)/g,
    (_, offset) => lines[offsets.indexOf(offset)] ?? "",
  );
}

describe.skipIf(!IS_THOROUGH)("LeakSanitizer of emscripten", () => {
  test.for([
    { source: "guest.c", compiler: "emcc", leaked: 44 },
    { source: "guest.cpp", compiler: "em++", leaked: 42 },
  ])("$source: the same blocks by line", ({ source, compiler, leaked }, context) => {
    const script = join(folder, `${source}.js`);
    const settings = ["-sWASM_ASYNC_COMPILATION=0", "-sINITIAL_MEMORY=67108864"];
    const flags = ["-g", "-O0", "-DLSAN", "-fsanitize=leak", ...settings];
    const wasm = join(folder, `emscripten-${source}.wasm`);
    const problem =
      compile([[compiler, ...flags, source, "-o", script]]) ??
      emscripten("dlmalloc").make(source, "-O0", wasm);
    if (problem !== undefined) return context.skip(problem);
    // The sanitizer takes its stacks from JavaScript, which keeps 10 frames.
    const args = ["--stack-trace-limit=100", script];
    const { stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    const here = unreferencedIn(wasm);
    expect(total(here)).toBe(leaked);
    const leaks = leaksIn(withLines(stderr, script.replace(/js$/, "wasm")), source);
    expect(differences(here, leaks)).toEqual(new Map());
  });
});
