// Exports in the tools that people open them with, in a real Chromium: its own DevTools, and speedscope. The
// pictures of the guide's pages are taken here, into `build/pictures`.

import { createWriteStream, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { captureDump } from "../../dist/capture.js";
import { openHeap } from "../../dist/index.js";
import type { Heap } from "../../index.js";
import { leakyServer, type ServerExports, startServer } from "../support/leaky_server.ts";
import { findChromium, serve, startChromium } from "./chromium.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const PICTURES = join(ROOT, "build/pictures");

const missing = findChromium() === undefined ? "there is no Chromium" : undefined;
if (missing) console.warn(`tests of exports in a browser are skipped: ${missing}`);

describe.skipIf(missing)("in Chromium", () => {
  let before: Heap;
  let after: Heap;
  let folder: string;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    // As the demo does.
    const wasm = new Uint8Array(readFileSync((await leakyServer()).wasm));
    const exports = (await startServer(wasm)) as unknown as ServerExports & WebAssembly.Exports;
    const [earlier, later] = [400, 2000].map((requests) => {
      exports.serve(requests);
      exports.__collect();
      return openHeap(captureDump(exports), wasm);
    });
    before = earlier as Heap;
    after = later as Heap;
    folder = mkdtempSync(join(tmpdir(), "heap-analyzer-browser-"));
    mkdirSync(PICTURES, { recursive: true });
    browser = await startChromium();
  });

  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  beforeEach(async () => {
    page = await browser.newPage({ viewport: { width: 1100, height: 560 } });
  });

  afterEach(async () => {
    await page.close();
  });

  /** Writes an export to a file of this name. */
  async function save(heap: Heap, format: "heapsnapshot" | "pprof", name: string): Promise<string> {
    const file = join(folder, name);
    await pipeline(heap.export(format as "pprof"), createWriteStream(file));
    return file;
  }

  const takePicture = (name: string, height = 560) =>
    page.screenshot({
      path: join(PICTURES, `${name}.png`),
      clip: { x: 0, y: 0, width: 1100, height },
    });

  describe("DevTools", () => {
    const rows = () => page.locator("tr.data-grid-data-grid-node");

    /** The cells of each row, as text. */
    async function table(): Promise<string[]> {
      const cells = await rows().evaluateAll((rows) =>
        rows.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent ?? "")),
      );
      const plain = (cell: string) =>
        cell
          .replace(/\d+\s*%$/, "")
          .replaceAll(/\s+/g, " ")
          .trim();
      return cells.map((row) => row.map(plain).join(" | "));
    }

    /** Loads a file in the Memory panel, as a user does, and selects it. */
    async function loadProfile(file: string, name: string): Promise<void> {
      const chooser = page.waitForEvent("filechooser");
      await page.getByRole("button", { name: "Load profile" }).first().click();
      await (await chooser).setFiles(file);
      // Its size appears when it is loaded.
      const item = page.getByRole("treeitem").filter({ hasText: new RegExp(`^${name}.*kB`, "s") });
      await item.click();
    }

    /** As DevTools shows sizes. */
    const kilobytes = (bytes: number) =>
      bytes < 100_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${Math.round(bytes / 1000)} kB`;

    beforeEach(async () => {
      await page.goto("devtools://devtools/bundled/js_app.html?panel=heap-profiler");
      await loadProfile(await save(before, "heapsnapshot", "before.heapsnapshot"), "before");
      await loadProfile(await save(after, "heapsnapshot", "after.heapsnapshot"), "after");
      await expect.poll(() => rows().count()).toBeGreaterThan(5);
    });

    test("shows classes, the fields of an object, and what retains it", async () => {
      const expected = after.constructors().constructors.map((row) => {
        const name = row.className === "~lib/string/String" ? "(string)" : row.className;
        const count = row.count > 1 ? `×${row.count.toLocaleString("en")}` : "";
        const sizes = [row.totalShallowSize, row.retainedSetSize ?? 0].map(kilobytes);
        return [name + count, ...sizes].join(" | ");
      });
      const withoutDistance = (row: string) => row.replace(/ \| \d+ \|/, " |").replace(" ×", "×");
      const shown = (await table()).map((row) => withoutDistance(row).replace(/ \| $/, ""));
      expect(shown.sort()).toEqual(expected.sort());

      await rows().filter({ hasText: "assembly/server/PriceListener" }).last().click();
      await page.keyboard.press("ArrowRight");
      await expect.poll(() => rows().filter({ hasText: /@\d/ }).count()).toBeGreaterThan(5);
      await page.keyboard.press("ArrowDown");
      const [feed] = after.find({ class: "*/PriceFeed" }).objects;
      const retainer = `listenersinassembly/server/PriceFeed@${(feed?.address ?? 0) + 1} | 3 |`;
      const retainers = async () => (await table()).filter((row) => row.startsWith(retainer));
      await expect.poll(retainers).toHaveLength(1);
      await takePicture("devtools-summary");
    });

    test("compares two exports", async () => {
      await page.locator("select").first().selectOption({ label: "Comparison" });
      const changes = after
        .compareWith(before)
        .constructors.map((row) => [
          row.className === "~lib/string/String" ? "(string)" : row.className,
          String(row.newCount),
          String(row.deletedCount),
        ]);
      const changesIn = (row: string) => {
        const [name, ...counts] = row.split(" | ").slice(0, 3);
        return [name, ...counts.map((count) => count.replaceAll(/\D/g, ""))];
      };
      const shown = async () => (await table()).map(changesIn);
      await expect.poll(async () => (await shown()).sort()).toEqual(changes.sort());
      await takePicture("devtools-comparison", 240);
    });
  });

  test("speedscope shows the profile, class by class", async () => {
    const server = await serve(join(ROOT, "node_modules/speedscope/dist/release"));
    const errors: string[] = [];
    page.on("pageerror", ({ message }) => errors.push(message));
    await page.goto(`${server.url}/index.html`);
    const file = await save(after, "pprof", "after.pb.gz");
    await page.locator("input[type=file]").setInputFiles(file);
    await page.getByText("Sandwich").waitFor();
    await page.keyboard.press("2");
    await page.waitForTimeout(500);
    await takePicture("speedscope", 260);
    await page.keyboard.press("3");
    await page.getByText("Symbol Name").waitFor();
    const text = ((await page.locator("body").textContent()) ?? "").replaceAll(/\s+/g, " ");
    for (const { className, totalShallowSize } of after.constructors().constructors) {
      const kib = `${(totalShallowSize / 1024).toFixed(2)} KB`;
      const size = totalShallowSize < 1024 ? `${totalShallowSize} B` : kib;
      expect(text).toContain(`${size} (`);
      expect(text).toContain(className);
    }
    expect(errors).toEqual([]);
    server.close();
  });
});
