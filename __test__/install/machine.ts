/**
 * A simulated machine with only Node, npm and a few shell tools: no Rust, no compiler, no user settings,
 * and no network except the registry of the test.
 */
import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, inject } from "vitest";
import { npmCli, ROOT } from "./packages.ts";

const WINDOWS = process.platform === "win32";

/** Where something runs. */
export interface Run {
  cwd: string;
}

/** An empty, separate folder for a test. */
export function emptyFolder(name = "project"): string {
  const folder = join(mkdtempSync(join(inject("workplace"), "machine-")), name);
  mkdirSync(folder);
  return folder;
}

/** A folder with a package.json and other files. */
export function project(
  manifest: object,
  files: Record<string, string> = {},
  folder = emptyFolder(),
): string {
  const name = { name: "project", version: "1.0.0", private: true };
  for (const [file, text] of Object.entries({
    "package.json": JSON.stringify({ ...name, ...manifest }),
    ...files,
  })) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  return folder;
}

export function node(args: string[], { cwd }: Run): SpawnSyncReturns<string> {
  return spawnSync(process.execPath, args, { cwd, env: environment(), encoding: "utf8" });
}

/** Runs Node and returns its stdout. A failure shows its output. */
export function nodeOutput(args: string[], run: Run): string {
  const { status, stdout, stderr } = node(args, run);
  expect(status, `node ${args.join(" ")}\n${stderr}\n${stdout}`).toBe(0);
  return stdout;
}

export function npm(args: string[], run: Run): string {
  return nodeOutput([npmCli(), ...args], run);
}

/** A command of a devDependency of this repository, such as another package manager. */
export function tool(path: string, args: string[], run: Run): string {
  return nodeOutput([join(ROOT, "node_modules", path), ...args], run);
}

export function environment(): NodeJS.ProcessEnv {
  const home = join(inject("workplace"), "home");
  return {
    // Windows finds no program without these.
    ...(WINDOWS && { SystemRoot: process.env.SystemRoot, PATHEXT: process.env.PATHEXT }),
    ...(WINDOWS && { ComSpec: process.env.ComSpec }),
    PATH: WINDOWS ? dirname(process.execPath) : join(inject("workplace"), "bin"),
    HOME: home,
    USERPROFILE: home,
    APPDATA: home,
    LOCALAPPDATA: home,
    npm_config_registry: inject("registry"),
    npm_config_audit: "false",
    npm_config_fund: "false",
    npm_config_update_notifier: "false",
    // Yarn 4 refuses packages of the last days, also from a registry that says truly when they came.
    YARN_NPM_MINIMAL_AGE_GATE: "0",
    // Nothing listens there, so a connection to another machine fails.
    HTTP_PROXY: "http://127.0.0.1:9",
    HTTPS_PROXY: "http://127.0.0.1:9",
    NO_PROXY: "127.0.0.1",
    CI: "1",
  };
}

/** The output of this repository's command line. An installed one must print the same. */
export function expectedOutput(...args: string[]): string {
  const cli = join(ROOT, "dist/heap_analyzer/cli.js");
  const { stdout } = spawnSync(process.execPath, [cli, ...args], { encoding: "utf8" });
  expect(stdout.length).toBeGreaterThan(100);
  return stdout;
}

export function manifestOf(folder: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}
