/** `npm run bench -- fleet`: installs the engines for large tables, and starts `benches/fleet/fleet.py`. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

const ROOT = resolve(__dirname, "../..");
const VENV = join(ROOT, "build/fleet/venv");
const PYTHON = join(VENV, "bin/python");

function run(program: string, ...args: string[]): void {
  const { status } = spawnSync(program, args, { cwd: ROOT, stdio: "inherit" });
  if (status !== 0) process.exit(1);
}

if (!existsSync(PYTHON)) run("python3", "-m", "venv", VENV);
run(PYTHON, "-m", "pip", "install", "--quiet", "-r", "examples/fleet/requirements.txt");
run(PYTHON, "benches/fleet/fleet.py", ...process.argv.slice(2));
