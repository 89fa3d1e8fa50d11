// Runs the commands of the pages about the demo one after another, and compares their output with the page.

import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const ROOT = join(__dirname, "..");
/** The last page fixes the leak that the pages before it show. */
const PAGES = ["javascript", "other-tools", "test-for-leaks", "find-a-leak"];
/** Ids and sizes of V8 differ from version to version: of the output of these pages, the rest is compared. */
const SHAPED = ["javascript"];
/** Where the part about the demo begins: `install/first_leak.test.ts` runs what is before it. */
const ITS_PART: Record<string, string> = { "find-a-leak": "## In a larger program" };
/** The commands of `npm run demo` in a clone where everything is installed and built. */
const DEMO =
  "node node_modules/typescript/bin/tsc --project examples/leaky-server && node build/demo/demo.js";

let clone: string;

beforeAll(() => {
  clone = mkdtempSync(join(tmpdir(), "guide-"));
  const types = ["answers.d.ts", "codes.d.ts", "heap.d.ts", "index.d.ts", "options.d.ts"];
  for (const part of ["package.json", "tsconfig.json", ...types, "dist", "examples"]) {
    cpSync(join(ROOT, part), join(clone, part), { recursive: true });
  }
  symlinkSync(join(ROOT, "node_modules"), join(clone, "node_modules"), "junction");
  shell(DEMO);
});

afterAll(() => rmSync(clone, { recursive: true }));

describe.skipIf(process.platform === "win32")("the commands of a page print what it says", () => {
  test.each(PAGES)("%s", async (name) => {
    const page = join(ROOT, `docs/${name}.md`);
    const text = readFileSync(page, "utf8");
    const start = Math.max(0, text.indexOf(ITS_PART[name] ?? ""));
    const followed = text
      .slice(start)
      .replace(/^```(\w+)\n([\s\S]*?)^```$/gm, (_, kind: string, block: string) => {
        const output = follow(kind, block);
        const isSame = SHAPED.includes(name) && shape(output) === shape(block);
        return `\`\`\`${kind}\n${isSame ? block : output}\`\`\``;
      });
    await expect(text.slice(0, start) + followed).toMatchFileSnapshot(page);
  });
});

/** A block as it should be. */
function follow(kind: string, text: string): string {
  switch (kind) {
    case "sh":
      shell(text.replaceAll("npm run demo", DEMO));
      return text;
    case "console": {
      const command = text.split("\n", 1)[0] as string;
      return `${command}\n${shell(command.replace(/^\$ /, ""))}`;
    }
    case "diff":
      return readFileSync(join(clone, "examples/leaky-server/fix.diff"), "utf8");
    case "yaml":
      return readFileSync(join(clone, "examples/leaky-server/heap-gate.yml"), "utf8");
    case "js":
      writeFileSync(join(clone, "test.mjs"), text);
      shell("node test.mjs");
      return text;
    case "json":
    case "text":
      // What a file looks like, and what a tool prints that is not a part of the project.
      return text;
    default:
      throw new Error(`the page has a block of kind ${kind}, which is not checked`);
  }
}

/** A text without the ids and the sizes of V8. */
function shape(text: string): string {
  return text
    .replace(/@\d+/g, "@")
    .replace(/[\d.,]+ (B|KiB|MiB)/g, "$1")
    .replace(/[\d,]+ (objects|live|classes|system|global)/g, "$1")
    .replace(/fingerprint [0-9a-f]{12}/g, "fingerprint")
    .replace(/\{\d+\}/g, "{}")
    .replace(/^ +/gm, "")
    .replace(/ +/g, " ");
}

/** The output of the commands. All fail if one does. */
function shell(commands: string): string {
  return execFileSync("sh", ["-ec", commands], { cwd: clone, encoding: "utf8", stdio: "pipe" });
}
