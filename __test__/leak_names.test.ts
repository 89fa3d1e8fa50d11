// Leaks of JavaScript are named by file and variable, in each run the same; steady programs do not alarm.

import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { check, growth, openHeapFileAsync } from "../dist/index.js";
import type { Heap } from "../index.js";
import { LEAKS, STEADY } from "./snapshots/leak_programs.ts";

const ROUNDS = 10;
const WARMUP = 2;

const RUNNER = `const round=require(process.argv[2]);const v8=require('v8'),path=require('path');
(async()=>{for(let nth=1;nth<=${ROUNDS};nth++){await round();await new Promise(r=>setTimeout(r,5));gc();
await new Promise(r=>setTimeout(r,5));gc();
v8.writeHeapSnapshot(path.join(process.argv[3],String(nth).padStart(2,'0')+'.heapsnapshot'));}})();`;

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "heap-analyzer-leak-names-"));
  writeFileSync(join(folder, "run.cjs"), RUNNER);
});

afterAll(() => rmSync(folder, { recursive: true }));

/** The heaps of a program after each round. */
async function heapsOf(name: string, text: string): Promise<Heap[]> {
  const program = join(folder, `${name}.cjs`);
  writeFileSync(program, text);
  const out = mkdtempSync(join(folder, "out-"));
  await promisify(execFile)(process.execPath, [
    "--expose-gc",
    join(folder, "run.cjs"),
    program,
    out,
  ]);
  const heaps: Heap[] = [];
  for (const file of readdirSync(out).sort()) heaps.push(await openHeapFileAsync(join(out, file)));
  rmSync(out, { recursive: true });
  return heaps;
}

describe.each(Object.entries(LEAKS))("the leak of %s", (name, { text, names }) => {
  test("is named first by its file and variable, and by the same fingerprint in two runs", async () => {
    const first = growth(await heapsOf(name, text), { warmup: WARMUP }).places[0];
    for (const expected of names) expect(first?.path).toMatch(expected);
    expect(first?.path).not.toMatch(/system \/ Context|\(array\)|\(system\)/);
    const second = growth(await heapsOf(name, text), { warmup: WARMUP }).places[0];
    expect(second?.fingerprint).toBe(first?.fingerprint);
  });
});

test.each(Object.entries(STEADY))("%s is steady", async (name, text) => {
  const answer = check(await heapsOf(name, text), { warmup: WARMUP });
  expect(answer.places.map(({ path, className }) => path ?? className)).toEqual([]);
});
