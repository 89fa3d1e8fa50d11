/** Runs once before all files: publishes everything, and creates the dumps and the machine. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestProject } from "vitest/node";
import { type LeakyServer, leakyServer } from "../support/leaky_server.ts";
import { IS_REHEARSAL, npmCli, type Published, release } from "./packages.ts";
import { serveRegistry } from "./registry.ts";
import { serveVerdaccio } from "./verdaccio.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Those of the platforms, the analyzer, the one for agents, and the dependencies, in the order of their publication. */
    packages: Published[];
    registry: string;
    server: LeakyServer;
    /** A folder outside of the repository, removed when all is done. */
    workplace: string;
  }
}

/** The tools that the start scripts of package managers call, besides Node. */
const TOOLS = ["sh", "env", "sed", "dirname", "basename", "uname"];

export default async function setup(project: TestProject): Promise<() => void> {
  const workplace = mkdtempSync(join(tmpdir(), "heap-analyzer-install-"));
  const tarballs = join(workplace, "tarballs");
  mkdirSync(tarballs);
  furnish(workplace);
  const registry = await (IS_REHEARSAL ? serveVerdaccio : serveRegistry)(tarballs);
  project.provide("packages", await release(workplace, registry));
  project.provide("registry", registry.url);
  project.provide("server", await leakyServer());
  project.provide("workplace", workplace);
  return () => {
    registry.close();
    rmSync(workplace, { recursive: true, force: true });
  };
}

/** Creates the machine's home folder and the programs on its PATH, once before all tests. */
function furnish(workplace: string): void {
  const bin = join(workplace, "bin");
  mkdirSync(join(workplace, "home"));
  mkdirSync(bin);
  if (process.platform === "win32") return;
  symlinkSync(process.execPath, join(bin, "node"));
  const startNpm = `#!/bin/sh\nexec node "${npmCli()}" "$@"\n`;
  writeFileSync(join(bin, "npm"), startNpm, { mode: 0o755 });
  const startNpx = `#!/bin/sh\nexec node "${join(dirname(npmCli()), "npx-cli.js")}" "$@"\n`;
  writeFileSync(join(bin, "npx"), startNpx, { mode: 0o755 });
  for (const name of TOOLS) {
    const found = ["/bin", "/usr/bin"].map((at) => join(at, name)).find(existsSync);
    if (found !== undefined) symlinkSync(found, join(bin, name));
  }
}
