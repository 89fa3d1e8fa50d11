/**
 * What the readers of heap snapshots need for a file: `node build/bench/consumers.js <file.heapsnapshot>` prints the
 * time that the analyzer, DevTools' code, Chromium's DevTools and memlab take, where they are installed, and the
 * largest memory of each process. `write_snapshot.ts` writes files of any size.
 */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { chromium } from "playwright-core";
import {
  bundleDevTools,
  type Reading,
  readByAnalyzer,
  readByDevTools,
  readByMemlab,
} from "./readers.js";

const LIMIT = 600_000;

/** In a browser, where the table must appear as well. */
async function readByChromium(file: string): Promise<string> {
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  const browser = await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-gpu"],
  });
  try {
    const page = await browser.newPage();
    await page.goto("devtools://devtools/bundled/js_app.html?panel=heap-profiler");
    const chooser = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Load profile" }).first().click();
    const begin = performance.now();
    await (await chooser).setFiles(file);
    // Its size appears when it is loaded; then the table is made.
    const item = page.getByRole("treeitem").filter({ hasText: /[kMG]B\)/ });
    await item.click({ timeout: LIMIT });
    await page.locator("tr.data-grid-data-grid-node").nth(2).waitFor({ timeout: LIMIT });
    return `${((performance.now() - begin) / 1000).toFixed(1)} s`;
  } finally {
    await browser.close();
  }
}

function shown({ seconds, cpuSeconds, peakBytes }: Reading): string {
  return `${seconds.toFixed(2)} s, ${cpuSeconds.toFixed(2)} s of CPU time, ${(peakBytes / 2 ** 20).toFixed(0)} MiB`;
}

async function main([file]: string[]): Promise<void> {
  if (file === undefined) throw new Error("usage: consumers <file.heapsnapshot>");
  const path = resolve(file);
  console.log(`${file}: ${(statSync(path).size / 1e6).toFixed(0)} MB`);
  bundleDevTools();
  for (const [name, read] of [
    ["heap-analyzer", () => shown(readByAnalyzer(path))],
    ["DevTools' code", () => shown(readByDevTools(path))],
    ["DevTools in Chromium", () => readByChromium(path)],
    ["memlab", () => shown(readByMemlab(path))],
  ] as const) {
    try {
      console.log(`${name}: ${await read()}`);
    } catch (error) {
      console.log(`${name}: not loaded: ${(error as Error).message.split("\n", 1)[0]}`);
    }
  }
}

main(process.argv.slice(2));
