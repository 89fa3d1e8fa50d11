// Every line of source that is printed for C, Rust and Zig, against the source that was compiled: all offsets of the code of
// random programs, in the builds of each compiler. A frame that was inlined is judged like any other.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as native from "../dist/native.js";
import { PATH } from "./support/native_program.ts";

interface Extent {
  first: number;
  last: number;
}

/** What is different in a language: texts of a program. */
interface Language {
  file: string;
  /** Lines before the functions. */
  head: string[];
  /** The head of a function that the others can call. */
  open: (name: string) => string;
  /** A statement. `value` is an expression of the variables x and sum. */
  add: (value: string) => string;
  /** A statement that runs twice. */
  loop: (body: string) => string[];
  close: string[];
  /** The function that the host calls. */
  entry: (body: string[]) => string[];
}

const C: Language = {
  file: "program.c",
  head: ["volatile int total;"],
  open: (name) => `static int ${name}(int x) {`,
  add: (value) => `  sum += ${value};`,
  loop: (body) => ["  for (int i = 0; i < x; i++)", `  ${body}`],
  close: ["  total += sum;", "  return sum;", "}"],
  entry: (body) => ['__attribute__((export_name("run")))', "int run(int x) {", ...body],
};

const RUST: Language = {
  file: "program.rs",
  head: [
    "#![no_std]",
    "#[panic_handler] fn panic(_: &core::panic::PanicInfo) -> ! { loop {} }",
    "static TOTAL: core::sync::atomic::AtomicI32 = core::sync::atomic::AtomicI32::new(0);",
  ],
  open: (name) => `fn ${name}(x: i32) -> i32 {`,
  add: (value) => `  sum = sum.wrapping_add(${value});`,
  loop: (body) => ["  for _ in 0..x {", `  ${body}`, "  }"],
  close: ["  TOTAL.fetch_add(sum, core::sync::atomic::Ordering::SeqCst);", "  sum", "}"],
  entry: (body) => ["#[no_mangle]", 'pub extern "C" fn run(x: i32) -> i32 {', ...body],
};

const ZIG: Language = {
  file: "program.zig",
  head: ["var total: i32 = 0;"],
  open: (name) => `fn ${name}(x: i32) i32 {`,
  add: (value) => `  sum +%= ${value};`,
  loop: (body) => ["  var i: i32 = 0;", "  while (i < x) : (i += 1)", `  ${body}`],
  close: ["  @as(*volatile i32, &total).* +%= sum;", "  return sum;", "}"],
  entry: (body) => ["export fn run(x: i32) i32 {", ...body],
};

/** How a variable is declared. */
const DECLARED = new Map([
  [C, "  int sum = x;"],
  [RUST, "  let mut sum = x;"],
  [ZIG, "  var sum = x;"],
]);

/** A small generator of random numbers, for the same programs in every run. */
function randomNumbers(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >>> 8) % below;
  };
}

/** Functions that call earlier ones, and where each begins and ends. */
function randomProgram(language: Language, seed: number) {
  const random = randomNumbers(seed);
  const lines = [...language.head];
  const functions = new Map<string, Extent>();
  const call = (below: number, argument: string) => `f${random(below)}(${argument})`;
  for (let nth = 0; nth < 6 + random(6); nth++) {
    for (let left = random(3); left > 0; left--) lines.push(random(2) === 0 ? "" : "// A comment.");
    const first = lines.length + 1;
    lines.push(language.open(`f${nth}`), DECLARED.get(language) as string);
    for (let left = 1 + random(3); left > 0; left--) {
      const value = nth > 0 && random(2) === 0 ? call(nth, "x") : `x ^ ${random(99)}`;
      lines.push(language.add(value));
    }
    if (random(2) === 0)
      lines.push(...language.loop(language.add(nth > 0 ? call(nth, "sum") : "sum")));
    lines.push(...language.close);
    functions.set(`f${nth}`, { first, last: lines.length });
  }
  const first = lines.length + 1;
  const calls = [...functions.keys()].map((name) => language.add(`${name}(x)`));
  lines.push(...language.entry([DECLARED.get(language) as string, ...calls, ...language.close]));
  functions.set("run", { first, last: lines.length });
  return { source: `${lines.join("\n")}\n`, functions };
}

