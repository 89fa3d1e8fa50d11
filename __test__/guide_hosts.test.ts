// The guide's lines for each host, run as they are written.

import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
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
