/** Once before all files: packs everything, offers it, and makes the dumps to look at. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { type LeakyServer, leakyServer } from "../support/leaky_server.ts";
import { type Packed, packAll } from "./packages.ts";
import { serveRegistry } from "./registry.ts";

declare module "vitest" {
  export interface ProvidedContext {
    packages: Packed[];
    registry: string;
    server: LeakyServer;
    /** A folder outside of the repository, removed when all is done. */
    workplace: string;
  }
}

export default async function setup(project: TestProject): Promise<() => void> {
  const workplace = mkdtempSync(join(tmpdir(), "heap-analyzer-install-"));
  const tarballs = join(workplace, "tarballs");
  mkdirSync(tarballs);
  const packages = packAll(tarballs);
  const registry = await serveRegistry(packages);
  project.provide("packages", packages);
  project.provide("registry", registry.url);
  project.provide("server", await leakyServer());
  project.provide("workplace", workplace);
  return () => {
    registry.close();
    rmSync(workplace, { recursive: true, force: true });
  };
}
