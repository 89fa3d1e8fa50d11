/**
 * LeakSanitizer, which scans the memory of the same program compiled for this machine, against the unreferenced blocks of a
 * dump, by the line that allocated them.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openHeap } from "../dist/index.js";
import { CLANG, compile, NATIVE_PROGRAMS, runGuest } from "./support/native_guest.ts";

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

/** The first report of LeakSanitizer: the program asks for it where it asks for a dump otherwise. */
function leaksIn(report: string, source: string): ByLine {
  const counts: ByLine = new Map();
  const [first = ""] = report.split("SUMMARY:", 1);
  const place = new RegExp(`${source.replace(".", "\\.")}:(\\d+)`);
  for (const leak of first.split(/^(?=(?:Direct|Indirect) leak of )/m).slice(1)) {
    const [, count] = /in (\d+) object/.exec(leak) ?? [];
    const [, line] = place.exec(leak) ?? [];
    add(counts, Number(line), Number(count));
  }
  return counts;
}

/** The unreferenced blocks of a dump. */
function unreferencedIn(wasm: string): ByLine {
  const guest = runGuest(wasm);
  const heap = openHeap(guest.dump, guest.wasm);
  const counts: ByLine = new Map();
  for (const block of guest.live.keys()) {
    if (heap.paths(block).path?.root.kind === "unreferenced") {
      add(counts, guest.lines.get(block) ?? 0, 1);
    }
  }
  heap.close();
  return counts;
}

/** The line of the program with this text. */
function lineOf(part: string): number {
  const lines = readFileSync(join(NATIVE_PROGRAMS, "guest.c"), "utf8").split("\n");
  return 1 + lines.findIndex((line) => line.includes(part));
}

test.for(["-O0", "-O2"])("guest.c %s: the same blocks by line", (level, context) => {
  const [program, wasm] = [join(folder, `guest${level}`), join(folder, `guest${level}.wasm`)];
  const command = ["clang", "-g", level, "-fsanitize=leak", "guest.c", "-o", program];
  const problem =
    compile([command]) ?? CLANG.make("guest.c", level, wasm, ["-include", "lines.h"]);
  if (problem !== undefined) return context.skip(problem);
  const { stderr } = spawnSync(program, { encoding: "utf8" });
  context.skip(/LeakSanitizer has encountered a fatal error/.test(stderr), "it may not trace here");
  const leaks = leaksIn(stderr, "guest.c");
  const unreferenced = unreferencedIn(wasm);
  // What only a local variable holds: LeakSanitizer also looks into registers.
  const held = lineOf("int *in_register");
  if (level === "-O2") {
    expect(unreferenced.get(held)).toBe(1);
    unreferenced.delete(held);
  }
  expect(unreferenced.get(lineOf("// site: leak"))).toBe(20);
  for (const [line, count] of unreferenced) {
    // Old words on the stack of this machine may keep a few.
    expect(leaks.get(line) ?? 0, `line ${line}`).toBeLessThanOrEqual(count);
    expect(leaks.get(line) ?? 0, `line ${line}`).toBeGreaterThanOrEqual(count - 2);
  }
  expect([...leaks.keys()].filter((line) => !unreferenced.has(line))).toEqual([]);
});
