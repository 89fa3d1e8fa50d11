// The button of the explorer that takes a dump of a running program, in a real Chromium.

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inspectedProgram } from "../support/inspected_program.ts";
import { startOpen } from "../support/open_explorer.ts";
import { findChromium, startChromium } from "./chromium.ts";

const missing = findChromium() === undefined ? "there is no Chromium" : undefined;
if (missing) console.warn(`tests of the explorer's button are skipped: ${missing}`);

describe.skipIf(missing)("the page of a running program", () => {
  let folder: string;
  let kept: string;
  let program: ChildProcess;
  let explorer: ChildProcess;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "explorer-attach-"));
    kept = join(folder, "kept");
    const running = await inspectedProgram(folder, "--debug");
    program = running.child;
    const opened = await startOpen(["--attach", running.url, "--folder", kept]);
    explorer = opened.child;
    browser = await startChromium();
    page = await browser.newPage();
    await page.goto(opened.url.href);
    await page.locator(".top .name", { hasText: "watch-000001.dump" }).waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    program?.kill("SIGKILL");
    explorer?.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });

  /** How many sessions the page lists. */
  async function sessions(): Promise<number> {
    await page.getByRole("link", { name: "Classes" }).click();
    const row = page.getByRole("row").filter({ hasText: "/Session" }).filter({ hasNotText: "<" });
    return Number(await row.getByRole("cell").first().textContent());
  }

  test("a press takes a dump of the program as it is now, which is compared with the first", async () => {
    expect(await sessions()).toBe(3);
    program.stdin?.write("20\n");
    await once(program.stdout as NodeJS.ReadableStream, "data");
    // Nothing is taken before the press.
    expect(readdirSync(kept).filter((name) => name.endsWith(".dump"))).toHaveLength(1);
    await page.getByRole("button", { name: "Take a dump" }).click();
    await page.getByText("A new dump: watch-000002.dump.").waitFor();
    expect(await sessions()).toBe(3);
    await page.getByRole("button", { name: "Show it" }).click();
    await page.locator(".top .name", { hasText: "watch-000002.dump" }).waitFor();
    expect(await sessions()).toBe(23);
    await page.getByRole("link", { name: "Comparison" }).click();
    const row = page.getByRole("row").filter({ hasText: "/Session" }).filter({ hasNotText: "<" });
    await row.getByRole("link", { name: "20", exact: true }).waitFor();
  });

  test("after the end of the program a press says that there is no dump, and the page goes on", async () => {
    const ended = once(program, "exit");
    program.kill("SIGKILL");
    await ended;
    await page.getByRole("button", { name: "Take a dump" }).click();
    await page.getByText("No dump: ").waitFor();
    expect(await page.getByRole("button", { name: "Take a dump" }).isEnabled()).toBe(true);
    expect(await sessions()).toBe(23);
  });
});
