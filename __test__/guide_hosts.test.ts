// The guide's lines for each host, run as they are written.

import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { build } from "vite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { type AsinitProject, createAsinitProject } from "./support/asinit_project.ts";
import { guideBlock } from "./support/guide.ts";

let project: AsinitProject;

beforeAll(() => {
  project = createAsinitProject();
  project.build();
  project.compile("--bindings", "raw", "--outFile", "build/raw.wasm");
  project.compile("--exportStart", "_start", "--use", "abort=", "--outFile", "build/wasi.wasm");
});

afterAll(() => rmSync(project.folder, { recursive: true, force: true }));

/** The code before the lines of the guide: imports, and an instance. */
const PREAMBLES: Record<string, string> = {
  esm: "",
  raw: 'import { instantiate } from "./build/raw.js";',
  loader: 'import loader from "@assemblyscript/loader";',
  wasi: `
    import { WASI } from "node:wasi";
    const wasi = new WASI({ version: "preview1" });
    const { instance } = await WebAssembly.instantiate(readFileSync("build/wasi.wasm"));`,
  exposed: `
    import { exposeGlobals } from "@warpo/heap-analyzer/capture";
    const imports = { env: { abort() {} } };`,
};

test.each(Object.entries(PREAMBLES))("the lines for %s write a dump", (host, preamble) => {
  writeFileSync(
    join(project.folder, "app.js"),
    `import { readFileSync } from "node:fs";
     import { writeDump } from "@warpo/heap-analyzer/capture";
     ${preamble}
     ${guideBlock(`js ${host}`)}`,
  );
  const flags = host === "exposed" ? [] : ["--import", "@warpo/heap-analyzer/register"];
  const child = spawnSync(process.execPath, ["--no-warnings", ...flags, "app.js"], {
    cwd: project.folder,
    encoding: "utf8",
  });
  expect(child.stderr).toBe("");
  const dump = readFileSync(join(project.folder, "program.dump"));
  expect(dump.subarray(0, 4).toString()).toBe("ASHD");
  rmSync(join(project.folder, "program.dump"));
});

test("the command for Node is the one that the tests run", () => {
  expect(guideBlock("sh host")).toBe("node --import @warpo/heap-analyzer/register app.js\n");
});

test("raw bindings are compiled in a project of asinit, beside its configuration", () => {
  const command = guideBlock("sh raw")
    .replace(/^npx asc /, "")
    .trim();
  rmSync(join(project.folder, "build/raw.js"));
  const asc = join(project.folder, "node_modules/assemblyscript/bin/asc.js");
  const args = [asc, ...command.split(" ")];
  const { status, stderr } = spawnSync(process.execPath, args, {
    cwd: project.folder,
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(readFileSync(join(project.folder, "build/raw.js"), "utf8")).toContain(
    "export async function instantiate(module",
  );
});

test("the profiler records a program with ESM bindings", () => {
  writeFileSync(join(project.folder, "profiled.js"), guideBlock("js profiler"));
  const { status, stderr } = spawnSync(process.execPath, ["profiled.js"], {
    cwd: project.folder,
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const profile = gunzipSync(readFileSync(join(project.folder, "heap.pb.gz"))).toString("latin1");
  expect(profile).toContain("assembly/index/add");
});

test("asconfig.json names the transform as the page says", () => {
  const file = join(project.folder, "asconfig.json");
  const config = JSON.parse(readFileSync(file, "utf8"));
  const { options } = JSON.parse(guideBlock("json asconfig"));
  writeFileSync(file, JSON.stringify({ ...config, options: { ...config.options, ...options } }));
  project.build();
  const module = new WebAssembly.Module(readFileSync(join(project.folder, "build/debug.wasm")));
  expect(WebAssembly.Module.customSections(module, "debug_info")).toHaveLength(1);
});

test("the lines for a trap and for a large memory run", () => {
  const head = 'import * as program from "./build/debug.js";';
  writeFileSync(join(project.folder, "app.js"), head + guideBlock("js moments"));
  const args = ["--import", "@warpo/heap-analyzer/register", "app.js"];
  const { status, stderr } = spawnSync(process.execPath, args, {
    cwd: project.folder,
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
});

test("the pod for Kubernetes sets only variables that register reads", () => {
  const { spec } = parse(guideBlock("yaml"));
  const names = spec.containers[0].env.map(({ name }: { name: string }) => name);
  expect(names).toHaveLength(4);
  const read = readFileSync(new URL("../js/register.ts", import.meta.url), "utf8");
  for (const name of names) expect(read).toContain(name);
});

test("Vite takes the exposed module as asc built it", async () => {
  project.build("--transform", "@warpo/heap-analyzer/asc-transform/expose");
  writeFileSync(
    join(project.folder, "index.html"),
    '<script type="module">import * as p from "./build/debug.js"; p.add(1);</script>',
  );
  const options = { target: "esnext", assetsInlineLimit: 0, outDir: "site" };
  await build({ root: project.folder, configFile: false, logLevel: "error", build: options });
  const assets = join(project.folder, "site/assets");
  const [wasm] = readdirSync(assets).filter((name) => name.endsWith(".wasm"));
  const built = readFileSync(join(project.folder, "build/debug.wasm"));
  expect(readFileSync(join(assets, wasm as string)).equals(built)).toBe(true);
  expect(built.includes("__warpo_heap_analyzer:")).toBe(true);
});
