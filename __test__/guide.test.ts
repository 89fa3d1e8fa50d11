// Runs the commands of the guide one after another, and compares their output with the guide.

import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

const ROOT = join(__dirname, "..");
const GUIDE = join(ROOT, "docs/guide.md");
/** The commands of `npm run demo` in a clone where everything is installed and built. */
const DEMO =
  "node node_modules/typescript/bin/tsc --project examples/leaky-server && node build/demo/demo.js";

let clone: string;

beforeAll(() => {
  clone = mkdtempSync(join(tmpdir(), "guide-"));
  const types = ["answers.d.ts", "heap.d.ts", "index.d.ts"];
  for (const part of ["package.json", "tsconfig.json", ...types, "dist", "examples"]) {
    cpSync(join(ROOT, part), join(clone, part), { recursive: true });
  }
  symlinkSync(join(ROOT, "node_modules"), join(clone, "node_modules"), "junction");
});

afterAll(() => rmSync(clone, { recursive: true }));

test.skipIf(process.platform === "win32")(
  "the guide's commands print the output in the guide",
  async () => {
    const guide = readFileSync(GUIDE, "utf8");
    const followed = guide.replace(
      /^```(\w+)\n([\s\S]*?)^```$/gm,
      (_, kind: string, text: string) => {
        return `\`\`\`${kind}\n${follow(kind, text)}\`\`\``;
      },
    );
    await expect(followed).toMatchFileSnapshot(GUIDE);
  },
);

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
    default:
      throw new Error(`the guide has a block of kind ${kind}, which is not checked`);
  }
}

/** The output of the commands. All fail if one does. */
function shell(commands: string): string {
  return execFileSync("sh", ["-ec", commands], { cwd: clone, encoding: "utf8", stdio: "pipe" });
}
