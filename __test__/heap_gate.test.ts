// The workflow of the example: its commands, one after another, in a project like that of a user.

import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { applyPatch } from "diff";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";

const ROOT = resolve(__dirname, "..");
const EXAMPLE = join(ROOT, "examples/leaky-server");

interface Step {
  name?: string;
  run?: string;
}

const COMMANDS = {
  asc: "assemblyscript/bin/asc.js",
  "warpo-heap-analyzer": "@warpo/heap-analyzer/dist/heap_analyzer/cli.js",
};

let folder: string;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "heap-gate-")));
  for (const part of ["assembly", "take-dumps.mjs"]) {
    cpSync(join(EXAMPLE, part), join(folder, part), { recursive: true });
  }
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, "@warpo"), { recursive: true });
  mkdirSync(join(modules, ".bin"));
  symlinkSync(ROOT, join(modules, "@warpo/heap-analyzer"), "junction");
  symlinkSync(
    join(ROOT, "node_modules/assemblyscript"),
    join(modules, "assemblyscript"),
    "junction",
  );
  // As npm writes them: the commands that npx finds.
  for (const [name, script] of Object.entries(COMMANDS)) {
    const text = `#!/bin/sh\nexec node "${join(modules, script)}" "$@"\n`;
    writeFileSync(join(modules, ".bin", name), text, { mode: 0o755 });
  }
  writeFileSync(join(folder, "package.json"), "{}");
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the commands of the workflow, and gives the exit code of each. */
function runWorkflow(): Record<string, number | null> {
  const workflow = parse(readFileSync(join(EXAMPLE, "heap-gate.yml"), "utf8"));
  const steps = workflow.jobs.heap.steps as Step[];
  const codes: Record<string, number | null> = {};
  for (const { name, run } of steps) {
    // Everything is installed already. The others are actions.
    if (run === undefined || run === "npm ci") continue;
    const { status, stderr } = spawnSync("sh", ["-e", "-c", run], {
      cwd: folder,
      encoding: "utf8",
      env: {
        ...process.env,
        // As npx sets it, which asks the registry for what is not installed.
        PATH: `${join(folder, "node_modules/.bin")}${delimiter}${process.env.PATH}`,
        npm_config_offline: "true",
        GITHUB_STEP_SUMMARY: join(folder, "summary.md"),
      },
    });
    expect(stderr).not.toMatch(/^error/m);
    codes[name ?? run] = status;
  }
  return codes;
}

const CHECK = "Check that nothing grows";

test.skipIf(process.platform === "win32")(
  "the workflow fails for the leaking server, and passes for the fixed one",
  () => {
    const { [CHECK]: failed, ...others } = runWorkflow();
    expect(failed).toBe(2);
    expect(Object.values(others)).toEqual([0, 0, 0]);
    expect(readFileSync(join(folder, "summary.md"), "utf8")).toContain("❌");
    for (const report of ["heap.xml", "heap.sarif", "heap.md"]) {
      expect(readFileSync(join(folder, report), "utf8")).toContain("PriceListener");
    }

    const source = join(folder, "assembly/server.ts");
    const patch = readFileSync(join(EXAMPLE, "fix.diff"), "utf8");
    writeFileSync(source, applyPatch(readFileSync(source, "utf8"), patch) as string);
    expect(Object.values(runWorkflow())).toEqual([0, 0, 0, 0]);
  },
);
