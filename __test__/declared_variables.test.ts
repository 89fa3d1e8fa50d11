/**
 * Variables are compared with their declared classes. An object of a class that extends the
 * declared one, or implements it, is no contradiction; an object of another class is one.
 */
import { analyze } from "@warpo/heap-analyzer";
import { describe, expect, test } from "vitest";
import { build, type Evidence } from "./support/builds.ts";
import { run } from "./support/capture.ts";
import type { Compiler } from "./support/compile.ts";

const COMPILERS: Compiler[] = ["assemblyscript", "assemblyscript-0.27"];
const FLAGS = ["-O0", "-O3", "-Oz"];
/** Without sections, no types of variables are known. */
const WITH_TYPES: Evidence[] = ["sections and names", "sections"];
const INCONSISTENT =
  /^variables that refer to an object of another class than the declared one: 1, the first at 0x/;
const BUILDS = COMPILERS.flatMap((compiler) =>
  FLAGS.flatMap((flag) => WITH_TYPES.map((evidence) => [compiler, flag, evidence] as const)),
);
const LEFT = "base_variables/Left";
const RIGHT = "base_variables/Right";

/** A dump in which the objects of the first class have the id of the second. */
function withClassChanged(dump: Uint8Array, wasm: Uint8Array, ids: [number, number]): Uint8Array {
  const changed = dump.slice();
  const words = new DataView(changed.buffer);
  const memory = 24 + 4 * words.getUint32(20, true);
  const objects = analyze(dump, wasm).constructors.find(({ className }) => className === LEFT);
  expect(objects?.instances.length).toBe(1);
  for (const { address } of objects?.instances ?? []) {
    const place = memory + address - 8;
    expect(words.getUint32(place, true)).toBe(ids[0]);
    words.setUint32(place, ids[1], true);
  }
  return changed;
}

describe.each(BUILDS)("%s %s, %s", (compiler, flag, evidence) => {
  test("variables of a base, an interface or a generic class warn only if they refer to another class", async () => {
    const { program, wasm } = await build("base_variables", [flag], evidence, { compiler });
    const captures = await run(program);
    expect(captures.map(({ dump }) => analyze(dump, wasm).warnings)).toEqual(
      captures.map(() => []),
    );

    const idOf = (name: string) =>
      [...program.classNames].find(([, className]) => className === name)?.[0] ?? -1;
    const ids: [number, number] = [idOf(LEFT), idOf(RIGHT)];
    for (const { dump } of captures) {
      const { warnings } = analyze(withClassChanged(dump, wasm, ids), wasm);
      // Without names, it is not known which global is the variable.
      const expected = evidence === "sections" ? [] : [expect.stringMatching(INCONSISTENT)];
      expect(warnings.map(({ message }) => message)).toEqual(expected);
      expect(warnings.every(({ code }) => code === "WARN_HEAP_INCONSISTENT")).toBe(true);
    }
  });
});
