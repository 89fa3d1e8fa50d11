// WebAssembly modules of published npm packages: a module that can be profiled computes the same as without the profiler.

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const FOLDER = import.meta.dirname;
const PROGRAMS = join(FOLDER, "programs");

/** Why the modules of a program are refused. The other programs are profiled. */
const REFUSED: Record<string, RegExp> = {
  hashwasm: /found no function of an allocator/, // it has none
  lightning: /found Rust's dlmalloc without names, and function \d+, which works with its state/,
  lz4: /found no function of an allocator/, // wee_alloc
  meshopt: /found no function of an allocator/, // it only ever grows a stack
  sourcemap: /found Rust's dlmalloc without names, and function \d+, which works with its state/,
  webifc: /found dlmalloc without names, and function \d+, which works with its state/,
  yoga: /found emmalloc without names, and a copy of its function that allocates/,
};

function run(program: string, options: string[]) {
  const args = [...options, join(PROGRAMS, `${program}.mjs`)];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect(status, stderr).toBe(0);
  return { stdout, last: stderr.trimEnd().split("\n").at(-1) ?? "" };
}

const programs = readdirSync(PROGRAMS).map((file) => file.replace(/\.mjs$/, ""));

describe.skipIf(!existsSync(join(FOLDER, "node_modules")))("modules of npm packages", () => {
  test.each(programs)("%s", (program) => {
    const plain = run(program, []);
    const profiled = run(program, ["--require", join(FOLDER, "instrumented.cjs")]);
    expect(plain.stdout).not.toBe("");
    expect(profiled.stdout).toBe(plain.stdout);
    const { refused, objects } = JSON.parse(profiled.last) as {
      refused: { code: string; message: string }[];
      objects: number[];
    };
    const reason = REFUSED[program];
    if (reason === undefined) {
      expect(Math.max(...objects)).toBeGreaterThan(0);
    } else {
      expect(Math.max(0, ...objects)).toBe(0);
      expect(refused.map(({ message }) => message)).toContainEqual(expect.stringMatching(reason));
      expect(new Set(refused.map(({ code }) => code))).toEqual(new Set(["ERR_ALLOCATOR_MISSING"]));
    }
  });
});
