// The manifest of the package for agents, beside that of the analyzer.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(__dirname, "../..");
const FOLDER = join(ROOT, "packages/mcp");
const read = (folder: string) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
const analyzer = read(ROOT);
const mcp = read(FOLDER);

test("it has the version of the analyzer, and depends on that version", () => {
  expect(mcp.version).toBe(analyzer.version);
  const { "@warpo/heap-analyzer": own, ...others } = mcp.dependencies;
  expect(own).toBe(analyzer.version);
  // What its tests run with is what it is installed with.
  for (const [name, range] of Object.entries(others)) {
    expect(analyzer.devDependencies[name], name).toBe(range);
  }
});

test("the analyzer does not depend on it", () => {
  expect(Object.keys(analyzer.dependencies)).toEqual(["commander", "ws"]);
});

test("its program was built", () => {
  for (const file of Object.values(mcp.bin) as string[]) {
    expect(existsSync(join(FOLDER, file))).toBe(true);
  }
});

test("its page names every tool", () => {
  const tools = readFileSync(join(FOLDER, "README.md"), "utf8").match(/(?<=^\| `)\w+/gm);
  const page = readFileSync(join(ROOT, "docs/agents.md"), "utf8");
  for (const tool of tools ?? []) expect(page).toContain(`\`${tool}\``);
  expect(tools).toHaveLength(14);
});

test("the settings on its page are JSON that starts it, with options that exist", () => {
  const page = readFileSync(join(ROOT, "docs/agents.md"), "utf8");
  const blocks = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text]) => text as string);
  expect(blocks).toHaveLength(2);
  for (const block of blocks) {
    const [servers] = Object.values(JSON.parse(block)) as [Record<string, { args: string[] }>];
    expect(servers["heap-analyzer"]?.args.slice(0, 3)).toEqual(["-y", mcp.name, "--root"]);
  }
  const help = execFileSync(process.execPath, [join(FOLDER, "dist/cli.mjs"), "--help"], {
    encoding: "utf8",
  });
  const named = (text: string) => new Set(text.match(/--[a-z][a-z-]+/g));
  const own = ["--help", "--version"];
  expect([...named(page)].sort()).toEqual(
    [...named(help)].filter((option) => !own.includes(option)).sort(),
  );
});
