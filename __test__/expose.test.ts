// A module that is exposed when it is built: by the command line, by the transform.

import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { shiftMappings } from "../dist/asc_transform/source_map.mjs";
import { exposeGlobals } from "../dist/capture.js";
import { CLI, failureOf, outputOf, runIn } from "./support/command_line.ts";
import { type CompilerRun, runCompiler } from "./support/compile.ts";

const SOURCE = `
  class Node { next: Node | null = null; }
  let head: Node | null = null;
  export function push(): void { const node = new Node(); node.next = head; head = node; }
`;

/** The file of the transform that exposes globals. */
const EXPOSE = join(__dirname, "../dist/asc_transform/expose.mjs");

const sources = { "entry.ts": SOURCE };
const compile = (...flags: string[]) =>
  runCompiler(["entry.ts", ...flags], { sources, transform: true });
const compileExposed = (...flags: string[]) =>
  runCompiler(["entry.ts", ...flags, "--transform", EXPOSE], { sources });

let folder: string;
let wasm: Uint8Array<ArrayBuffer>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "heap-analyzer-expose-"));
  wasm = new Uint8Array((await compile("--debug")).wasm);
  writeFileSync(join(folder, "in.wasm"), wasm);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const sameBytes = (one: Uint8Array, other: Uint8Array) => Buffer.compare(one, other) === 0;

const expose = (...args: string[]) => runIn(folder, ["expose", ...args]);

describe("the command expose", () => {
  test("writes what exposeGlobals returns", () => {
    expect(outputOf(expose("in.wasm", "--output", "out.wasm"))).toBe("");
    expect(sameBytes(exposeGlobals(wasm), readFileSync(join(folder, "out.wasm")))).toBe(true);
  });

  test("may replace the module that it reads", () => {
    copyFileSync(join(folder, "in.wasm"), join(folder, "same.wasm"));
    expect(outputOf(expose("same.wasm", "--output", "same.wasm"))).toBe("");
    expect(sameBytes(exposeGlobals(wasm), readFileSync(join(folder, "same.wasm")))).toBe(true);
  });

  test("reads standard input for -", () => {
    const { status, stderr } = spawnSync(
      process.execPath,
      [CLI, "expose", "-", "-o", "piped.wasm"],
      {
        cwd: folder,
        input: wasm,
        encoding: "utf8",
      },
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(sameBytes(exposeGlobals(wasm), readFileSync(join(folder, "piped.wasm")))).toBe(true);
  });

  test("names the module that is missing", () => {
    const message = failureOf(expose("none.wasm", "--output", "out.wasm"));
    expect(message).toMatch(/^error: cannot read the module none\.wasm: ENOENT/);
  });

  test("names the module that cannot be exposed, and writes nothing", () => {
    writeFileSync(join(folder, "text.wasm"), "(module)");
    const message = failureOf(expose("text.wasm", "--output", "text-out.wasm"));
    expect(message).toMatch(/^error: cannot expose the globals of text\.wasm: /);
    expect(() => readFileSync(join(folder, "text-out.wasm"))).toThrow("ENOENT");
  });

  test("asks for the option --output", () => {
    expect(failureOf(expose("in.wasm"))).toContain("--output");
  });

  test("has the golden help", async () => {
    await expect(outputOf(expose("--help"))).toMatchFileSnapshot("golden/expose-help.txt");
  });
});

describe("the transform expose", () => {
  test.each([["--debug"], ["-O3", "--debug"], ["-Oz", "--converge", "--debug"]])(
    "exposes the module that the compiler writes with %s %s %s",
    async (...flags) => {
      const plain = await compile(...flags);
      const exposed = await compileExposed(...flags);
      expect(sameBytes(exposeGlobals(plain.wasm), exposed.wasm)).toBe(true);
    },
  );

  test("moves the source map by as much as the code", async () => {
    const withMap = async (compiled: Promise<CompilerRun>) => {
      const { wasm, sourceMap } = await compiled;
      return { size: wasm.length, columns: columnsOf(JSON.parse(sourceMap ?? "").mappings) };
    };
    const plain = await withMap(compile("--debug", "--sourceMap"));
    const exposed = await withMap(compileExposed("--debug", "--sourceMap"));
    const distance = exposed.size - plain.size;
    expect(distance).toBeGreaterThan(0);
    expect(exposed.columns).toEqual(plain.columns.map((column) => column + distance));
  });
});

/** The columns of all mappings of a map of one line. */
function columnsOf(mappings: string): number[] {
  let column = 0;
  return mappings.split(",").map((mapping) => {
    column += firstNumber(mapping);
    return column;
  });
}

/** The first number of a mapping, by the definition of base64 VLQ. */
function firstNumber(mapping: string): number {
  let value = 0;
  for (let nth = 0; ; nth++) {
    const bits = Buffer.from(`${mapping[nth]}AAA`, "base64").readUInt8() >> 2;
    value |= (bits & 31) << (5 * nth);
    if (bits < 32) return value & 1 ? -(value >> 1) : value >> 1;
  }
}

test.each([0, 1, 15, 16, 1000, 123456])("columns can be moved by %i and back", (distance) => {
  const map = JSON.stringify({ mappings: "mcGsDE,EAAsB,EAAtB" });
  const moved = shiftMappings(map, distance);
  expect(columnsOf(JSON.parse(moved).mappings)[0]).toBe(
    (columnsOf("mcGsDE")[0] as number) + distance,
  );
  expect(JSON.parse(shiftMappings(moved, -distance))).toEqual(JSON.parse(map));
});
