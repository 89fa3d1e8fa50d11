// Every line of source that is printed for AssemblyScript, against the positions of the program that was compiled: all offsets
// of the code of random programs, in all builds.

import { beforeAll, describe, expect, test } from "vitest";
import { captureDump, exposeGlobals } from "../dist/capture.js";
import * as native from "../dist/native.js";
import { runCompiler } from "./support/compile.ts";

interface Extent {
  first: number;
  last: number;
}

interface RandomProgram {
  source: string;
  /** By name of a function: its lines. Of a constructor, those of its class, whose fields it initialises. */
  functions: Map<string, Extent>;
}

/** A small generator of random numbers, for the same programs in every run. */
function randomNumbers(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >>> 8) % below;
  };
}

/** Classes whose constructors have default arguments of other classes, fields with values, methods and functions. */
function randomProgram(seed: number): RandomProgram {
  const random = randomNumbers(seed);
  const lines: string[] = [];
  const functions = new Map<string, Extent>();
  const count = 3 + random(5);
  const classes: string[] = [];
  const line = (text: string) => lines.push(text);
  const blank = () => {
    for (let left = random(3); left > 0; left--) line(random(2) === 0 ? "" : "// A comment.");
  };
  for (let nth = 0; nth < count; nth++) {
    blank();
    const name = `Class${nth}`;
    const other = classes[random(Math.max(classes.length, 1))];
    const first = lines.length + 1;
    line(`class ${name} {`);
    for (let field = random(3); field > 0; field--) line(`  f${field}: i32 = ${random(100)};`);
    if (other !== undefined && random(2) === 0) line(`  held: ${other} = new ${other}();`);
    if (random(3) > 0) {
      const parameter = other === undefined ? "n: i32 = 7" : `other: ${other} = new ${other}()`;
      line(`  constructor(public size: i32 = ${random(9)}, ${parameter}) {`);
      line(other === undefined ? "    this.size += n;" : "    kept.push(other);");
      line("    total += this.size;");
      line("  }");
    } else {
      line("  size: i32 = 3;");
    }
    const method = lines.length + 1;
    line("  grow(by: i32): i32 {");
    line("    this.size += by;");
    if (other !== undefined) line(`    kept.push(new ${other}());`);
    line("    return this.size;");
    line("  }");
    functions.set(`program/${name}#grow`, { first: method, last: lines.length });
    line("}");
    functions.set(`program/${name}#constructor`, { first, last: lines.length });
    classes.push(name);
  }
  line("const kept: Object[] = [];");
  line("let total: i32 = 0;");
  for (const name of classes) {
    blank();
    const first = lines.length + 1;
    line(`export function make${name}(): void {`);
    line(`  const made = new ${name}();`);
    line(`  kept.push(made);`);
    line(`  total += made.grow(${random(5)});`);
    line("}");
    functions.set(`program/make${name}`, { first, last: lines.length });
  }
  return { source: lines.join("\n"), functions };
}

const BUILDS: [string, string[], boolean][] = [
  ["debug", ["--debug"], false],
  ["debug with the transform", ["--debug"], true],
  ["-O1", ["-O1", "--debug"], false],
  ["-O2", ["-O2", "--debug"], false],
  ["-O3 --converge", ["-O3", "--converge", "--debug"], false],
  ["-Oz with the transform", ["-Oz", "--debug"], true],
];

/** Programs of each build. */
const PROGRAMS = process.env.TEST_FIGURES === "1" ? 20 : 2;

interface Judged {
  right: number;
  none: number;
  wrong: string[];
}

describe.each(BUILDS)("in the build %s", (build, flags, hasTransform) => {
  const frames: Judged = { right: 0, none: 0, wrong: [] };
  const classes: Judged = { right: 0, none: 0, wrong: [] };

  beforeAll(async () => {
    for (let seed = 1; seed <= PROGRAMS; seed++) {
      const { source, functions } = randomProgram(seed);
      const options = ["program.ts", ...flags, "--sourceMap"];
      const { wasm, sourceMap } = await runCompiler(options, {
        sources: { "program.ts": source },
        transform: hasTransform,
      });
      judgeFrames(wasm, sourceMap as string, functions, frames);
      await judgeClasses(wasm, sourceMap as string, functions, classes);
    }
    if (process.env.TEST_FIGURES === "1") {
      for (const [what, { right, none, wrong }] of Object.entries({ frames, classes })) {
        console.log(`${build}, ${what}:`, { right, none, wrong: wrong.length });
      }
    }
  });

  test("no frame has a line outside of its function", () => {
    expect(frames.wrong).toEqual([]);
    expect(frames.right).toBeGreaterThan(0);
  });

  test("no class has a line of another one", () => {
    expect(classes.wrong).toEqual([]);
  });
});

function judge(
  judged: Judged,
  name: string,
  extent: Extent,
  place: { file: string; line: number },
) {
  if (place.line === 0) judged.none++;
  else if (
    place.file.endsWith("program.ts") &&
    place.line >= extent.first &&
    place.line <= extent.last
  )
    judged.right++;
  else
    judged.wrong.push(`${name} at ${place.file}:${place.line}, not ${extent.first}-${extent.last}`);
}

/** Asks for every byte of the file. */
function judgeFrames(
  wasm: Uint8Array,
  map: string,
  functions: Map<string, Extent>,
  judged: Judged,
): void {
  const offsets = Array.from({ length: wasm.length }, (_, offset) => offset);
  const found = JSON.parse(native.symbolize(wasm, map, offsets)) as {
    function: string;
    file: string;
    line: number;
  }[][];
  for (const frame of found.flat()) {
    const extent = functions.get(frame.function);
    if (extent !== undefined) judge(judged, frame.function, extent, frame);
  }
}

/** Asks for the line of every class that has objects. */
async function judgeClasses(
  wasm: Uint8Array,
  map: string,
  functions: Map<string, Extent>,
  judged: Judged,
): Promise<void> {
  const module = await WebAssembly.compile(exposeGlobals(wasm) as BufferSource);
  const instance = await WebAssembly.instantiate(module, { env: { abort() {} } });
  for (const [name, run] of Object.entries(instance.exports)) {
    if (name.startsWith("make")) (run as () => void)();
  }
  const heap = native.openHeap(captureDump(instance.exports), wasm, {});
  const table = heap.placeTable().withSourceMap(wasm, map);
  const lines = JSON.parse(table.classLines()) as {
    className: string;
    file: string;
    line: number;
  }[];
  heap.close();
  for (const [name, extent] of functions) {
    const className = /^(.*)#constructor$/.exec(name)?.[1];
    if (className === undefined) continue;
    const line = lines.find((one) => one.className === className);
    judge(judged, className, extent, line ?? { file: "", line: 0 });
  }
}
