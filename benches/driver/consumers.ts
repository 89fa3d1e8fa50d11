/**
 * What the tools that exports are for need to load one: `node build/bench/consumers.js <file.heapsnapshot>`
 * prints the seconds that memlab and Chromium's own DevTools take, where they are installed, and the most
 * memory that the tool had. Not part of a run of the benchmark: it takes minutes.
 */
import { statSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { chromium } from "playwright-core";
import { runNode } from "./processes.js";

const MEMLAB = resolve(__dirname, "../../__test__/memlab/package.json");
const LIMIT = 600_000;

const MEMLAB_SCRIPT = `
  const { analysis, config, utils } = require(process.argv[1]);
  config.muteConsole = true;
  utils.getSnapshotFromFile(process.argv[2], {}).then((heap) => analysis.preparePathFinder(heap));`;

function memlab(file: string): string {
  const core = createRequire(MEMLAB).resolve("@memlab/core");
  const { seconds, peakBytes } = runNode([
    "--max-old-space-size=16000",
    "--eval",
    MEMLAB_SCRIPT,
    core,
    file,
  ]);
  return `${seconds.toFixed(1)} s, ${(peakBytes / 2 ** 20).toFixed(0)} MiB`;
}

async function devTools(file: string): Promise<string> {
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

async function main([file]: string[]): Promise<void> {
  if (file === undefined) throw new Error("usage: consumers <file.heapsnapshot>");
  const path = resolve(file);
  console.log(`${file}: ${(statSync(path).size / 1e6).toFixed(0)} MB`);
  for (const [name, load] of [
    ["DevTools", devTools],
    ["memlab", memlab],
  ] as const) {
    try {
      console.log(`${name}: ${await load(path)}`);
    } catch (error) {
      console.log(`${name}: not loaded: ${(error as Error).message.split("\n", 1)[0]}`);
    }
  }
}

main(process.argv.slice(2));
