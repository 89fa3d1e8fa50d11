/**
 * Opens the explorer in Chromium and acts as a reader does: `node build/bench/explorer.js <dump> <wasm> <before>` prints
 * as JSON what each action took.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { type Browser, chromium, type Page } from "playwright-core";
import { CHROMIUM } from "./report_page.js";

/** An action. Times are in seconds. */
export interface ExplorerAction {
  action: string;
  /** Until the page has drawn the first change: what was asked for, or that it is being looked for. */
  sign: number;
  /** Until all of it is drawn. */
  whole: number;
  /** Whether the analyzer has to look at every object for it. */
  isPass: boolean;
}

export interface ExplorerTimes {
  /** Seconds from the start of the command to its address, from there to the first sign, and to the overview. */
  address: number;
  sign: number;
  overview: number;
  actions: ExplorerAction[];
  /** Scrolling from the first to the last row: frames, and those of them in which a part of the list had no row. */
  scroll: { rows: number; frames: number; blank: number; whole: number };
  /** Bytes that belong to the process of the page alone, and those of its JavaScript heap. */
  memory: number;
  heap: number;
}

/** What is pressed, and what shows that its answer is there. */
interface Step {
  action: string;
  /** A selector, and a part of the text of the element. */
  press: string;
  text?: string;
  /** A selector. */
  done: string;
  isPass?: boolean;
}

const PAGES: Step[] = [
  { action: "Classes", press: "nav.pages a", text: "Classes", done: "#class-filter" },
  { action: "Dominators", press: "nav.pages a", text: "Dominators", done: "main canvas" },
  { action: "Comparison", press: "nav.pages a", text: "Comparison", done: "main table" },
  { action: "Where", press: "nav.pages a", text: "Where", done: "#where-where" },
  { action: "Waste", press: "nav.pages a", text: "Waste", done: "main table" },
  { action: "Unreachable", press: "nav.pages a", text: "Unreachable", done: "main p" },
  { action: "Overview", press: "nav.pages a", text: "Overview", done: ".suspects" },
];

/** From a class to an object and around it. */
const OBJECTS: Step[] = [
  {
    action: "the objects of a class",
    press: "main table a",
    text: "OrderLine",
    done: ".rows a.address",
    isPass: true,
  },
  {
    action: "sort by shallow size",
    press: ".row.head button",
    text: "Shallow",
    done: ".rows a.address",
    isPass: true,
  },
  {
    action: "sort by address",
    press: ".row.head button",
    text: "Object",
    done: ".rows a.address",
    isPass: true,
  },
  { action: "an object", press: ".rows a.address", done: ".pane .path" },
  {
    action: "what only it keeps alive",
    press: ".pane summary",
    text: "What only it keeps alive",
    done: ".pane details[open] > div > *",
  },
  {
    action: "its neighbourhood",
    press: ".pane summary",
    text: "Neighbourhood",
    done: ".pane .graph .node",
  },
  { action: "what refers to it", press: ".pane .path a.address", done: ".pane .path" },
];

/** Conditions of the page Where. */
const CONDITIONS = [
  { action: "a number in a class", class: "*OrderLine", where: "quantity > 4" },
  { action: "a reference in a class", class: "*OrderLine", where: "product == null" },
  { action: "every object of the heap", class: "", where: "shallowSize > 0" },
];

async function main([dump, wasm, before]: string[]): Promise<void> {
  if (dump === undefined || wasm === undefined || before === undefined) {
    throw new Error("usage: explorer <dump> <wasm> <before>");
  }
  const cli = require.resolve("@warpo/heap-analyzer/dist/heap_analyzer/cli.js");
  const begin = performance.now();
  const args = [cli, "open", dump, "--before", before, "--wasm", wasm, "--no-browser"];
  const explorer = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let browser: Browser | undefined;
  try {
    const [url] = (await once(createInterface({ input: explorer.stdout }), "line")) as [string];
    const address = seconds(begin);
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
    });
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    console.log(JSON.stringify(await looked(browser, page, url, address)));
  } finally {
    await browser?.close();
    explorer.kill();
  }
}

async function looked(
  browser: Browser,
  page: Page,
  url: string,
  address: number,
): Promise<ExplorerTimes> {
  page.setDefaultTimeout(60_000);
  const begin = performance.now();
  await page.goto(url);
  await page.waitForSelector(".reading, .top");
  const sign = seconds(begin);
  await page.waitForSelector("main h1:not(.visually-hidden)");
  const overview = seconds(begin);

  const actions: ExplorerAction[] = [];
  const take = async (step: Step) => {
    const { action, isPass = false } = step;
    actions.push({ action, isPass, ...(await page.evaluate(act, step)) });
  };
  for (const step of PAGES) await take(step);
  await take(PAGES[0] as Step);
  for (const step of OBJECTS) await take(step);
  await take({ action: "close an object", press: ".pane .close", done: ".pane[hidden]" });

  await page.getByRole("button", { name: "Search" }).click();
  actions.push({
    action: "the search for a text",
    isPass: true,
    ...(await page.evaluate(searched, "corda12345")),
  });
  await page.keyboard.press("Escape");
  await page.waitForSelector(".search-dialog[open]", { state: "detached" });

  for (const { action, class: name, where } of CONDITIONS) {
    await page.evaluate(act, PAGES[3] as Step);
    await page.locator("#where-class").fill(name);
    await page.locator("#where-where").fill(where);
    const done = "main .status";
    await take({ action, press: "main form button", text: "Find", done, isPass: true });
  }
  const scroll = await page.evaluate(scrolled);
  const { usedSize: heap } = await heapSize(page);
  return { address, sign, overview, actions, scroll, memory: await privateMemory(browser), heap };
}

