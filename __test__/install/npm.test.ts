// `npm i @warpo/heap-analyzer`: the command, `import` and `require`, types, and the installed files.

import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, inject, test } from "vitest";
import { emptyFolder, expectedOutput, node, nodeOutput, npm, project } from "./machine.ts";
import { ROOT } from "./packages.ts";

const { wasm, before, after } = inject("server");
let installed: string;

beforeAll(() => {
  installed = project({});
  npm(["install", "@warpo/heap-analyzer"], { cwd: installed });
});

test("the machine has no Rust", () => {
  const script = "console.log(require('child_process').spawnSync('cargo').error.code)";
  expect(nodeOutput(["-e", script], { cwd: installed })).toBe("ENOENT\n");
});

test("one binary is installed, commander and ws", () => {
  const modules = join(installed, "node_modules");
  expect(readdirSync(modules).filter((name) => !name.startsWith("."))).toEqual([
    "@warpo",
    "commander",
    "ws",
  ]);
  const [root, binary, ...others] = readdirSync(join(modules, "@warpo")).sort();
  expect(root).toBe("heap-analyzer");
  expect(binary).toMatch(new RegExp(`^heap-analyzer-${process.platform}-${process.arch}`));
  expect(others).toEqual([]);
});

test("npx warpo-heap-analyzer analyze prints the same as the build in this repository", () => {
  const args = ["analyze", after, "--wasm", wasm];
  const printed = npm(["exec", "--offline", "--", "warpo-heap-analyzer", ...args], {
    cwd: installed,
  });
  expect(printed).toBe(expectedOutput(...args));
});

test("npx warpo-heap-analyzer diff prints the same as the build in this repository", () => {
  const args = ["diff", before, after, "--wasm", wasm, "--format", "table"];
  const printed = npm(["exec", "--offline", "--", "warpo-heap-analyzer", ...args], {
    cwd: installed,
  });
  expect(printed).toBe(expectedOutput(...args));
});

test("npx runs the package where nothing is installed", () => {
  const args = ["analyze", after, "--wasm", wasm, "--top", "3"];
  const printed = npm(["exec", "--yes", "--", "@warpo/heap-analyzer", ...args], {
    cwd: emptyFolder(),
  });
  expect(printed).toBe(expectedOutput(...args));
});

const ANALYSIS = `
  const { readFileSync } = process.getBuiltinModule?.("fs") ?? require("fs");
  const [dump, wasm] = process.argv.slice(-2).map((file) => readFileSync(file));
  console.log(analyze(dump, wasm).constructors[0].className, typeof exposeGlobals(wasm));`;

test.each([
  [
    "require",
    "commonjs",
    `const { analyze } = require("@warpo/heap-analyzer");
     const { exposeGlobals } = require("@warpo/heap-analyzer/capture");${ANALYSIS}`,
  ],
  [
    "import",
    "module",
    `import { createRequire } from "node:module";
     import { analyze } from "@warpo/heap-analyzer";
     import { exposeGlobals } from "@warpo/heap-analyzer/capture";
     const require = createRequire("/");${ANALYSIS}`,
  ],
])("%s gives the functions", (_, type, script) => {
  const args = [`--input-type=${type}`, "-e", script, after, wasm];
  expect(nodeOutput(args, { cwd: installed })).toBe("assembly/server/PriceFeed object\n");
});

test.each([
  ["asc-transform", "default"],
  ["asc-transform/expose", "default"],
  ["browser", "HeapAnalyzerError,captureDump,downloadDump"],
  ["memory-dump", "dumpMemoryRegion"],
])("the entry %s is there to be imported", (entry, names) => {
  const script = `import("@warpo/heap-analyzer/${entry}").then((m) => console.log(String(Object.keys(m))))`;
  expect(nodeOutput(["-e", script], { cwd: installed })).toBe(`${names}\n`);
});

test("a program that is started with register can be captured", () => {
  const script = `
    const { captureDump } = require("@warpo/heap-analyzer/capture");
    const wasm = require("fs").readFileSync(process.argv[1]);
    const instance = new WebAssembly.Instance(new WebAssembly.Module(wasm), { env: { abort() {} } });
    console.log(captureDump(instance.exports.memory).length > 65536);`;
  const args = ["--import", "@warpo/heap-analyzer/register", "-e", script, wasm];
  expect(nodeOutput(args, { cwd: installed })).toBe("true\n");
});

