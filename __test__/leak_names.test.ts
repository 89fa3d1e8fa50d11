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
v8.writeHeapSnapshot(path.join(process.argv[3],String(nth).padStart(2,'0')+'.heapsnapshot'));}process.exit();})();`;

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

/** What never stands where a leak is named. */
const OF_ENGINE = /system \/ Context|\(array\)|\(system\)|Module\.exports/;

describe.each(Object.entries(LEAKS))("the leak of %s", (name, { text, names, hint }) => {
  let first: Heap[];
  let second: Heap[];
  beforeAll(async () => {
    [first, second] = await Promise.all([heapsOf(name, text), heapsOf(name, text)]);
  }, 60_000);

  test("is the first growing place, with its file and variable", () => {
    const { places } = growth(first, { warmup: WARMUP });
    const place = places[0];
    for (const expected of names) expect(place?.path).toMatch(expected);
    if (hint !== undefined) expect(place?.hint).toMatch(hint);
    for (const { path } of places) expect(path).not.toMatch(OF_ENGINE);
    expect(places.length).toBeLessThanOrEqual(2);
  });

  test("has the same fingerprints in two runs", () => {
    const [one, two] = [first, second].map((heaps) =>
      growth(heaps, { warmup: WARMUP }).places.map(({ fingerprint }) => fingerprint),
    );
    expect(two).toEqual(one);
  });

  test("is the first suspect, without names of the engine", () => {
    const { suspects } = (first.at(-1) as Heap).suspects({ before: first[2] as Heap });
    expect(suspects[0]?.text).not.toMatch(OF_ENGINE);
    if (names[0]?.source.startsWith("^module")) {
      expect(suspects[0]?.text).toMatch(/^The variable \w+ of \S+ grows: /);
    }
  });
});

test("two lists that grow by as much each are two places", async () => {
  const text = `const open=[],closed=[];module.exports=()=>{for(let k=0;k<30;k++){open.push({k});closed.push({k});}};`;
  const { places } = growth(await heapsOf("two-lists", text), { warmup: WARMUP });
  const variables = places.map(({ path }) => path?.match(/->(\w+)/)?.[1]);
  expect(variables.sort()).toEqual(["closed", "open"]);
});

test.each(Object.entries(STEADY))("%s is steady", async (name, text) => {
  const answer = check(await heapsOf(name, text), { warmup: WARMUP });
  expect(answer.places.map(({ path, className }) => path ?? className)).toEqual([]);
});