const seconds = (begin: number) => (performance.now() - begin) / 1000;

async function heapSize(page: Page): Promise<{ usedSize: number }> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  return await session.send("Runtime.getHeapUsage");
}

/** The bytes of the processes of pages that they do not share with others. */
async function privateMemory(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  const renderers = processInfo.filter(({ type }) => type === "renderer");
  const sizes = renderers.map(({ id }) => {
    const text = readFileSync(`/proc/${id}/smaps_rollup`, "utf8");
    const fields = text.matchAll(/^Private_(?:Clean|Dirty): +(\d+) kB$/gm);
    return [...fields].reduce((sum, [, kib]) => sum + Number(kib) * 1024, 0);
  });
  return Math.max(...sizes);
}

/** In the page. It refers to nothing outside of itself. */
async function act({ press, text = "", done }: Step): Promise<{ sign: number; whole: number }> {
  const frame = () => new Promise((next) => requestAnimationFrame(next));
  const drawn = async () => {
    await frame();
    // A task after the frame's callbacks runs when the frame is drawn.
    await new Promise<void>((next) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => next();
      port2.postMessage(null);
    });
  };
  const all = document.querySelectorAll<HTMLElement>(press);
  const target = [...all].find((one) => (one.textContent ?? "").includes(text));
  if (target === undefined) throw new Error(`there is no ${press} with ${text}`);
  await frame();
  const begin = performance.now();
  let sign: number | undefined;
  const observer = new MutationObserver(() => {
    observer.disconnect();
    void drawn().then(() => {
      sign = performance.now() - begin;
    });
  });
  const attributes = { childList: true, subtree: true, attributes: true, characterData: true };
  observer.observe(document.documentElement, attributes);
  target.click();
  // What is looked for is busy, and a row that is looked for has one cell.
  const waiting = 'main [aria-busy="true"], .pane [aria-busy="true"], .rows [aria-colspan]';
  await frame();
  while (document.querySelector(done) === null || document.querySelector(waiting) !== null) {
    if (performance.now() - begin > 60_000) throw new Error(`${done} is not there after a minute`);
    await frame();
  }
  await drawn();
  const whole = performance.now() - begin;
  return { sign: (sign ?? whole) / 1000, whole: whole / 1000 };
}

/** In the page: types a text into the search, and waits for its results. */
async function searched(text: string): Promise<{ sign: number; whole: number }> {
  const frame = () => new Promise((next) => requestAnimationFrame(next));
  const input = document.querySelector<HTMLInputElement>("#search");
  if (input === null) throw new Error("there is no search");
  const list = document.querySelector(".found");
  await frame();
  const begin = performance.now();
  input.value = text;
  input.dispatchEvent(new Event("input", { bubbles: true }));
  await frame();
  const sign = performance.now() - begin;
  const isThere = () => /Text|Nothing was found/.test(list?.textContent ?? "");
  while (!isThere()) {
    if (performance.now() - begin > 60_000) throw new Error("nothing is found within a minute");
    await frame();
  }
  await frame();
  return { sign: sign / 1000, whole: (performance.now() - begin) / 1000 };
}

/** In the page: scrolls through the whole list in as many frames as three seconds have. */
async function scrolled(): Promise<ExplorerTimes["scroll"]> {
  const FRAMES = 180;
  const frame = () => new Promise((next) => requestAnimationFrame(next));
  const list = document.querySelector<HTMLElement>(".rows");
  const table = document.querySelector("main [aria-rowcount]");
  if (list === null || table === null) throw new Error("there is no list of objects");
  const begin = performance.now();
  const whole = list.scrollHeight - list.clientHeight;
  let blank = 0;
  for (let nth = 1; nth <= FRAMES; nth++) {
    list.scrollTop = (whole * nth) / FRAMES;
    await frame();
    await frame();
    const { top, bottom } = list.getBoundingClientRect();
    const boxes = [...list.querySelectorAll(".row")].map((row) => row.getBoundingClientRect());
    const first = Math.min(...boxes.map((box) => box.top));
    const last = Math.max(...boxes.map((box) => box.bottom));
    if (!(first <= top && last >= bottom - 1)) blank++;
  }
  while (document.querySelector(".rows [aria-colspan]") !== null) {
    if (performance.now() - begin > 60_000) throw new Error("rows are missing after a minute");
    await frame();
  }
  return {
    rows: Number(table.getAttribute("aria-rowcount")) - 1,
    frames: FRAMES,
    blank,
    whole: (performance.now() - begin) / 1000,
  };
}

if (require.main === module) void main(process.argv.slice(2));
