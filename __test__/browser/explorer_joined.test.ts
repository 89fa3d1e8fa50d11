// The explorer in a real Chromium on a dump with the heap snapshot of its host. `PICTURES=<folder>` writes what it looks like.

import type { ChildProcess } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startOpen } from "../support/open_explorer.ts";
import { findChromium, startChromium } from "./chromium.ts";

const SAMPLES = join(import.meta.dirname, "../samples/border");
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const missing = findChromium() === undefined ? "there is no Chromium" : undefined;
if (missing) console.warn(`tests of the explorer on two heaps are skipped: ${missing}`);

describe.skipIf(missing)("the explorer on two heaps", () => {
  let folder: string;
  let truth: Record<string, number[]>;
  let browser: Browser;
  let url: URL;
  let child: ChildProcess;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "explorer-joined-"));
    const unpacked = (name: string) => gunzipSync(readFileSync(join(SAMPLES, `${name}.gz`)));
    for (const name of ["tickets.dump.gz", "tickets.heapsnapshot.zst", "tickets.numbers.json.gz"]) {
      copyFileSync(join(SAMPLES, name), join(folder, name));
    }
    writeFileSync(join(folder, "app.wasm"), unpacked("program.wasm"));
    truth = JSON.parse(unpacked("tickets.truth.json").toString());
    // Who pinned the first lost object.
    const { dumpSize, dumpSha256 } = JSON.parse(unpacked("tickets.numbers.json").toString());
    const pins = [[truth.lost?.[0], 0]];
    const stacks = [["open (file:///app/tickets.mjs:12:38)", "serve (file:///app/app.mjs:40:5)"]];
    const format = "warpo-heap-analyzer handles 1";
    const handles = { format, dumpSize, dumpSha256, stacks, pins };
    writeFileSync(join(folder, "pins.json"), JSON.stringify(handles));
    const named = (option: string, name: string) => [option, join(folder, name)];
    ({ url, child } = await startOpen([
      join(folder, "tickets.dump.gz"),
      ...named("--wasm", "app.wasm"),
      ...named("--host", "tickets.heapsnapshot.zst"),
      ...named("--handles", "pins.json"),
    ]));
    browser = await startChromium();
  });
  afterAll(async () => {
    child?.kill();
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** An address of a group of objects, by the start of its name. */
  function addressOf(kind: string): string {
    const name = Object.keys(truth).find((key) => key.startsWith(kind)) as string;
    const address = truth[name]?.[0] ?? 0;
    return `0x${address.toString(16)}`;
  }

  async function picture(page: Page, name: string): Promise<void> {
    const pictures = process.env.PICTURES;
    if (pictures === undefined) return;
    await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
  }

  async function expectNoViolation(page: Page): Promise<void> {
    await page.evaluate(AXE);
    const { violations } = (await page.evaluate("axe.run()")) as {
      violations: { id: string; nodes: { html: string }[] }[];
    };
    expect(violations.map(({ id, nodes }) => `${id} ${nodes[0]?.html}`)).toEqual([]);
    const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
    expect(overflow).toBeLessThanOrEqual(0);
  }

  test.each(["light", "dark"] as const)(
    "in %s colours, a leak is followed from the page to the line of JavaScript",
    async (colorScheme) => {
      const viewport = { width: 1440, height: 900 };
      const context = await browser.newContext({ viewport, colorScheme });
      const page = await context.newPage();
      const messages: string[] = [];
      page.on("console", (message) => messages.push(message.text()));
      page.on("pageerror", (error) => messages.push(error.message));
      await page.goto(`${url}#overview?object=${addressOf("T1")}`);
      const pane = page.locator(".pane");
      await pane.locator(".path .evidence.derived").waitFor();
      expect(await page.locator(".top").textContent()).toMatch(
        /[\d.]+ MiB of JavaScript and [\d.]+ KiB of wasm live/,
      );
      expect(await pane.locator(".path").textContent()).toMatch(
        /handle \(derived: 40 of 40 values\)\s*String/,
      );
      expect(await pane.locator(".facts").textContent()).toContain("Retained of JavaScript0 B");
      expect(await pane.locator(".facts").textContent()).toContain("Retained of wasm48 B");
      await expectNoViolation(page);
      await picture(page, `held-${colorScheme}`);
      // The colours are of one style sheet: the other pages are looked at in one theme.
      if (colorScheme === "dark" && process.env.PICTURES === undefined)
        return await context.close();

      // The holder is an object of JavaScript, whose pane shows what it keeps alive in the other heap.
      await pane.locator(".path a.address").filter({ hasText: "@" }).last().click();
      await pane.locator("h2").filter({ hasText: "Ticket" }).waitFor();
      expect(await pane.locator(".facts").textContent()).toContain("Retained of wasm48 B");

      // What is lost has no holder: the page says so, what it may be, and who pinned it.
      await page.goto(`${url}#overview?object=${addressOf("lost")}`);
      await pane.getByText("Possible holders").waitFor();
      await pane.getByText("open (file:///app/tickets.mjs:12:38)").waitFor();
      expect(await pane.locator(".path").textContent()).toMatch(/pinned \(possible: \d+ slots?\)/);
      await expectNoViolation(page);
      await picture(page, `lost-${colorScheme}`);

      // Lists and pictures.
      await page.goto(`${url}#class?name=Ticket`);
      const rows = page.locator(".rows .row");
      await rows.filter({ hasText: "40 B of JavaScript and 48 B of wasm" }).first().waitFor();
      await picture(page, `class-${colorScheme}`);
      await page.goto(`${url}#dominators`);
      await page.locator(".parts tbody tr").first().waitFor();
      expect(await page.locator(".about .facts").textContent()).toMatch(
        /JavaScript and .* of wasm/,
      );
      await expectNoViolation(page);
      await picture(page, `dominators-${colorScheme}`);
      // Pages that this heap does not have say so.
      for (const name of ["waste", "unreachable"]) {
        await page.goto(`${url}#${name}`);
        await page.getByText(`This heap has no page “${name}”`).waitFor();
      }
      expect(messages).toEqual([]);
      await context.close();
    },
  );

  test("on a narrow page nothing overflows", async () => {
    const context = await browser.newContext({ viewport: { width: 390, height: 800 } });
    const page = await context.newPage();
    for (const route of ["#overview", "#classes", "#class?name=Ticket", "#dominators"]) {
      await page.goto(`${url}${route}`);
      await page.locator("h1").waitFor();
      await page.locator("[aria-busy]").first().waitFor({ state: "detached" });
      const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
      expect(overflow, route).toBeLessThanOrEqual(0);
      await picture(page, `narrow-${route.slice(1, 6)}`);
    }
    await context.close();
  });
});
