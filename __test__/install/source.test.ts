// The way for machines without a prebuilt binary: building it.

import { cpSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { emptyFolder, expectedOutput, node, npm, project } from "./machine.ts";
import { npmCli, ROOT } from "./packages.ts";

test("without Rust, `npm run build` says what is missing and what to do", () => {
  const { status, stdout } = node([npmCli(), "run", "build"], { cwd: ROOT });
  expect(status).not.toBe(0);
  expect(stdout).toContain("error: there is no cargo on the PATH");
  expect(stdout).toContain("https://rustup.rs");
  expect(stdout).toContain("npm install @warpo/heap-analyzer");
});

test("a clone where nothing was built says so", () => {
  const clone = emptyFolder("clone");
  for (const part of ["package.json", "dist", "node_modules/commander"]) {
    const built = (file: string) => !file.endsWith(".node");
    cpSync(join(ROOT, part), join(clone, part), { recursive: true, filter: built });
  }
  const args = ["dist/heap_analyzer/cli.js", "analyze", "a.dump", "--wasm", "a.wasm"];
  const { status, stdout, stderr } = node(args, { cwd: clone });
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toMatch(/^error: the binary of .* is not built yet: run `npm run build` .*\n$/);
});

test("a project installs the folder where it was built", () => {
  const clone = emptyFolder("clone");
  for (const part of ["package.json", "index.d.ts", "dist", "node_modules/commander"]) {
    cpSync(join(ROOT, part), join(clone, part), { recursive: true });
  }
  const folder = project({});
  npm(["install", clone], { cwd: folder });
  const { wasm, after } = inject("server");
  const args = ["analyze", after, "--wasm", wasm];
  const printed = npm(["exec", "--offline", "--", "warpo-heap-analyzer", ...args], { cwd: folder });
  expect(printed).toBe(expectedOutput(...args));
});

test("the lock file is complete, for whatever platform: `npm ci` accepts it", () => {
  const folder = emptyFolder();
  for (const file of ["package.json", "package-lock.json"]) {
    cpSync(join(ROOT, file), join(folder, file));
  }
  const args = ["ci", "--dry-run", "--offline", "--loglevel=error"];
  expect(npm(args, { cwd: folder })).toMatch(/added \d+ packages/);
});