interface Build {
  language: Language;
  name: string;
  command: string[];
}

const builds = (language: Language, levels: string[], command: (level: string) => string[]) =>
  levels.map((level): Build => ({ language, name: level, command: command(level) }));

const CLANG = builds(C, ["-O0", "-O1", "-O2", "-O3", "-Os", "-Oz"], (level) => [
  ...["clang", "--target=wasm32", "-nostdlib", "-g", level, "-Wl,--no-entry"],
  ...["-o", "program.wasm", "program.c"],
]);
const RUSTC = builds(RUST, ["0", "1", "2", "3", "s", "z"], (level) => [
  ...["rustc", "--target=wasm32-unknown-unknown", "--crate-type=cdylib", "-g", "-Cpanic=abort"],
  ...[`-Copt-level=${level}`, "-o", "program.wasm", "program.rs"],
]);
const ZIG_LEVELS = ["Debug", "ReleaseSafe", "ReleaseFast", "ReleaseSmall"];
const ZIGLANG = builds(ZIG, ZIG_LEVELS, (level) => [
  ...["python3", "-m", "ziglang", "build-exe", "-target", "wasm32-freestanding", "-fno-entry"],
  ...["-rdynamic", "-fno-strip", "-O", level, "--cache-dir", "cache", "program.zig"],
]);

/** Whether a command runs at all. */
const runs = (program: string, ...args: string[]) =>
  spawnSync(program, args, { env: { ...process.env, PATH } }).status === 0;
const hasClang = runs("clang", "--target=wasm32", "-E", "-xc", "/dev/null");
const targets = spawnSync("rustc", ["--print", "target-libdir", "--target=wasm32-unknown-unknown"]);
const hasRust = targets.status === 0 && runs("ls", String(targets.stdout).trim());
const hasZig = runs("python3", "-m", "ziglang", "version");

/** Programs of each build. */
const PROGRAMS = process.env.TEST_FIGURES === "1" ? 8 : 2;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "native-lines-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const COMPILERS: [string, boolean, Build[]][] = [
  ["clang", hasClang, CLANG],
  ["rustc", hasRust, RUSTC],
  ["zig", hasZig, ZIGLANG],
];

describe.each(COMPILERS)("with %s", (compiler, isThere, all) => {
  test.skipIf(!isThere).each(all)("no line is outside of its function: $name", (build) => {
    const judged = { right: 0, none: 0, wrong: [] as string[] };
    for (let seed = 1; seed <= PROGRAMS; seed++) judge(build, seed, judged);
    if (process.env.TEST_FIGURES === "1") {
      console.log(compiler, build.name, { ...judged, wrong: judged.wrong.length });
    }
    expect(judged.wrong).toEqual([]);
    expect(judged.right).toBeGreaterThan(20);
  });
});

/** Asks for every byte of a module. */
function judge(
  { language, command }: Build,
  seed: number,
  judged: { right: number; none: number; wrong: string[] },
): void {
  const { source, functions } = randomProgram(language, seed);
  writeFileSync(join(folder, language.file), source);
  const [program = "", ...args] = command;
  const env = { ...process.env, PATH };
  const { status, stderr } = spawnSync(program, args, { cwd: folder, env, encoding: "utf8" });
  expect({ status, stderr }).toMatchObject({ status: 0 });
  const wasm = readFileSync(join(folder, "program.wasm"));
  const offsets = Array.from(wasm, (_, offset) => offset);
  const found = JSON.parse(native.symbolize(wasm, undefined, offsets)) as {
    function: string;
    file: string;
    line: number;
  }[][];
  for (const { function: name, file, line } of found.flat()) {
    const extent = functions.get(name.split(/::|\./).at(-1) ?? "");
    if (extent === undefined) continue;
    if (line === 0) judged.none++;
    else if (file.endsWith(language.file) && line >= extent.first && line <= extent.last)
      judged.right++;
    else
      judged.wrong.push(
        `${name} at ${file}:${line}, not ${extent.first}-${extent.last}, seed ${seed}`,
      );
  }
}
