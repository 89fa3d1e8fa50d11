// The frames of a trap on the page of a report and of the explorer, which have the overview in common.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openHeapFile } from "../../dist/index.js";
import { findChromium, startChromium } from "./chromium.ts";

const SAMPLES = join(import.meta.dirname, "../programs/coredump");
const COMMAND_LINE = join(import.meta.dirname, "../../dist/heap_analyzer/cli.js");
const [CORE, DUMP, WASM] = ["as.debug.core", "ref.debug.dump.gz", "prog.debug.wasm"].map((name) =>
  join(SAMPLES, name),
) as [string, string, string];
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

describe.skipIf(findChromium() === undefined)("the frames of a trap", () => {
  const folder = mkdtempSync(join(tmpdir(), "trap-"));
  let browser: Browser;
  beforeAll(async () => {
    browser = await startChromium();
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true });
  });

  /** The lines of the list on the overview. */
  async function frames(url: string): Promise<string[]> {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(url);
    await page.waitForSelector(".figures");
    await page.evaluate(AXE);
    const violations = await page.evaluate(
      "axe.run().then(({ violations }) => violations.map(({ id }) => id))",
    );
    expect(violations).toEqual([]);
    const lines = await page.locator("ol.trap li").allTextContents();
    await context.close();
    return lines;
  }

  const FRAMES = [77, 86, 86, 86].map((byte) => `prog/fail (function 129, byte ${byte})`);

  test.each([
    ["a coredump", CORE, FRAMES],
    ["a dump, which has none", DUMP, []],
  ])("are on the page of a report of %s", async (_, file, expected) => {
    const heap = openHeapFile(file, WASM);
    const report = join(folder, "report.html");
    writeFileSync(report, heap.report());
    heap.close();
    expect(await frames(`${pathToFileURL(report)}#overview`)).toEqual(expected);
  });

  test("are on the page of the explorer", async () => {
    const args = [COMMAND_LINE, "open", CORE, "--wasm", WASM, "--no-browser"];
    const child = spawn(process.execPath, args);
    try {
      const url = await new Promise<string>((resolve) =>
        child.stdout.once("data", (text) => resolve(String(text).trim())),
      );
      expect(await frames(`${url}#overview`)).toEqual(FRAMES);
    } finally {
      child.kill();
    }
  });
});
