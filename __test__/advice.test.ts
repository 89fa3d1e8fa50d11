/** What to do about an error or a warning: the engine states facts, each surface adds advice in its own words. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, expect, test } from "vitest";
import { adviceFor, CODES, withAdvice } from "../dist/advice.js";
import { analyzeFile, HeapAnalyzerError } from "../dist/index.js";
import { runIn } from "./support/command_line.ts";

const ROOT = resolve(__dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "advice-"));

afterAll(() => rmSync(folder, { recursive: true }));

const read = (file: string) => readFileSync(join(ROOT, file), "utf8");

test("each code with advice is explained in the documentation", () => {
  const explained = read("docs/errors.md") + read("docs/numbers.md");
  expect(CODES.filter((code) => !explained.includes(`\`${code}\``))).toEqual([]);
  expect(CODES.length).toBeGreaterThan(8);
});

test("the API does not name options of the command line, nor do tools for agents", () => {
  const { stdout } = runIn(folder, ["check", "--help"]);
  const options = new Set(stdout.match(/--[a-z-]+/g));
  expect(options).toContain("--min-dumps");
  for (const code of CODES) {
    for (const surface of ["api", "agent"] as const) {
      const named = adviceFor(surface, code)?.match(/--[a-z-]+/g) ?? [];
      expect(named.filter((option) => options.has(option))).toEqual([]);
    }
  }
});

test("the same error has the advice of the API as a property, and that of the command line in its line", () => {
  const dump = join(folder, "app.dump");
  writeFileSync(dump, "ASHD\u0002\0\0\0");
  let error: unknown;
  try {
    analyzeFile(dump, undefined as never);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(HeapAnalyzerError);
  const { code, message, advice } = error as HeapAnalyzerError;
  expect(code).toBe("ERR_MODULE_MISSING");
  expect(message).not.toContain("--");
  expect(advice).toBe("pass the module as the argument wasm");
  const { stderr } = runIn(folder, ["analyze", dump]);
  expect(stderr.trim()).toBe(`error: ${message}; pass the module with --wasm`);
});

test("an error without advice has no such property, and its text is shown as it is", () => {
  expect(Object.keys(new HeapAnalyzerError("ERR_IO", "no file"))).toEqual(["code"]);
  expect(withAdvice("cli", "ERR_IO", "no file")).toBe("no file");
  expect(withAdvice("cli", "constructor", "no file")).toBe("no file");
  expect(withAdvice("agent", "ERR_TOO_FEW_DUMPS", "3 dumps")).toBe("3 dumps");
});
