/**
 * Builds of every kind, with complete names and debug information, and with less. The
 * judge is the runtime's collector: the live set must be exact for every build.
 */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Accounting, analyze, type ConstructorView } from "@warpo/heap-analyzer";
import { describe, expect, test } from "vitest";
import { type Build, build, EVIDENCE, type Evidence } from "./support/builds.ts";
import { type Capture, run } from "./support/capture.ts";
import { type CompiledProgram, type Compiler, runCompiler } from "./support/compile.ts";
import { someOf } from "./support/nightly.ts";
import { withoutNames } from "./support/wasm_module.ts";

interface Run extends Build {
  captures: Capture[];
}

/** A program runs once per build; all tests about it use the same dumps. */
const runs = new Map<string, Promise<Run>>();

function runOf(
  name: string,
  flags: string[],
  evidence: Evidence,
  compiler: Compiler = "assemblyscript",
): Promise<Run> {
  const key = [name, evidence, compiler, ...flags].join(" ");
  const start = async () => {
    const made = await build(name, flags, evidence, { compiler });
    return { ...made, captures: await run(made.program) };
  };
  const found = runs.get(key) ?? start();
  runs.set(key, found);
  return found;
}

/** `address bytes` of everything that is listed. */
function listed(view: ConstructorView): string[] {
  return view.constructors
    .flatMap(({ instances }) =>
      instances.map(({ address, shallowSize }) => `${address} ${shallowSize}`),
    )
    .sort();
}

function truth({ truth }: Capture): string[] {
  return [...truth].map(([address, { blockBytes }]) => `${address} ${blockBytes}`).sort();
}

/** Names that a build gives and the compiler does not. */
function wrongNames(view: ConstructorView, { truth }: Capture, program: CompiledProgram) {
  return view.constructors.flatMap(({ className, instances }) =>
    instances.flatMap(({ address }) => {
      const rtId = truth.get(address)?.rtId ?? -1;
      const right = program.classNames.get(rtId);
      return className === right || className === `Class#${rtId}` ? [] : [`${className}: ${right}`];
    }),
  );
}

/** Compares the live set of each dump with the objects after the next collection. */
async function judge(name: string, flags: string[], evidence: Evidence, compiler?: Compiler) {
  const { program, wasm, captures } = await runOf(name, flags, evidence, compiler);
  for (let at = 0; at + 1 < captures.length; at += 2) {
    const [before, after] = captures.slice(at, at + 2) as [Capture, Capture];
    const view = analyze(before.dump, wasm);
    expect({ dump: before.id, live: listed(view) }).toEqual({
      dump: before.id,
      live: truth(after),
    });
    expect(wrongNames(view, before, program)).toEqual([]);
    const { live, garbage, raw, free, overhead, gaps, unread } = view.accounting as Accounting;
    const parts = [live.global, live.stack, live.pinned, garbage, raw, free.bytes, overhead, gaps];
    expect(parts.reduce((sum, part) => sum + part, unread)).toBe(view.totalHeapSize);
  }
}

const PROGRAMS = ["maps", "roots", "subclasses", "interfaces_generics"];
const LEVELS = ["-O0", "-O1", "-O3", "-Oz"];

/** All programs every night; of each change one, another for each level and each evidence. */
function programsOf([level = "-O0"]: string[], evidence: Evidence): string[] {
  return someOf(PROGRAMS, PROGRAMS.length, LEVELS.indexOf(level) + EVIDENCE.indexOf(evidence));
}

describe.each([
  { build: "-O0", flags: [] },
  { build: "-O1", flags: ["-O1"] },
  { build: "-O3", flags: ["-O3"] },
  { build: "-Oz", flags: ["-Oz"] },
])("asc $build", ({ flags }) => {
  describe.each(EVIDENCE.map((evidence) => ({ evidence })))(
    "evidence: $evidence",
    ({ evidence }) => {
      test.each(programsOf(flags, evidence))(
        "%s: the objects that a collection keeps are live, and no name is wrong",
        (name) => judge(name, flags, evidence),
      );
    },
  );
});

