// The page with the engine inside, in a real Chromium: what it answers is what the addon answers, and nothing leaves it.

import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { captureDump, exposeGlobals } from "../../dist/capture.js";
import { openHeap, openHeapFile } from "../../dist/index.js";
import * as format from "../../js/report/format.ts";
import { runCompiler } from "../support/compile.ts";
import { findChromium, startChromium } from "./chromium.ts";

const PAGE = join(import.meta.dirname, "../../dist/app.html");
const PROGRAMS = join(import.meta.dirname, "../programs");
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const missing =
  findChromium() === undefined
    ? "there is no Chromium"
    : existsSync(PAGE)
      ? undefined
      : "there is no dist/app.html: npm run build:app makes it";
if (missing) console.warn(`tests of the page with the engine are skipped: ${missing}`);

interface Program extends WebAssembly.Exports {
  sell(first: number, count: number): void;
  __collect(): void;
}

describe.skipIf(missing)("the page with the engine inside", () => {
  const folder = mkdtempSync(join(tmpdir(), "app-"));
  const file = (name: string) => join(folder, name);
  const requests: string[] = [];
  const messages: string[] = [];
  let browser: Browser;

  beforeAll(async () => {
    const args = ["report.ts", "--debug", "--exportRuntime"];
    const { wasm } = await runCompiler(args, { baseDir: PROGRAMS, transform: true });
    const module = await WebAssembly.compile(exposeGlobals(wasm));
    const instance = await WebAssembly.instantiate(module, { env: { abort() {} } });
    const program = instance.exports as Program;
    for (const nth of [1, 2]) {
      program.sell(40 * nth, 40);
      program.__collect();
      writeFileSync(file(`shop-${nth}.dump`), captureDump(program));
    }
    writeFileSync(file("shop.wasm"), wasm);
    browser = await startChromium();
  });

  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true });
  });

  afterEach(() => {
    const connections = requests.splice(0).filter((url) => !/^(file|blob):/.test(url));
    expect(connections).toEqual([]);
    expect(messages.splice(0)).toEqual([]);
  });

  async function opened(colorScheme: "light" | "dark" = "light"): Promise<Page> {
    const page = await browser.newPage({ colorScheme });
    page.on("request", (request) => requests.push(request.url()));
    page.on("pageerror", (error) => messages.push(error.message));
    await page.goto(pathToFileURL(PAGE).href);
    return page;
  }

  async function choose(page: Page, ...names: string[]): Promise<void> {
    await page.setInputFiles("#files", names.map(file));
  }

  async function axe(page: Page): Promise<string[]> {
    await page.evaluate(AXE);
    const found = (await page.evaluate("axe.run()")) as { violations: { id: string }[] };
    return found.violations.map(({ id }) => id);
  }

  test("two dumps and their module are compared, with the numbers of the addon", async () => {
    const page = await opened();
    await choose(page, "shop-2.dump", "shop.wasm", "shop-1.dump");
    await page.waitForSelector("header.top");
    const wasm = readFileSync(file("shop.wasm"));
    const [before, after] = [1, 2].map((nth) =>
      openHeap(readFileSync(file(`shop-${nth}.dump`)), wasm),
    );
    const [small, large] = [before, after].map((heap) => heap?.summary().totalLiveSize ?? 0);
    const text = await page.textContent("main");
    expect(await page.textContent("header.top")).toContain("Heap of shop-2.dump");
    expect(text).toContain(`${format.bytes(small as number)} to ${format.bytes(large as number)}`);
    await page.getByRole("link", { name: "Classes" }).click();
    const view = after?.constructors();
    for (const { className, count } of view?.constructors ?? []) {
      const name = className.replace(/~lib\/[^<>,|()[\]=]*\/|~lib\//g, "");
      const row = page.getByRole("row").filter({ has: page.getByText(name, { exact: true }) });
      expect(await row.first().textContent(), name).toContain(format.count(count));
    }
    await page.close();
  });

  test("a heap snapshot of Node needs no module", async () => {
    const write = "require('node:v8').writeHeapSnapshot(process.argv[1])";
    execFileSync(process.execPath, ["-e", write, file("node.heapsnapshot")]);
    const page = await opened();
    await choose(page, "node.heapsnapshot");
    await page.waitForSelector("header.top", { timeout: 120_000 });
    const { totalLiveSize, objects } = openHeapFile(file("node.heapsnapshot")).summary();
    const header = await page.textContent("header.top");
    expect(header).toContain(format.bytes(totalLiveSize));
    expect(header).toContain(format.counted(objects.live, "object"));
    await page.close();
  });

  test("a dump without its module is asked for it, and then read", async () => {
    const page = await opened();
    await choose(page, "shop-1.dump");
    expect(await page.textContent(".failure")).toContain("needs the module");
    await choose(page, "shop.wasm");
    await page.waitForSelector("header.top");
    await page.close();
  });

  test("a file that is none says so, and others can be chosen", async () => {
    writeFileSync(file("notes.txt"), "no heap");
    const page = await opened();
    await choose(page, "notes.txt");
    await page.getByText("notes.txt cannot be read").waitFor();
    await page.getByRole("button", { name: "Choose other files" }).click();
    await page.getByText("Drop or choose files").waitFor();
    await page.close();
  });

  test("a file that does not fit is refused in words, with the command that reads it", async () => {
    writeFileSync(file("large.heapsnapshot"), "");
    truncateSync(file("large.heapsnapshot"), 3 * 2 ** 30);
    const page = await opened();
    await choose(page, "large.heapsnapshot");
    expect(await page.textContent(".said")).toContain(
      "3.0 GiB: a page reads files of up to 1.0 GiB",
    );
    expect(await page.textContent(".said")).toContain("open large.heapsnapshot");
    await page.close();
  });

  test.each(["light", "dark"] as const)("everyone can use it in the %s theme", async (theme) => {
    const page = await opened(theme);
    expect(await axe(page)).toEqual([]);
    await choose(page, "shop-1.dump", "shop.wasm");
    await page.waitForSelector("header.top");
    expect(await axe(page)).toEqual([]);
    await page.close();
  });
});
