// Other package managers, and folders that are not like the one the tests were written in.

import { chmodSync, cpSync, readdirSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, inject, test } from "vitest";
import { emptyFolder, expectedOutput, nodeOutput, npm, project, tool } from "./machine.ts";

const { wasm, before, after } = inject("server");
const CLI = "node_modules/@warpo/heap-analyzer/dist/heap_analyzer/cli.js";
const ARGS = ["analyze", after, "--wasm", wasm, "--top", "5"];
const REQUIRE = ["-p", `typeof require("@warpo/heap-analyzer").analyze`];
const WINDOWS = process.platform === "win32";
const registry = inject("registry");
const root = inject("packages").find(({ name }) => name === "@warpo/heap-analyzer");
const dependencies = { "@warpo/heap-analyzer": root?.version };

describe("package managers", () => {
  test("yarn 1", () => {
    const folder = project({ dependencies }, { ".yarnrc": `registry "${registry}"\n` });
    const yarn = (...args: string[]) => tool("yarn/bin/yarn.js", args, { cwd: folder });
    yarn("install", "--non-interactive");
    expect(yarn("--silent", "warpo-heap-analyzer", ...ARGS)).toBe(expectedOutput(...ARGS));
    expect(nodeOutput(REQUIRE, { cwd: folder })).toBe("function\n");
  });

  test.each(["pnp", "node-modules", "pnpm"])("yarn 4, linker %s", (nodeLinker) => {
    const settings = {
      nodeLinker,
      npmRegistryServer: registry,
      unsafeHttpWhitelist: ["127.0.0.1"],
      enableTelemetry: false,
      enableImmutableInstalls: false,
      enableGlobalCache: false,
    };
    // JSON is YAML.
    const files = { ".yarnrc.yml": JSON.stringify(settings), "yarn.lock": "" };
    const folder = project({ dependencies }, files);
    const yarn = (...args: string[]) => tool("yarn-berry/bin/yarn.js", args, { cwd: folder });
    yarn("install");
    expect(yarn("warpo-heap-analyzer", ...ARGS)).toBe(expectedOutput(...ARGS));
    expect(yarn("node", ...REQUIRE)).toBe("function\n");
  });

  test.each(["isolated", "hoisted"])("pnpm, linker %s", (linker) => {
    const settings = `registry=${registry}\nnode-linker=${linker}\nstore-dir=store\n`;
    const folder = project({ dependencies }, { ".npmrc": settings });
    const pnpm = (...args: string[]) => tool("pnpm/bin/pnpm.cjs", args, { cwd: folder });
    pnpm("install");
    expect(pnpm("exec", "warpo-heap-analyzer", ...ARGS)).toBe(expectedOutput(...ARGS));
    expect(nodeOutput([CLI, ...ARGS], { cwd: folder })).toBe(expectedOutput(...ARGS));
    expect(nodeOutput(REQUIRE, { cwd: folder })).toBe("function\n");
  });
});

describe("folders", () => {
  test("a path with spaces and letters beyond ASCII", () => {
    const folder = project({}, {}, emptyFolder("Übung 1 – 堆 🐘"));
    npm(["install", "@warpo/heap-analyzer"], { cwd: folder });
    cpSync(after, join(folder, "größer.dump"));
    cpSync(wasm, join(folder, "modul é.wasm"));
    const args = ["analyze", "größer.dump", "--wasm", "modul é.wasm", "--top", "5"];
    expect(nodeOutput([CLI, ...args], { cwd: folder })).toBe(expectedOutput(...ARGS));
    const script = `
      const { analyzeFile, analyzeFileAsync } = require("@warpo/heap-analyzer");
      const files = ["größer.dump", "modul é.wasm"];
      analyzeFileAsync(...files).then((view) =>
        console.log(view.totalLiveSize === analyzeFile(...files).totalLiveSize));`;
    expect(nodeOutput(["-e", script], { cwd: folder })).toBe("true\n");
  });

  test.skipIf(WINDOWS)("a node_modules without write permission", () => {
    const folder = project({});
    npm(["install", "@warpo/heap-analyzer"], { cwd: folder });
    const contents = everything(join(folder, "node_modules"));
    for (const path of contents) chmodSync(path, statSync(path).mode & ~0o222);
    try {
      expect(nodeOutput([CLI, ...ARGS], { cwd: folder })).toBe(expectedOutput(...ARGS));
      expect(everything(join(folder, "node_modules"))).toEqual(contents);
    } finally {
      for (const path of contents) chmodSync(path, statSync(path).mode | 0o200);
    }
  });

  test.skipIf(WINDOWS)("a start through a symlink, as npx has it, and from another folder", () => {
    const folder = project({});
    npm(["install", "@warpo/heap-analyzer"], { cwd: folder });
    const elsewhere = emptyFolder();
    symlinkSync(join(folder, CLI), join(elsewhere, "link"));
    for (const start of [join(folder, "node_modules/.bin/warpo-heap-analyzer"), "./link"]) {
      expect(nodeOutput([start, ...ARGS], { cwd: elsewhere })).toBe(expectedOutput(...ARGS));
    }
  });

  test.skipIf(WINDOWS)("a folder that is itself a symlink", () => {
    const folder = project({});
    npm(["install", "@warpo/heap-analyzer"], { cwd: folder });
    const link = join(emptyFolder(), "link");
    symlinkSync(folder, link);
    expect(nodeOutput(REQUIRE, { cwd: link })).toBe("function\n");
    const diff = ["diff", before, after, "--wasm", wasm];
    const preserved = ["--preserve-symlinks", "--preserve-symlinks-main", join(link, CLI), ...diff];
    expect(nodeOutput(preserved, { cwd: link })).toBe(expectedOutput(...diff));
  });
});

/** All files and folders below a folder, itself included, links aside. */
function everything(folder: string): string[] {
  const inside = readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => !entry.isSymbolicLink())
    .map((entry) => join(entry.parentPath, entry.name));
  return [folder, ...inside].sort();
}
