// `@warpo/heap-analyzer/browser` in a real Chromium, with a project of asinit.

import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { build } from "vite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { analyze, diffFile } from "../../dist/index.js";
import { type AsinitProject, createAsinitProject, NODE } from "../support/asinit_project.ts";
import { guideBlock } from "../support/guide.ts";
import { findChromium, serve, startChromium } from "./chromium.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const CLI = join(ROOT, "dist/heap_analyzer/cli.js");
const EXPOSING_TRANSFORM = ["--transform", "@warpo/heap-analyzer/asc-transform/expose"];

const missing = findChromium() === undefined ? "there is no Chromium" : undefined;
if (missing) console.warn(`tests in a browser are skipped: ${missing}`);

test("the entry for browsers imports nothing", () => {
  const code = readFileSync(join(ROOT, "dist/browser.mjs"), "utf8");
  expect(code).not.toMatch(/^import\b|\bimport\(|\brequire\(|node:/m);
});

describe.skipIf(missing)("in Chromium", () => {
  let project: AsinitProject;
  let server: Awaited<ReturnType<typeof serve>>;
  let browser: Browser;
  let page: Page;
  let errors: string[];

  beforeAll(async () => {
    project = createAsinitProject();
    project.build(...EXPOSING_TRANSFORM);
    server = await serve(project.folder);
    browser = await startChromium();
  });

  afterAll(async () => {
    await browser?.close();
    server?.close();
    rmSync(project.folder, { recursive: true, force: true });
  });

  beforeEach(async () => {
    page = await browser.newPage();
    errors = [];
    page.on("pageerror", (error) => errors.push(error.message));
  });

  afterEach(async () => {
    await page.close();
    expect(errors).toEqual([]);
  });

  const IMPORT_MAP = `<script type="importmap">
    { "imports": { "@warpo/heap-analyzer/browser": "/node_modules/@warpo/heap-analyzer/dist/browser.mjs" } }
  </script>`;

  /** Writes a page of the project. */
  function writePage(name: string, script: string): void {
    const html = `<!DOCTYPE html>${IMPORT_MAP}<script type="module">${script}</script>`;
    writeFileSync(join(project.folder, name), html);
  }

  /** The number of nodes in a dump of a page or a worker, in base64. */
  function countNodes(dump: string, wasm = "build/debug.wasm"): number | undefined {
    const view = analyze(Buffer.from(dump, "base64"), readFileSync(join(project.folder, wasm)));
    return view.constructors.find(({ className }) => className === NODE)?.count;
  }

  /** Has a page define `result`, a text. */
  async function resultOf(name: string): Promise<string> {
    await page.goto(`${server.url}/${name}`);
    await page.waitForFunction("globalThis.result !== undefined");
    return page.evaluate("globalThis.result") as Promise<string>;
  }

  const BASE64 = `
    const base64 = (bytes) => {
      let text = "";
      for (let at = 0; at < bytes.length; at += 1024) {
        text += String.fromCharCode(...bytes.subarray(at, at + 1024));
      }
      return btoa(text);
    };`;

  test("a project of asinit is captured, analyzed and compared with three more lines", async () => {
    writePage(
      "index.html",
      `import { downloadDump } from "@warpo/heap-analyzer/browser";
       import * as guest from "./build/debug.js";
       guest.add(10);
       downloadDump(guest, "before.dump");
       guest.add(7);
       downloadDump(guest, "after.dump");`,
    );
    const downloads = new Map<string, string>();
    const complete = new Promise<void>((resolve) => {
      page.on("download", async (download) => {
        downloads.set(download.suggestedFilename(), await download.path());
        if (downloads.size === 2) resolve();
      });
    });
    await page.goto(`${server.url}/index.html`);
    await complete;
    const view = diffFile(
      downloads.get("before.dump") as string,
      downloads.get("after.dump") as string,
      join(project.folder, "build/debug.wasm"),
    );
    expect(view.constructors).toContainEqual(
      expect.objectContaining({ className: NODE, newCount: 7, deletedCount: 0 }),
    );
  });

  test("the guide's lines download a dump", async () => {
    writePage("guide.html", guideBlock("js browser"));
    const download = page.waitForEvent("download");
    await page.goto(`${server.url}/guide.html`);
    const file = await (await download).path();
    expect(readFileSync(file).subarray(0, 4).toString()).toBe("ASHD");
  });

  test("a module that the command line exposed is captured", async () => {
    project.build(
      "--transform",
      "@warpo/heap-analyzer/asc-transform",
      "--outFile",
      "plain/debug.wasm",
    );
    const wasm = join(project.folder, "plain/debug.wasm");
    execFileSync(process.execPath, [CLI, "expose", wasm, "--output", wasm]);
    writePage(
      "plain.html",
      `import { captureDump } from "@warpo/heap-analyzer/browser";
       import * as guest from "./plain/debug.js";
       ${BASE64}
       guest.add(4);
       globalThis.result = base64(captureDump(guest));`,
    );
    expect(countNodes(await resultOf("plain.html"), "plain/debug.wasm")).toBe(4);
  });

  test("an instance in a worker is captured there", async () => {
    writeFileSync(
      join(project.folder, "worker.js"),
      `import { captureDump, downloadDump } from "/node_modules/@warpo/heap-analyzer/dist/browser.mjs";
       const guest = await import("./build/debug.js");
       ${BASE64}
       guest.add(5);
       let code;
       try { downloadDump(guest); } catch (error) { code = error.code; }
       postMessage(code + " " + base64(captureDump(guest.memory)));`,
    );
    writePage(
      "worker.html",
      `const worker = new Worker("/worker.js", { type: "module" });
       worker.onmessage = ({ data }) => { globalThis.result = data; };`,
    );
    const [code, dump = ""] = (await resultOf("worker.html")).split(" ");
    expect(code).toBe("ERR_NO_DOCUMENT");
    expect(countNodes(dump)).toBe(5);
  });

  test("exports, instances and streamed modules are captured", async () => {
    writePage(
      "raw.html",
      `import { captureDump } from "@warpo/heap-analyzer/browser";
       const imports = { env: { abort() {} } };
       const bytes = await (await fetch("/build/debug.wasm")).arrayBuffer();
       const module = new WebAssembly.Module(bytes);
       const found = [
         new WebAssembly.Instance(module, imports),
         await WebAssembly.instantiate(module, imports),
         (await WebAssembly.instantiate(bytes, imports)).instance,
         (await WebAssembly.instantiateStreaming(fetch("/build/debug.wasm"), imports)).instance,
       ];
       globalThis.result = String(found.flatMap((instance) => [
         captureDump(instance).length > 65536,
         captureDump(instance.exports).length > 65536,
         Object.keys(instance.exports).some((name) => name.includes(":")),
       ]));`,
    );
    const expected = Array(4).fill([true, true, false]).flat();
    expect(await resultOf("raw.html")).toBe(String(expected));
  });

  test("a module that was not exposed is refused with advice", async () => {
    project.build("--outFile", "unexposed/debug.wasm");
    writePage(
      "unexposed.html",
      `import { captureDump } from "@warpo/heap-analyzer/browser";
       import * as guest from "./unexposed/debug.js";
       try { captureDump(guest); } catch (error) { globalThis.result = error.message; }`,
    );
    const message = await resultOf("unexposed.html");
    expect(message).toContain(
      "expose them when you build the module, with `warpo-heap-analyzer expose`",
    );
  });

  test("a project that a bundler built is captured", async () => {
    writeFileSync(
      join(project.folder, "bundled.html"),
      `<!DOCTYPE html><script type="module">
        import { captureDump } from "@warpo/heap-analyzer/browser";
        import * as guest from "./build/debug.js";
        ${BASE64}
        guest.add(6);
        globalThis.result = base64(captureDump(guest));
      </script>`,
    );
    await build({
      root: project.folder,
      configFile: false,
      logLevel: "silent",
      build: {
        target: "es2022",
        outDir: "bundle",
        rollupOptions: { input: join(project.folder, "bundled.html") },
      },
    });
    const bundle = await serve(join(project.folder, "bundle"));
    try {
      await page.goto(`${bundle.url}/bundled.html`);
      await page.waitForFunction("globalThis.result !== undefined");
      expect(countNodes((await page.evaluate("globalThis.result")) as string)).toBe(6);
    } finally {
      bundle.close();
    }
  });
});
