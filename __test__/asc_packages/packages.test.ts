/**
 * Programs with libraries of npm whose classes have visitors of their own, and programs of old compilers. Installed by
 * `npm run test:full -- asc-packages`.
 */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  isRight,
  JUDGED_BUILDS,
  judgeModule,
  judgeProgram,
  withNamesOnly,
} from "../support/judged_program.ts";

const FOLDER = import.meta.dirname;
const OPTIONS = { baseDir: FOLDER };

describe.each(JUDGED_BUILDS)("$name", (build) => {
  test("as-variant: exactly what the collector keeps is live, and nothing is in doubt", async () => {
    const dumps = await judgeProgram("programs/as_variant", build, OPTIONS);
    expect(dumps.length).toBeGreaterThan(5);
    expect(dumps.filter((dump) => !isRight(dump)).map(({ view, ...rest }) => rest)).toEqual([]);
  });

  test("json-as: exactly what the collector keeps is live, and nothing is in doubt", async () => {
    const flags = [...build.flags, "--transform", "json-as/transform"];
    const dumps = await judgeProgram("programs/json_as", { ...build, flags }, OPTIONS);
    expect(dumps.length).toBeGreaterThan(5);
    expect(dumps.filter((dump) => !isRight(dump)).map(({ view, ...rest }) => rest)).toEqual([]);
  });
});

describe("other compilers", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "asc-packages-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const compiled = (compiler: string, flags: string[]) => {
    const file = join(folder, `${compiler}${flags.join("")}.wasm`);
    const asc = join(
      FOLDER,
      "node_modules",
      compiler,
      "bin",
      compiler < "asc-0.20" ? "asc" : "asc.js",
    );
    const args = [asc, "programs/objects.ts", "--debug", "--exportRuntime", ...flags, "-o", file];
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: FOLDER, encoding: "utf8" });
    expect(status, stderr).toBe(0);
    return readFileSync(file);
  };
  const builds = [[], ["-O3"]];

  test.each(["asc-0.19", "asc-0.20", "asc-0.21", "asc-0.22", "asc-0.23"])(
    "%s is refused by its name, with names and without",
    (compiler) => {
      for (const flags of builds) {
        const wasm = compiled(compiler, flags);
        for (const isNamed of [true, false]) {
          const dumps = judgeModule(wasm, withNamesOnly(wasm, isNamed));
          expect(dumps.length).toBeGreaterThan(5);
          const codes = new Set(dumps.map(({ refused }) => refused));
          expect([...codes]).toEqual(["ERR_COMPILER_TOO_OLD"]);
        }
      }
    },
  );

  test("0.24, the oldest that is supported, is read", () => {
    for (const flags of builds) {
      const wasm = compiled("asc-0.24", flags);
      for (const isNamed of [true, false]) {
        const dumps = judgeModule(wasm, withNamesOnly(wasm, isNamed));
        expect(dumps.filter((dump) => !isRight(dump)).map(({ view, ...rest }) => rest)).toEqual([]);
      }
    }
  });

  test.each(JUDGED_BUILDS)("the minimal runtime, $name, is read", async (build) => {
    const flags = [...build.flags, "--runtime", "minimal"];
    const dumps = await judgeProgram("programs/objects", { ...build, flags }, OPTIONS);
    expect(dumps.length).toBeGreaterThan(5);
    expect(dumps.filter((dump) => !isRight(dump)).map(({ view, ...rest }) => rest)).toEqual([]);
  });

  test("the minimal runtime is read without the transform", () => {
    for (const compiler of ["asc-0.24", "../../../node_modules/assemblyscript"]) {
      for (const flags of builds) {
        const wasm = compiled(compiler, [...flags, "--runtime", "minimal"]);
        for (const isNamed of [true, false]) {
          const dumps = judgeModule(wasm, withNamesOnly(wasm, isNamed));
          expect(dumps.filter((dump) => !isRight(dump)).map(({ view, ...rest }) => rest)).toEqual(
            [],
          );
        }
      }
    }
  });
});