test.each(["CommonJS", "NodeNext"])("the types are found and correct, in %s", (module) => {
  const type = module === "CommonJS" ? "commonjs" : "module";
  const resolution =
    module === "CommonJS"
      ? ["--moduleResolution", "bundler", "--module", "preserve"]
      : ["--module", "nodenext"];
  const folder = project(
    { type },
    {
      "use.ts": `
        import { analyze, type ConstructorView } from "@warpo/heap-analyzer";
        import { captureDump, writeDump } from "@warpo/heap-analyzer/capture";
        import { downloadDump } from "@warpo/heap-analyzer/browser";
        import { expectNoLeak, type LeakError, type LeakTest } from "@warpo/heap-analyzer/testing";
        import "@warpo/heap-analyzer/register";
        const leakTest: LeakTest = { instance: {}, wasm: "a.wasm", run: async () => 1, rounds: 8 };
        export const tested: Promise<void> = expectNoLeak(leakTest);
        export const hasPassed = (error: LeakError): boolean => error.answer.passed;
        // @ts-expect-error: there is no work
        void expectNoLeak({ instance: {}, wasm: "a.wasm" });
        export const functions: unknown[] = [writeDump, downloadDump];
        import AscTransform from "@warpo/heap-analyzer/asc-transform";
        export const view: ConstructorView = analyze(captureDump({}), new Uint8Array());
        export const size: number = view.totalLiveSize;
        export const transform: AscTransform = new AscTransform();
        // @ts-expect-error: it is a number
        export const wrong: string = view.totalLiveSize;`,
    },
  );
  npm(["install", "@warpo/heap-analyzer"], { cwd: folder });
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const flags = [
    "--noEmit",
    "--strict",
    "--target",
    "es2022",
    "--lib",
    "es2022,dom",
    "--types",
    "",
  ];
  expect(nodeOutput([tsc, ...flags, ...resolution, "use.ts"], { cwd: folder })).toBe("");
});

test("a lock file of another platform, without the binary, is an error with advice", () => {
  const folder = project({});
  npm(["install", "--omit=optional", "@warpo/heap-analyzer"], { cwd: folder });
  const cli = "node_modules/@warpo/heap-analyzer/dist/heap_analyzer/cli.js";
  const { status, stdout, stderr } = node([cli, "analyze", after, "--wasm", wasm], { cwd: folder });
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr.split("\n")).toHaveLength(2);
  expect(stderr).toMatch(/^error: the binary of @warpo\/heap-analyzer for .* is not installed: /);
  expect(stderr).toContain(`the package @warpo/heap-analyzer-${process.platform}-${process.arch}`);
  expect(stderr).toContain("Install again without --omit=optional");
  expect(stderr).toContain("npm ci && npm run build");

  const script = "try { require('@warpo/heap-analyzer') } catch (e) { console.log(e.code) }";
  expect(nodeOutput(["-e", script], { cwd: folder })).toBe("ERR_NO_BINARY\n");
  expect(nodeOutput([cli, "--version"], { cwd: folder })).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test("on a platform without a prebuilt binary, the error names it and those that have one", () => {
  const pretend = `Object.defineProperty(process, "arch", { value: "mips" });`;
  const script = `${pretend} try { require("@warpo/heap-analyzer") } catch (e) { console.log(e.message) }`;
  const printed = nodeOutput(["-e", script], { cwd: installed });
  expect(printed).toContain(`has no prebuilt binary for ${process.platform}-mips`);
  expect(printed).toContain("only for linux-x64-gnu, linux-x64-musl, linux-arm64-gnu");
  expect(printed).toContain("npm ci && npm run build");
});

test("a binary that does not load is an error with the system's reason", () => {
  const folder = project({});
  npm(["install", "@warpo/heap-analyzer"], { cwd: folder });
  const modules = join(folder, "node_modules/@warpo");
  const platform = readdirSync(modules).find((name) => name !== "heap-analyzer") as string;
  const [binary] = readdirSync(join(modules, platform)).filter((file) => file.endsWith(".node"));
  writeFileSync(join(modules, platform, binary as string), "no library");
  const script = "try { require('@warpo/heap-analyzer') } catch (e) { console.log(e.message) }";
  const printed = nodeOutput(["-e", script], { cwd: folder });
  expect(printed).toContain(`does not load on ${process.platform}-${process.arch}`);
  expect(printed).toContain(binary);
});
