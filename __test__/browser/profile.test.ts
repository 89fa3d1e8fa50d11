// Profiles of a running program in speedscope, in a real Chromium.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { captureDump, exposeGlobals } from "../../dist/capture.js";
import { createProfiler, instrument } from "../../dist/profile.js";
import { outputOf, runIn } from "../support/command_line.ts";
import { leakyServer, type ServerExports } from "../support/leaky_server.ts";
import { findChromium, serve, startChromium } from "./chromium.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const missing = findChromium() === undefined ? "there is no Chromium" : undefined;
if (missing) console.warn(`tests of profiles in speedscope are skipped: ${missing}`);

describe.skipIf(missing)("speedscope in Chromium", () => {
  let folder: string;
  let browser: Browser;
  let server: Awaited<ReturnType<typeof serve>>;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "heap-analyzer-speedscope-"));
    const file = (name: string) => join(folder, name);
    const wasm = new Uint8Array(readFileSync((await leakyServer()).wasm));
    const program = instrument(wasm);
    const profiler = createProfiler(program, { interval: 1 });
    const { instance } = await WebAssembly.instantiate(exposeGlobals(program.wasm), {
      env: {
        abort: () => {
          throw new Error("the program aborted");
        },
      },
      ...profiler.imports,
    });
    profiler.attach(instance.exports);
    const { serve: answer, __collect } = instance.exports as unknown as ServerExports;
    writeFileSync(file("cpu.pb.gz"), await profiler.cpuProfile({ work: () => answer(2000) }));
    __collect();
    writeFileSync(file("heap.pb.gz"), profiler.heapProfile());
    writeFileSync(file("allocs.pb.gz"), profiler.allocationProfile());
    writeFileSync(file("server.dump"), captureDump(instance.exports));
    writeFileSync(file("server.wasm"), wasm);
    const args = ["server.dump", "--wasm", "server.wasm", "--profile", "heap.pb.gz"];
    outputOf(runIn(folder, ["sites", ...args, "--format", "pprof", "-o", "sites.pb.gz"]));
    browser = await startChromium();
    server = await serve(join(ROOT, "node_modules/speedscope/dist/release"));
  });

  afterAll(async () => {
    server?.close();
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test.each([
    ["heap.pb.gz", "PriceListener#constructor"],
    ["allocs.pb.gz", "PriceListener#constructor"],
    ["cpu.pb.gz", "PriceFeed#publish"],
    ["sites.pb.gz", "PriceListener#constructor"],
  ])("%s is read, and names the function", async (name, function_) => {
    // The page makes only the rows that are in view. All rows fit into this one.
    const page = await browser.newPage({ viewport: { width: 1100, height: 4000 } });
    const errors: string[] = [];
    page.on("pageerror", ({ message }) => errors.push(message));
    await page.goto(`${server.url}/index.html`);
    await page.locator("input[type=file]").setInputFiles(join(folder, name));
    await page.getByText("Sandwich").waitFor();
    await page.keyboard.press("3");
    await page.getByText("Symbol Name").waitFor();

    await page.locator("tr", { hasText: function_ }).first().waitFor();
    expect(errors).toEqual([]);
    await page.close();
  });
});
