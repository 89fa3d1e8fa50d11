// Installations from a source tree, for machines without a prebuilt binary.

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

/** The output of the command line in a copy of these parts of the source tree, without a binary. */
function complaintOf(parts: string[]): string {
  const copy = emptyFolder("copy");
  for (const part of [
    "package.json",
    "dist",
    "node_modules/commander",
    "node_modules/ws",
    ...parts,
  ]) {
    const isKept = (file: string) => !file.endsWith(".node");
    cpSync(join(ROOT, part), join(copy, part), { recursive: true, filter: isKept });
  }
  const args = ["dist/heap_analyzer/cli.js", "analyze", "a.dump", "--wasm", "a.wasm"];
  const { status, stdout, stderr } = node(args, { cwd: copy });
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  return stderr;
}

test("a clone without a build says so", () => {
  expect(complaintOf(["Cargo.toml"])).toMatch(
    /^error: the binary of .* is not built yet: run `npm run build` .*\n$/,
  );
});

test("a copy without its binary says so, with advice", () => {
  expect(complaintOf([])).toMatch(
    /^error: this copy of .* has no binary: it was packed from a source tree that was not built\. .* run `npm install <the clone>` here\.\n$/,
  );
});

test("a process that may not load addons gets an error that says so", () => {
  const script = `require(${JSON.stringify(ROOT)})`;
  const { stderr } = node(["--no-addons", "-e", script], { cwd: ROOT });
  expect(stderr).toContain("this process may not load addons: start Node without --no-addons");
});

test("a project installs the folder where it was built", () => {
  const clone = emptyFolder("clone");
  for (const part of [
    "package.json",
    "index.d.ts",
    "dist",
    "node_modules/commander",
    "node_modules/ws",
  ]) {
    cpSync(join(ROOT, part), join(clone, part), { recursive: true });
  }
  const folder = project({});
  npm(["install", clone], { cwd: folder });
  const { wasm, after } = inject("server");
  const args = ["analyze", after, "--wasm", wasm];
  const printed = npm(["exec", "--offline", "--", "warpo-heap-analyzer", ...args], { cwd: folder });
  expect(printed).toBe(expectedOutput(...args));
});

test("a tarball that `npm pack` makes of a built clone has the binary of this platform", () => {
  const clone = emptyFolder("clone");
  for (const part of ["package.json", "index.d.ts", "dist"]) {
    cpSync(join(ROOT, part), join(clone, part), { recursive: true });
  }
  const tarball = npm(["pack", "--loglevel=error"], { cwd: clone }).trim().split("\n").at(-1);
  const folder = project({});
  npm(["install", join(clone, tarball as string)], { cwd: folder });
  const { wasm, after } = inject("server");
  const args = ["analyze", after, "--wasm", wasm];
  const printed = npm(["exec", "--offline", "--", "warpo-heap-analyzer", ...args], { cwd: folder });
  expect(printed).toBe(expectedOutput(...args));
});

test("the lock file is complete, for whatever platform: `npm ci` accepts it", () => {
  const folder = emptyFolder();
  for (const file of ["package.json", "package-lock.json", ".npmrc"]) {
    cpSync(join(ROOT, file), join(folder, file));
  }
  const args = ["ci", "--dry-run", "--offline", "--loglevel=error"];
  expect(npm(args, { cwd: folder })).toMatch(/added \d+ packages/);
});
