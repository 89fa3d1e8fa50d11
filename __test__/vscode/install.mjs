// Installs VS Code as a server, with the Node that it runs on. Its addons are not compiled: they are for terminals and logs.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const HERE = import.meta.dirname;
const EDITOR = join(HERE, "node_modules/code-server/lib/vscode");
const ARGUMENTS = ["--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund"];

// The editor has a lock file of its own, which lacks a package that npm adds to it: `npm ci` refuses it.
for (const [command, folder, installed] of [
  ["ci", HERE, EDITOR],
  ["install", EDITOR, join(EDITOR, "node_modules")],
]) {
  if (existsSync(installed)) continue;
  const { status } = spawnSync("npm", [command, ...ARGUMENTS], { cwd: folder, stdio: "inherit" });
  if (status !== 0) process.exit(1);
}
