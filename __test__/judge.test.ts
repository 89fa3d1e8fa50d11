/**
 * The judge: the runtime's own collector. What it leaves after a dump is what the dump should have
 * held live; what vanishes when the only reference to an object is cut is what the object retained.
 */

import { analyze, type ConstructorView, type Instance } from "@warpo/heap-analyzer";
import { describe, expect, test } from "vitest";
import { type Capture, collectorGlobal, run } from "./support/capture.ts";
import {
  type CompiledProgram,
  compile,
  OPTIMISED,
  programNames,
  UNOPTIMISED,
} from "./support/compile.ts";
import { someOf } from "./support/nightly.ts";

interface Round {
  program: CompiledProgram;
  before: Capture;
  after: Capture;
}

const BUILDS = [
  { build: "unoptimised", flags: UNOPTIMISED },
  { build: "optimised", flags: OPTIMISED },
];

/** A program runs once; all tests about it use the same dumps. */
const runs = new Map<string, Promise<Round[]>>();

function rounds(name: string, flags: string[]): Promise<Round[]> {
  const key = `${name} ${flags.join(" ")}`;
  const result = runs.get(key) ?? runRounds(name, flags);
  runs.set(key, result);
  return result;
}

async function runRounds(name: string, flags: string[]): Promise<Round[]> {
  const program = await compile(name, flags);
  const captures = await run(program);
  const found = [];
  for (let at = 0; at + 1 < captures.length; at += 2) {
    const [before, after] = captures.slice(at, at + 2);
    if (before?.id !== 2 * (at / 2) || after?.id !== before.id + 1)
      throw new Error(`${name}: dump ${at} is out of order`);
    found.push({ program, before, after });
  }
  if (found.length === 0) throw new Error(`${name} asks for no dump`);
  return found;
}

interface ListedObject extends Instance {
  className: string;
}

function listed(view: ConstructorView): Map<number, ListedObject> {
  const objects = new Map<number, ListedObject>();
  for (const { className, instances } of view.constructors) {
    for (const instance of instances) objects.set(instance.address, { ...instance, className });
  }
  return objects;
}

/** The expected result for a dump: address, block size and class of all objects that the collector kept. */
function expected({ program, after }: Round): string[] {
  return [...after.truth]
    .map(
      ([address, { rtId, blockBytes }]) =>
        `${address} ${blockBytes} ${program.classNames.get(rtId)}`,
    )
    .sort();
}

function found({ program, before }: Round): string[] {
  const objects = listed(analyze(before.dump, program.wasm));
  return [...objects.values()]
    .map(({ address, shallowSize, className }) => `${address} ${shallowSize} ${className}`)
    .sort();
}

/** The first few differences, instead of two lists of thousands. */
function differences(
  found: string[],
  expected: string[],
): { missing: string[]; tooMuch: string[] } {
  const [have, want] = [new Set(found), new Set(expected)];
  return {
    missing: expected.filter((line) => !have.has(line)).slice(0, 10),
    tooMuch: found.filter((line) => !want.has(line)).slice(0, 10),
  };
}

const NOTHING = { missing: [], tooMuch: [] };

const judged = programNames.filter((name) => name !== "deletion");

describe.each(someOf(BUILDS, 2, 1))("$build", ({ flags }) => {
  test.each(judged)(
    "%s: exactly what a collection leaves is listed, with the compiler's class names",
    async (name) => {
      for (const round of await rounds(name, flags)) {
        expect({ dump: round.before.id, ...differences(found(round), expected(round)) }).toEqual({
          dump: round.before.id,
          ...NOTHING,
        });
      }
    },
  );

  test.each(judged)(
    "%s: a collected heap is listed whole, and its size is the collector's total",
    async (name) => {
      for (const { program, after } of await rounds(name, flags)) {
        const view = analyze(after.dump, program.wasm);
        const round = { program, before: after, after };
        expect({ dump: after.id, ...differences(found(round), expected(round)) }).toEqual({
          dump: after.id,
          ...NOTHING,
        });
        expect(view.totalLiveSize).toBe(collectorGlobal(after, "total"));
      }
    },
  );

  test.each(judged)("%s: nothing is in doubt", async (name) => {
    for (const { program, before } of await rounds(name, flags)) {
      expect(analyze(before.dump, program.wasm).warnings).toEqual([]);
    }
  });

  test("an object retained the objects that a collection frees without the only reference to it", async () => {
    for (const { program, before, after } of await rounds("deletion", flags)) {
      const view = listed(analyze(before.dump, program.wasm));
      const vanished = collectorGlobal(before, "total") - collectorGlobal(after, "total");
      expect({ dump: before.id, retained: view.get(before.victim ?? 0)?.retainedSize }).toEqual({
        dump: before.id,
        retained: vanished,
      });
      expect(vanished).toBeGreaterThan(0);
    }
  });
});
