// The page "Where" of the explorer, in a real Chromium.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HOSTILE_EXPRESSIONS } from "../support/hostile_expressions.ts";
import { sessionsFolder } from "../support/sessions.ts";
import { findChromium, startChromium } from "./chromium.ts";

const CLI = join(import.meta.dirname, "../../dist/heap_analyzer/cli.js");

describe.skipIf(findChromium() === undefined)("the page Where", () => {
  let folder: string;
  let child: ChildProcess;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    folder = await sessionsFolder();
    const args = [CLI, "open", "app.dump", "--wasm", "app.wasm", "--no-browser"];
    child = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
    const [line] = (await once(lines, "line")) as [string];
    browser = await startChromium();
    page = await browser.newPage();
    await page.goto(line);
    await page.getByRole("link", { name: "Where" }).click();
  });
  afterAll(async () => {
    await browser?.close();
    child?.kill("SIGKILL");
    rmSync(folder, { recursive: true });
  });

  async function find(asked: Record<string, string>): Promise<void> {
    for (const label of ["Class", "Condition", "Group by"]) {
      await page.getByLabel(label, { exact: true }).fill(asked[label] ?? "");
    }
    await page.getByRole("button", { name: "Find" }).click();
  }

  test("it says how many sessions are not open, and which keys are not in the array", async () => {
    await find({ Class: "*/Session", Condition: "open == false" });
    await page.getByText("100 objects,").waitFor();
    await find({ Class: "*/Plate", Condition: "!(this.key in plateOrder)" });
    await page.getByText("3 objects,").waitFor();
    await page.getByText("{key: 107}").waitFor();
    expect(new URL(page.url()).hash).toContain("where?class=");
  });

  test("groups, what is not counted, and errors with their place are shown", async () => {
    await find({ Class: "*/Session", "Group by": "open" });
    await page.getByText("true", { exact: true }).waitFor();
    await find({ Condition: "open == false" });
    await page.getByText("without a field of the condition").waitFor();
    await find({ Condition: "opne == false" });
    await page.getByText("character 1: found opne").waitFor();
  });

  test("hostile expressions are errors that are shown, and the page goes on", async () => {
    for (const Condition of HOSTILE_EXPRESSIONS) {
      await find({ Condition });
      const error = page.getByText(/option where, character|4096|4,096/);
      await error.first().waitFor({ timeout: 20_000 });
      await find({ Class: "*/Session", Condition: "open == false" });
      await page.getByText("100 objects,").waitFor();
    }
  });
});
