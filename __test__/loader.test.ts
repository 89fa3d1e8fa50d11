// Which binary the loader that napi-rs generates asks for, on each platform. What the binaries do there: `.ci/platforms`.

import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(__dirname, "..");
const LOADER = join(ROOT, "dist/loader.js");
const PLATFORMS = readdirSync(join(ROOT, "npm"));

/** The binaries that are asked for on a system, in this order. None of them is there. */
function asked(platform: string, arch: string, libc = "glibc"): string[] {
  const script = `
    const [loader, platform, arch, libc] = process.argv.slice(1);
    for (const [name, value] of Object.entries({ platform, arch })) {
      Object.defineProperty(process, name, { value });
    }
    const fs = require("fs");
    const read = fs.readFileSync;
    fs.readFileSync = (file, ...rest) => (file === "/usr/bin/ldd" ? libc : read(file, ...rest));
    const Module = require("module");
    const load = Module._load;
    const asked = [];
    Module._load = (name, ...rest) => {
      if (!/^(\\.\\/warpo-heap-analyzer\\.|@warpo\\/heap-analyzer-)/.test(name)) return load(name, ...rest);
      asked.push(name);
      throw new Error("not there");
    };
    try { require(loader); } catch {}
    console.log(JSON.stringify(asked));`;
  const options = ["-e", script, LOADER, platform, arch, libc];
  const { stdout } = spawnSync(process.execPath, options, { encoding: "utf8" });
  // WebAssembly comes after all else, and a binary for both kinds of Macs before it; neither is published.
  return (JSON.parse(stdout) as string[]).filter((name) => !/wasi|universal/.test(name));
}

test.each(PLATFORMS)("on %s the loader asks for the binary of it, and no other", (name) => {
  const [platform, arch, abi] = name.split("-") as [string, string, string?];
  const libc = abi === "musl" ? "musl libc" : "GNU libc";
  expect(asked(platform, arch, libc)).toEqual([
    `./warpo-heap-analyzer.${name}.node`,
    `@warpo/heap-analyzer-${name}`,
  ]);
});

test("on other systems it asks for no binary that is published", () => {
  const published = PLATFORMS.map((name) => `@warpo/heap-analyzer-${name}`);
  for (const [platform, arch] of [
    ["sunos", "x64"],
    ["win32", "ia32"],
    ["linux", "riscv64"],
  ] as const) {
    expect(asked(platform, arch).filter((name) => published.includes(name))).toEqual([]);
  }
});

test("the script that builds all binaries knows the platforms of the packages", async () => {
  const list = await import(join(ROOT, ".ci/platforms/list.mjs"));
  const names: string[] = list.PLATFORMS.map(({ name }: { name: string }) => name);
  expect(names.sort()).toEqual(PLATFORMS.sort());
});