describe.each([
  { build: "-O0", flags: [] },
  { build: "-O3", flags: ["-O3"] },
])("asc 0.27 $build", ({ flags }) => {
  test.each(
    EVIDENCE.flatMap((evidence) =>
      programsOf(flags, evidence).map((name) => [name, evidence] as const),
    ),
  )("%s, evidence: %s: what a collection leaves is live, and no name is wrong", (name, evidence) =>
    judge(name, flags, evidence, "assemblyscript-0.27"),
  );
});

const OPTIONS: [string, string, string[]][] = [
  ["imported memory", "mid_cycle", ["--importMemory"]],
  ["imported globals", "imported_globals", ["-O3"]],
  ["a start function that the host calls", "roots", ["--exportStart", "_start"]],
  ["a small stack", "roots", ["--stackSize", "2048"]],
  ["a program optimised until nothing changes", "arrays", ["-O3", "--converge"]],
  ["static memory that begins elsewhere", "static_arrays", ["--memoryBase", "4096"]],
  ["no assertions", "functions", ["-O3", "--noAssert"]],
  ["rings of raw blocks", "raw_ring", ["-Oz"]],
];

describe.each(EVIDENCE.map((evidence) => ({ evidence })))("evidence: $evidence", ({ evidence }) => {
  test.each(someOf(OPTIONS, EVIDENCE.length, EVIDENCE.indexOf(evidence)))(
    "%s: what a collection of %s leaves is live",
    (_, name, flags) => judge(name, flags, evidence),
  );
});

test.each(someOf(PROGRAMS, 2))(
  "%s: --debug names alone give every class the compiler's name",
  async (name) => {
    const { program, captures } = await runOf(name, [], "names");
    for (const { dump, truth } of captures) {
      for (const { className, instances } of analyze(dump, program.wasm).constructors)
        for (const { address } of instances)
          expect(className).toBe(program.classNames.get(truth.get(address)?.rtId ?? -1));
    }
  },
);

describe.each(someOf([["-O3"], ["-O0"]], 2))("fields of unmanaged classes, asc %s", (flag) => {
  test.each<[Evidence]>([["sections and names"], ["sections"]])(
    "evidence: %s: they are no references, and the collector's code does not dispute it",
    async (evidence) => {
      await judge("unmanaged", [flag], evidence);
      const { wasm, captures } = await runOf("unmanaged", [flag], evidence);
      const warnings = captures.flatMap(({ dump }) => analyze(dump, wasm).warnings);
      expect(warnings).toEqual([]);
    },
  );
});

test("a build without names and sections has warnings about it", async () => {
  const { wasm, captures } = await runOf("maps", ["-O3"], "nothing");
  const view = analyze(captures[0]?.dump as Uint8Array, wasm);
  expect(view.warnings.map(({ code }) => code)).toEqual(["WARN_NAMES_MISSING"]);
});

describe("a module without names is the same as a build without --debug", () => {
  const folder = fileURLToPath(new URL("programs/judged/", import.meta.url));
  const sources = {
    "roots.ts": readFileSync(`${folder}roots.ts`, "utf8"),
    "support/host.ts": readFileSync(`${folder}support/host.ts`, "utf8"),
  };

  describe.each(someOf([[["-O3"]], [["-Oz"]], [[]]], 3))("asc %j", (flags: string[]) => {
    test.each([
      { how: "with the transform", transform: true },
      { how: "without the transform", transform: false },
    ])("$how", async ({ transform }) => {
      const compileRoots = (...more: string[]) =>
        runCompiler(["roots.ts", ...flags, ...more], { sources, transform });
      const named = await compileRoots("--debug");
      const nameless = await compileRoots();
      expect(Buffer.compare(withoutNames(named.wasm), nameless.wasm)).toBe(0);
    });
  });
});
