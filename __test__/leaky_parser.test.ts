// The example of C: the commands of its page print what it says, and the demo finds the leak with and without a compiler.

import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

const ROOT = join(__dirname, "..");
const EXAMPLE = "examples/leaky-parser";
const PAGE = join(ROOT, EXAMPLE, "README.md");

let clone: string;

beforeAll(() => {
  clone = mkdtempSync(join(tmpdir(), "leaky-parser-"));
  for (const part of ["package.json", EXAMPLE]) {
    cpSync(join(ROOT, part), join(clone, part), { recursive: true });
  }
  for (const part of ["dist", "node_modules"]) {
    symlinkSync(join(ROOT, part), join(clone, part), "junction");
  }
});

afterAll(() => rmSync(clone, { recursive: true }));

function shell(commands: string): string {
  return execFileSync("sh", ["-ec", commands], { cwd: clone, encoding: "utf8", stdio: "pipe" });
}

/** A block as it should be. */
function follow(kind: string, text: string): string {
  if (kind === "diff") return readFileSync(join(clone, EXAMPLE, "fix.diff"), "utf8");
  if (kind === "sh") {
    shell(text);
    return text;
  }
  if (kind !== "console") throw new Error(`the page has a block of kind ${kind}`);
  const command = text.split("\n", 1)[0] as string;
  return `${command}\n${shell(command.replace(/^\$ /, ""))}`;
}

test.skipIf(process.platform === "win32")("the commands print what the page says", async () => {
  const followed = readFileSync(PAGE, "utf8").replace(
    /^```(\w+)\n([\s\S]*?)^```$/gm,
    (_, kind: string, text: string) => `\`\`\`${kind}\n${follow(kind, text)}\`\`\``,
  );
  await expect(followed).toMatchFileSnapshot(PAGE);
});

/** The output of the demo. */
function demo(path: string | undefined): string {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(clone, EXAMPLE, "demo.mjs")],
    { cwd: clone, encoding: "utf8", env: { ...process.env, PATH: path } },
  );
  expect(status, stderr).toBe(0);
  return stdout;
}

const hasClang =
  spawnSync("clang", ["--target=wasm32-wasi", "-E", "-include", "stdlib.h", "-xc", "/dev/null"])
    .status === 0;

function expectLeakAndMend(output: string): void {
  const [leaking = "", fixed = ""] = output.split("The gate for the parser with fix.diff:");
  expect(leaking).toContain("exit code 2");
  expect(leaking).toMatch(/read_members +.*parser\.c:\d+/);
  expect(fixed).toContain("exit code 0");
}

test.skipIf(!hasClang)("the demo compiles the parser, and its gate fails and passes", () => {
  const output = demo(process.env.PATH);
  expect(output).not.toContain("There is no clang");
  expectLeakAndMend(output);
});

test.runIf(process.env.TEST_NATIVE)(
  "without a compiler, the demo says so and takes the modules of the repository",
  () => {
    const output = demo("");
    expect(output).toContain("There is no clang");
    expectLeakAndMend(output);
  },
);
