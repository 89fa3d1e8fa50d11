// Waste of real programs: every kind, with the sizes that the runtime really takes.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { captureDump, exposeGlobals } from "../dist/capture.js";
import { openHeap, openHeapFile } from "../dist/index.js";
import type { WasteAnswer, WasteKind } from "../index.js";
import { type Compiler, runCompiler } from "./support/compile.ts";

interface Exports extends WebAssembly.Exports {
  start(): void;
  __collect(): void;
}

interface Build {
  flags: string[];
  transform: boolean;
  compiler?: Compiler;
}

/** Compiles the program, runs it and takes a dump. */
async function run({ flags, transform, compiler = "assemblyscript" }: Build) {
  const { wasm } = await runCompiler(["waste.ts", ...flags], {
    baseDir: join(__dirname, "programs"),
    transform,
    compiler,
  });
  const module = await WebAssembly.compile(exposeGlobals(wasm));
  const { exports } = await WebAssembly.instantiate(module, { env: { abort() {} } });
  (exports as Exports).start();
  (exports as Exports).__collect();
  return { dump: captureDump(exports), wasm };
}

async function waste(build: Build): Promise<WasteAnswer> {
  const { dump, wasm } = await run(build);
  const heap = openHeap(dump, wasm);
  const answer = heap.waste({ limit: 1000 });
  heap.close();
  return answer;
}

function kindOf(answer: WasteAnswer, name: WasteKind["kind"]): WasteKind {
  const kind = answer.kinds.find(({ kind }) => kind === name);
  if (kind === undefined) throw new Error(`there is no kind ${name}`);
  return kind;
}

/** What each holder of a kind could save. */
function savingsByHolder(kind: WasteKind): Record<string, number> {
  const holders = kind.groups.flatMap(({ holders }) => holders);
  return Object.fromEntries(holders.map(({ holder, savings }) => [holder, savings]));
}

describe.each<Compiler>(["assemblyscript", "assemblyscript-0.27"])(
  "a program of %s",
  (compiler) => {
    let answer: WasteAnswer;

    beforeAll(async () => {
      answer = await waste({ flags: ["--debug"], transform: true, compiler });
    });

    test("wastes all blocks of its empty containers", () => {
      expect(savingsByHolder(kindOf(answer, "empty-containers"))).toEqual({
        "waste/Containers.map": 176,
        "waste/Containers.set": 160,
        "waste/Containers.array": 112,
        "waste/Containers.bytes": 64,
        "waste/Containers.cleared": 4_194_384,
      });
    });

    test("wastes equal strings, of which a literal or the first stays", () => {
      const kind = kindOf(answer, "duplicate-strings");
      const groups = kind.groups.map(({ what, count, savings }) => [what, count, savings]);
      expect(groups).toEqual([
        ['"name 0"', 2, 64],
        ['"name 1"', 2, 64],
        ['"mi1"', 1, 32],
      ]);
      expect(Object.keys(savingsByHolder(kind))).toEqual(["waste/Copies.names[*]"]);
    });

    test("wastes equal buffers and static arrays, but not the equal buffers of arrays", () => {
      expect(savingsByHolder(kindOf(answer, "duplicate-buffers"))).toEqual({
        "waste/Copies.second": 1024,
        "waste/Copies.static2": 64,
      });
    });

    test("wastes a buffer of which a view uses less than an eighth", () => {
      expect(savingsByHolder(kindOf(answer, "views"))).toEqual({ "waste/Room.part": 4128 - 128 });
    });

    test("wastes the unused capacity of an array", () => {
      const holders = savingsByHolder(kindOf(answer, "array-capacity"));
      // The names have a buffer for eight.
      expect(holders).toEqual({ "waste/Room.array": 832 - 112, "waste/Copies.names": 64 - 48 });
    });

    test("wastes the entries of a map that were never used or are deleted", () => {
      // Ten of 21 entries were used, one of these was deleted.
      expect(savingsByHolder(kindOf(answer, "entries"))).toEqual({ "waste/Room.map": 12 * 24 });
    });

    test("wastes no byte twice", () => {
      const sum = answer.kinds.reduce((sum, { savings }) => sum + savings, 0);
      expect(answer.totalSavings).toBe(sum);
      expect(sum + (answer.headers?.size as number)).toBeLessThan(answer.totalLiveSize + 20 * 100);
    });
  },
);

test("a program without debug information and names has the same savings by kind", async () => {
  const named = await waste({ flags: ["--debug"], transform: true });
  const nameless = await waste({ flags: [], transform: false });
  const savings = (answer: WasteAnswer) =>
    answer.kinds.map(({ kind, count, savings }) => [kind, count, savings]);
  expect(savings(nameless)).toEqual(savings(named));
  expect(nameless.warnings.map(({ code }) => code)).toContain("WARN_NAMES_MISSING");
});

test("the report of a file is that of its bytes, and off the event loop the same", async () => {
  const { dump, wasm } = await run({ flags: ["--debug"], transform: true });
  const folder = mkdtempSync(join(tmpdir(), "heap-analyzer-waste-"));
  const paths = [join(folder, "waste.dump"), join(folder, "waste.wasm")] as const;
  writeFileSync(paths[0], dump);
  writeFileSync(paths[1], wasm);
  const ofBytes = openHeap(dump, wasm);
  const ofFile = openHeapFile(...paths);
  const answer = JSON.stringify(ofBytes.waste());
  expect(JSON.stringify(ofFile.waste())).toBe(answer);
  expect(JSON.stringify(await ofFile.wasteAsync())).toBe(answer);
  for (const heap of [ofBytes, ofFile]) heap.close();
  rmSync(folder, { recursive: true });
});
