/**
 * Opens a report in Chromium and acts as a reader does: `node build/bench/report_page.js <report.html>` prints as JSON
 * how many seconds that took.
 */
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

/** The browser. */
export const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** Whether there is a browser to open reports in. */
export function hasChromium(): boolean {
  return existsSync(CHROMIUM);
}

/** Seconds. */
export interface PageTimes {
  /** From the request for the file until it is loaded, with its first page. */
  open: number;
  /** Of each page, each step in the icicle, and each letter of a filter: until the next frame is drawn. */
  actions: { action: string; seconds: number }[];
}

async function main([file]: string[]): Promise<void> {
  if (file === undefined) throw new Error("usage: report_page <report.html>");
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
  });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.goto(pathToFileURL(file).href);
    await page.waitForSelector("main h1");
    const open = await page.evaluate(() => {
      const [load] = performance.getEntriesByType("navigation");
      return (load as PerformanceNavigationTiming).loadEventEnd / 1000;
    });
    const actions = await page.evaluate(act);
    console.log(JSON.stringify({ open, actions } satisfies PageTimes));
  } finally {
    await browser.close();
  }
}

/** In the page. It refers to nothing outside of itself. */
async function act(): Promise<PageTimes["actions"]> {
  const actions: PageTimes["actions"] = [];
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const measure = async (action: string, work: () => void) => {
    // From the start of a frame on, so that waiting for one is not counted.
    await frame();
    const begin = performance.now();
    work();
    await frame();
    // A task after the frame's callbacks runs when the frame is drawn.
    await new Promise<void>((done) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => done();
      port2.postMessage(null);
    });
    actions.push({ action, seconds: (performance.now() - begin) / 1000 });
  };
  const links = Array.from(document.querySelectorAll<HTMLAnchorElement>("nav.pages a"));
  for (const link of links) await measure(link.textContent ?? "", () => link.click());
  const show = (hash: string) => links.find((link) => link.hash.startsWith(hash))?.click();
  const shown = new Set<string>();
  show("#dominators");
  await frame();
  for (const key of [
    "ArrowDown",
    "ArrowRight",
    "ArrowDown",
    "Enter",
    "ArrowDown",
    "Enter",
    "Escape",
  ]) {
    const canvas = document.querySelector("main canvas");
    if (canvas === null) throw new Error("the page of dominators has no canvas");
    const event = new KeyboardEvent("keydown", { key, bubbles: true });
    await measure(`${key} in the icicle`, () => canvas.dispatchEvent(event));
    shown.add(location.hash);
  }
  if (shown.size < 3) throw new Error("the keys selected nothing in the icicle");
  show("#classes");
  await frame();
  const input = document.querySelector<HTMLInputElement>("#class-filter");
  if (input === null) throw new Error("the page of classes has no filter");
  for (const text of ["a", "as", ""]) {
    input.value = text;
    await measure("the filter of classes", () => input.dispatchEvent(new Event("input")));
  }
  return actions;
}

if (require.main === module) void main(process.argv.slice(2));
