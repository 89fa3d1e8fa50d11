// The page of a report in a real Chromium: its numbers, its links, its safety, and who can use it.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { inflateRawSync } from "node:zlib";
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { captureDump, exposeGlobals } from "../../dist/capture.js";
import { analyze, openHeap } from "../../dist/index.js";
import type { Accounting, Heap } from "../../index.js";
import * as format from "../../js/report/format.ts";
import { runCompiler } from "../support/compile.ts";
import { findChromium, startChromium } from "./chromium.ts";

/** The form of addresses of dumps. */
function hex(address: number): string {
  return `0x${address.toString(16)}`;
}

/** A class name without the modules of the standard library. */
function shortName(name: string): string {
  return name.replace(/~lib\/[^<>,|()[\]=]*\/|~lib\//g, "");
}

const PROGRAMS = join(import.meta.dirname, "../programs");
const PAGES = ["overview", "classes", "dominators", "comparison", "waste", "unreachable"];
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Program extends WebAssembly.Exports {
  sell(first: number, count: number): void;
  write(entries: number): void;
  reserve(count: number, size: number): void;
  note(text: number): void;
  drop(families: number, children: number, timers: number): void;
  __new(size: number, id: number): number;
  __collect(): void;
  memory: WebAssembly.Memory;
}

const missing = findChromium() === undefined ? "there is no Chromium" : undefined;
if (missing) console.warn(`tests of the report are skipped: ${missing}`);

const STRING_ID = 2;

/** What an element says. */
async function textOf(locator: Locator): Promise<string> {
  return (await locator.textContent()) ?? "";
}

/** A string of the program. */
function makeString(program: Program, text: string): number {
  const address = program.__new(text.length * 2, STRING_ID);
  const units = new Uint16Array(program.memory.buffer, address, text.length);
  for (let nth = 0; nth < text.length; nth++) units[nth] = text.charCodeAt(nth);
  return address;
}

/** Runs the program and takes two dumps. */
async function run(wasm: Uint8Array, texts: string[] = []) {
  const module = await WebAssembly.compile(exposeGlobals(wasm));
  const instance = await WebAssembly.instantiate(module, { env: { abort() {} } });
  const program = instance.exports as Program;
  program.sell(0, 60);
  program.write(30);
  program.__collect();
  const before = captureDump(program);
  program.sell(60, 40);
  program.write(70);
  program.reserve(2, 900);
  for (const text of texts) program.note(makeString(program, text));
  program.__collect();
  program.drop(3, 3, 2);
  return { before, after: captureDump(program) };
}

describe.skipIf(missing)("a report", () => {
  const folder = mkdtempSync(join(tmpdir(), "report-"));
  const file = join(folder, "report.html");
  let browser: Browser;
  let wasm: Uint8Array;
  let dumps: { before: Uint8Array; after: Uint8Array };
  let heap: Heap;
  let before: Heap;
  const messages: string[] = [];
  const requests: string[] = [];
  const opened: Page[] = [];

  beforeAll(async () => {
    const args = ["report.ts", "--debug", "--exportRuntime"];
    ({ wasm } = await runCompiler(args, { baseDir: PROGRAMS, transform: true }));
    dumps = await run(wasm);
    heap = openHeap(dumps.after, wasm);
    before = openHeap(dumps.before, wasm);
    writeFileSync(file, heap.report({ before }));
    browser = await startChromium();
  });

  afterAll(async () => {
    await browser?.close();
    heap?.close();
    before?.close();
    rmSync(folder, { recursive: true });
  });

  afterEach(async () => {
    for (const page of opened.splice(0)) await page.context().close();
    expect(messages.splice(0)).toEqual([]);
    // The file is all that a browser asks for.
    expect(requests.splice(0).filter((url) => !url.startsWith("file:"))).toEqual([]);
  });

  async function open(
    route: string,
    { path = file, ...options }: BrowserContextOptions & { path?: string } = {},
  ): Promise<Page> {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    opened.push(page);
    page.on("console", (message) => messages.push(message.text()));
    page.on("pageerror", (error) => messages.push(error.message));
    page.on("dialog", (dialog) => messages.push(`dialog ${dialog.message()}`));
    page.on("request", (request) => requests.push(request.url()));
    await page.goto(`${pathToFileURL(path)}#${route}`);
    await page.waitForSelector("main h1");
    return page;
  }

  /** The texts of a table, row by row. */
  function rows(page: Page, caption: string, part = "tbody"): Promise<string[][]> {
    const table = page.getByRole("region", { name: caption, exact: true });
    return table
      .locator(`${part} tr`)
      .evaluateAll((lines) =>
        lines.map((line) => Array.from(line.children, (cell) => cell.textContent ?? "")),
      );
  }

  test("the overview shows the accounting, which adds up to the heap", async () => {
    const page = await open("overview");
    const { accounting, totalHeapSize, totalLiveSize, objects } = heap.summary();
    const parts = await rows(page, "Where every byte of the heap is");
    const bytes = parts.map(([, , exact]) => Number(exact?.replaceAll(",", "")));
    expect(bytes.reduce((sum, part) => sum + part)).toBe(totalHeapSize);
    const { live, garbage, raw, free, overhead } = accounting as Accounting;
    expect(bytes).toEqual([live.global, garbage, raw, free.bytes, overhead]);
    const figures = await textOf(page.locator(".figures"));
    expect(figures).toContain(format.bytes(totalLiveSize));
    expect(figures).toContain(`${format.count(objects.live)} objects`);
    for (const { text } of heap.suspects().suspects) {
      expect(await page.locator(".suspects .prose").allTextContents()).toContain(shortName(text));
    }
    for (const { code } of heap.unreachable().warnings) {
      expect(await textOf(page.locator(".warnings"))).toContain(code);
    }
  });

  test("classes have the numbers of the constructor view, and can be sorted and filtered", async () => {
    const page = await open("classes");
    const view = analyze(dumps.after, wasm, { retainedSet: true });
    const expected = view.constructors.map(
      ({ className, count, totalShallowSize, retainedSetSize }) => [
        shortName(className),
        format.count(count),
        format.bytes(totalShallowSize),
        format.bytes(retainedSetSize as number),
        format.share(retainedSetSize as number, view.totalLiveSize),
      ],
    );
    const shown = await rows(page, "Live objects by class");
    expect(shown.toSorted()).toEqual(expected.toSorted());

    await page.getByRole("button", { name: "Objects" }).press("Enter");
    const counts = (await rows(page, "Live objects by class")).map(([, count]) =>
      Number(count?.replaceAll(",", "")),
    );
    expect(counts).toEqual(counts.toSorted((left, right) => right - left));
    await page.getByLabel("Filter by name").fill("map<");
    expect(await page.locator("tbody tr:visible").count()).toBe(1);
    expect(page.url()).toContain("filter=map");
    expect(page.url()).toContain("sort=count");
  });

  test("cells of objects have the sizes and paths of the answers", async () => {
    const page = await open("dominators");
    const [first] = heap.dominators().children;
    const link = page.locator(".parts tbody a").first();
    expect(await textOf(link)).toContain(hex(first?.address as number));
    await link.click();
    expect(await textOf(page.locator(".facts"))).toContain(
      `${format.bytes(first?.retainedSize as number)} (${format.count(first?.retainedSize as number)} bytes)`,
    );
    const { path, cut } = heap.paths(first?.address as number);
    const steps = await page.locator(".path li").allInnerTexts();
    expect(steps).toHaveLength((path?.steps.length ?? 0) + 1);
    expect(steps[0]).toBe(format.rootName(path?.root as { kind: string; name: string | null }));
    expect(await textOf(page.locator(".about"))).toContain(`Fingerprint ${path?.fingerprint}`);
    expect(await textOf(page.locator(".cut"))).toContain(
      `frees ${format.bytes(cut?.freed as number)}`,
    );
    const below = heap.dominators({ address: first?.address as number, limit: 1000 });
    const sizes = new Map(
      below.children.map(({ address, retainedSize }) => [hex(address), retainedSize]),
    );
    for (const [name, , retained] of await rows(page, "Parts of Map")) {
      const address = name?.match(/0x[0-9a-f]+$/)?.[0];
      if (address) expect(retained).toBe(format.bytes(sizes.get(address) as number));
    }
  });

  test("the comparison has the numbers of the comparison view", async () => {
    const page = await open("comparison");
    const view = heap.compareWith(before);
    const expected = view.constructors.map((row) => [
      shortName(row.className),
      format.count(row.newCount),
      format.count(row.deletedCount),
      format.signedCount(row.countDelta),
      format.bytes(row.allocatedSize),
      format.bytes(row.freedSize),
      format.signedBytes(row.sizeDelta),
    ]);
    expect(await rows(page, "Classes that changed")).toEqual(expected);
    const merged = heap.paths({ newSince: before });
    const tree = await textOf(page.locator(".branches").first());
    for (const { className, count, shallowSize } of merged.tree) {
      expect(tree).toContain(shortName(className));
      expect(tree).toContain(`${format.counted(count, "object")}, ${format.bytes(shallowSize)}`);
    }
    const totals = await rows(page, "Totals before and after");
    expect(totals[0]?.slice(1, 3)).toEqual(
      [before, heap].map((one) => format.bytes(one.summary().totalLiveSize)),
    );
  });

  test("waste has the numbers of the answer", async () => {
    const page = await open("waste");
    const { kinds, totalSavings } = heap.waste();
    const shown = await rows(page, "Waste by kind");
    expect(shown.map(([, count, savings]) => [count, savings])).toEqual(
      kinds.map(({ count, savings }) => [format.count(count), format.bytes(savings)]),
    );
    expect((await rows(page, "Waste by kind", "tfoot"))[0]?.[2]).toBe(format.bytes(totalSavings));
    const strings = kinds.find(({ kind }) => kind === "duplicate-strings");
    const groups = await rows(page, "Duplicate strings");
    expect(groups.map(([what, count, savings]) => [what, count, savings])).toEqual(
      strings?.groups.map(({ what, count, savings }) => [
        what,
        format.count(count),
        format.bytes(savings),
      ]),
    );
  });

  test("unreachable memory has the numbers of the answer, and its graph can be searched and filtered", async () => {
    const page = await open("unreachable");
    const { garbage, nodes, edges } = heap.unreachable({ maxNodes: 200, limit: 50 });
    expect(await rows(page, "Garbage by class")).toEqual(
      garbage.classes.map(({ className, count, shallowSize }) => [
        shortName(className),
        format.count(count),
        format.bytes(shallowSize),
      ]),
    );
    expect(await page.locator(".graph .node").count()).toBe(nodes.length);
    expect(await page.locator(".graph .edge").count()).toBe(edges.length);

    await page.getByLabel("In a cycle", { exact: true }).check();
    const inCycles = nodes.filter(({ cycle }) => cycle !== null).length;
    expect(await page.locator(".graph .node:visible").count()).toBe(inCycles);
    expect(await textOf(page.locator(".controls .status"))).toBe(
      `${inCycles} of ${nodes.length} nodes`,
    );

    const lowest = garbage.cycles.groups[0]?.addresses[0] as number;
    await page.getByRole("button", { name: hex(lowest), exact: true }).click();
    const card = await textOf(page.locator(".card"));
    const { fields } = heap.object(lowest);
    for (const { name } of fields) expect(card).toContain(name);
    expect(card).toContain(hex(lowest));
    expect(page.url()).toContain(`node=${hex(lowest)}`);

    const block = nodes.find(({ state }) => state === "raw")?.address as number;
    await page.getByLabel("Find by class or address").fill(hex(block));
    await page.getByLabel("Find by class or address").press("Enter");
    expect(await textOf(page.locator(".card"))).toContain("Raw block");
  });

  test("the graph is zoomed, moved and dragged", async () => {
    const page = await open("unreachable");
    const transform = () => page.locator(".graph > g").getAttribute("transform");
    const fitted = await transform();
    await page.getByRole("button", { name: "Zoom in" }).click();
    const zoomed = await transform();
    expect(zoomed).not.toBe(fitted);
    await page.locator(".graph").press("ArrowLeft");
    expect(await transform()).not.toBe(zoomed);
    await page.locator(".graph").press("0");
    expect(await transform()).toBe(fitted);

    const node = page.locator(".graph .node:not(.left-out) .shape").first();
    const box = await node.boundingBox();
    const [x, y] = [(box?.x ?? 0) + (box?.width ?? 0) / 2, (box?.y ?? 0) + (box?.height ?? 0) / 2];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 60, y + 30, { steps: 3 });
    await page.mouse.up();
    expect((await node.boundingBox())?.x).toBeCloseTo((box?.x ?? 0) + 60, 0);
    expect(await transform()).toBe(fitted);
  });

  test("every link of every page leads to what it names", async () => {
    const page = await open("overview");
    const found = new Set<string>();
    for (const route of PAGES) {
      await page.goto(`${pathToFileURL(file)}#${route}`);
      expect(await textOf(page.locator("h1"))).toBe(
        await textOf(page.locator("nav.pages [aria-current]")),
      );
      const links = await page
        .locator("main a")
        .evaluateAll((all) => all.map((link) => link.getAttribute("href") ?? ""));
      for (const link of links) found.add(link);
    }
    expect(found.size).toBeGreaterThan(10);
    for (const link of found) {
      const cell = link.match(/^#dominators\?cell=(\d+)$/);
      await page.goto(pathToFileURL(file) + link);
      const object = link.match(/^#object=(.*)$/)?.[1];
      const title = object === undefined ? link.match(/^#(\w+)/)?.[1] : "overview";
      expect((await textOf(page.locator("h1"))).toLowerCase()).toBe(title);
      if (object) expect(await textOf(page.locator(".pane .address").first())).toBe(object);
      if (cell) expect(page.url()).toContain(`cell=${cell[1]}`);
    }
  });

  test("addresses of the page name classes, cells, objects, paths, kinds of waste and nodes", async () => {
    const classes = await open("classes?filter=Customer&sort=class&order=up");
    expect(await classes.getByLabel("Filter by name").inputValue()).toBe("Customer");
    const names = await classes.locator("tbody tr:visible th").allInnerTexts();
    expect(names).toHaveLength(2);
    expect(names).toEqual(names.toSorted());

    const address = heap.find({ class: "*LogEntry" }).objects[0]?.address as number;
    const fingerprint = heap.paths(address).path?.fingerprint as string;
    for (const route of [`dominators?address=${hex(address)}`, `path=${fingerprint}`]) {
      const page = await open(route);
      expect(await textOf(page.locator(".about h2"))).toContain("LogEntry");
    }
    const waste = await open("waste?kind=padding");
    const focused = waste.locator(":focus");
    expect(await textOf(focused)).toContain("Padding");
    await expect.poll(() => focused.isVisible()).toBe(true);

    const timer = heap
      .unreachable({ maxNodes: 200 })
      .nodes.find(({ className }) => className?.endsWith("/Timer"))?.address as number;
    const graph = await open(`unreachable?show=cycle&node=${hex(timer)}`);
    expect(await graph.getByLabel("In a cycle", { exact: true }).isChecked()).toBe(true);
    expect(await textOf(graph.locator(".card h3"))).toContain("Timer");

    const other = await open("there-is-no-such-page?cell=x");
    expect(await textOf(other.locator("h1"))).toBe("No such page");
    expect(await textOf(other.locator("main"))).toContain("there-is-no-such-page");
    for (const route of ["dominators?cell=999999", "path=000000000000"]) {
      const nothing = await open(route);
      expect(await textOf(nothing.locator("main [role=status]"))).toContain("There is no");
      expect(await textOf(nothing.locator(".about h2"))).toBe("Live heap");
    }
  });

  test("the icicle is used with the keyboard", async () => {
    const page = await open("dominators");
    const icicle = page.locator("canvas");
    const title = () => textOf(page.locator(".crumb[aria-current]"));
    await icicle.focus();
    await page.keyboard.press("ArrowDown");
    expect(await title()).toBe("Map<String,Customer>");
    await page.keyboard.press("ArrowRight");
    const second = await title();
    expect(second).not.toBe("Map<String,Customer>");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Enter");
    expect(await title()).toBe("Map<String,Customer>");
    await page.keyboard.press("ArrowUp");
    expect(await title()).toBe("Live heap");
    expect(await icicle.getAttribute("aria-label")).toContain("Selected: Live heap");
  });

  test("a click on the icicle zooms in, and the back button zooms out, then leaves the page", async () => {
    const page = await open("overview");
    await page.getByRole("link", { name: "Dominators" }).click();
    const box = await page.locator("canvas").boundingBox();
    await page.mouse.click((box?.x ?? 0) + 30, (box?.y ?? 0) + 40);
    expect(await textOf(page.locator(".about h2"))).toContain("Map<");
    await page.goBack();
    expect(await textOf(page.locator(".about h2"))).toBe("Live heap");
    await page.goBack();
    expect(await textOf(page.locator("h1"))).toBe("Overview");
  });

  test("an object opens beside the page, and what the file does not have names the command", async () => {
    const page = await open("classes");
    await page.goto(`${pathToFileURL(file)}#overview`);
    await page.locator(".suspects .path a.address").first().click();
    const pane = page.locator(".pane");
    const address = await textOf(page.locator(".suspects .path a.address").first());
    expect(await textOf(pane)).toContain(address);
    expect(await textOf(pane.locator("h2"))).toContain("Map<");
    expect(await textOf(page.locator("h1"))).toBe("Overview");
    await page.goBack();
    expect(await pane.isVisible()).toBe(false);

    const unknown = await open("object=0x99e0");
    expect(await textOf(unknown.locator(".pane"))).toContain("0x99e0");
    await expect.poll(() => textOf(unknown.locator(".pane"))).toContain("has no data about 0x99e0");
    expect(await textOf(unknown.locator(".pane code"))).toMatch(/^warpo-heap-analyzer open /);
  });

  test("a report has no paths of this machine and, if asked, no strings", () => {
    const [dump, earlier] = [join(folder, "after.dump"), join(folder, "before.dump")];
    const [module, out] = [join(folder, "shop.wasm"), join(folder, "quiet.html")];
    writeFileSync(dump, dumps.after);
    writeFileSync(earlier, dumps.before);
    writeFileSync(module, wasm);
    const cli = join(import.meta.dirname, "../../dist/heap_analyzer/cli.js");
    const args = ["report", dump, "--before", earlier, "--wasm", module, "--output", out];
    for (const options of [[], ["--no-strings"]]) {
      execFileSync(process.execPath, [cli, ...args, ...options], { stdio: "ignore" });
      const [, packed = ""] = /id="data">([^<]*)</.exec(readFileSync(out, "utf8")) ?? [];
      const data = inflateRawSync(Buffer.from(packed, "base64")).toString();
      expect(data).not.toContain(folder);
      expect(data).toContain("after.dump");
      expect(data.includes("article 0")).toBe(options.length === 0);
      expect(data.includes("customer 1")).toBe(options.length === 0);
    }
  });

  const themes = ["light", "dark"] as const;

  test.each(themes)("in the %s theme nothing is hard to read or to use", async (colorScheme) => {
    for (const width of [1280, 360]) {
      const page = await open("overview", { colorScheme, viewport: { width, height: 800 } });
      await page.evaluate(AXE);
      for (const route of [...PAGES, "dominators?cell=1", "unreachable?show=cycle"]) {
        await page.goto(`${pathToFileURL(file)}#${route}`);
        const found = (await page.evaluate("axe.run()")) as {
          violations: { id: string; impact: string; nodes: { html: string }[] }[];
        };
        const severe = found.violations.filter(({ impact }) => /serious|critical/.test(impact));
        const described = severe.map(({ id, nodes }) => `${route} ${id} ${nodes[0]?.html}`);
        expect(described).toEqual([]);
        const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
        expect(overflow, `${route} at ${width} px`).toBeLessThanOrEqual(0);
      }
    }
  });

  test("the reader chooses the theme, and paper is white", async () => {
    const page = await open("dominators?cell=1", { colorScheme: "light" });
    const paper = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
    expect(await paper()).toBe("rgb(255, 255, 255)");
    await page.getByRole("button", { name: "Dark theme" }).click();
    expect(await paper()).toBe("rgb(20, 23, 27)");
    await page.emulateMedia({ media: "print" });
    expect(await paper()).toBe("rgb(255, 255, 255)");
    expect(await page.locator("nav.pages").isVisible()).toBe(false);
    expect((await page.pdf()).length).toBeGreaterThan(10_000);
  });

  test("without scripts the page says so", async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(pathToFileURL(file).href);
    expect(await textOf(page.locator("body"))).toContain("scripts are turned off");
    await context.close();
  });

  test("a script that gets into the page does not run", async () => {
    const page = await open("overview");
    await page.evaluate(() => {
      const script = document.createElement("script");
      script.textContent = "globalThis.ran = true";
      document.body.append(script);
      document.body.insertAdjacentHTML(
        "beforeend",
        '<img src="x" onerror="globalThis.ran = true">',
      );
    });
    await page.waitForTimeout(50);
    expect(await page.evaluate("globalThis.ran")).toBeUndefined();
    // The policy names what it has refused.
    expect(messages.splice(0).join()).toContain("Content Security Policy");
    expect(requests.splice(0).every((url) => url.startsWith("file:"))).toBe(true);
  });

  test("hostile class names and strings neither run nor break the page", async () => {
    const names = {
      Customer: "</script><script>globalThis.ran = true</script>",
      Order: "<img src=x onerror=globalThis.ran=true>",
      LogEntry: "]]><svg onload=globalThis.ran=true>\u2028\u2029",
      Note: "\u202etxt.exe\u202c\u2066\u200f\u001b[31m",
      Parent: `'"\`\${globalThis.ran = true}\\u003cscript\\u003e`,
      Child: "<!--<script>",
      Timer: `${"long".repeat(2560)}end`,
    };
    const hostileWasm = await compileWithNames(names);
    const hostileDumps = await run(hostileWasm, [...Object.values(names), "\0\ud800"]);
    const other = openHeap(hostileDumps.after, hostileWasm);
    const earlier = openHeap(hostileDumps.before, hostileWasm);
    const path = join(folder, "hostile.html");
    const report = other.report({ before: earlier });
    expect(Buffer.byteLength(report)).toBeLessThan(1_000_000);
    writeFileSync(path, report);
    for (const viewport of [
      { width: 1280, height: 800 },
      { width: 360, height: 800 },
    ]) {
      const page = await open("overview", { path, viewport });
      for (const route of PAGES) {
        await page.goto(`${pathToFileURL(path)}#${route}`);
        expect((await textOf(page.locator("h1"))).toLowerCase()).toBe(route);
        expect(await page.evaluate("globalThis.ran")).toBeUndefined();
        expect(await page.locator("main img, main script, main iframe").count()).toBe(0);
        const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
        expect(overflow, `${route} at ${viewport.width} px`).toBeLessThanOrEqual(0);
        const text = (await page.locator("main").textContent()) ?? "";
        expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u2028\u2029\0]/);
      }
      await page.goto(`${pathToFileURL(path)}#classes?filter=${encodeURIComponent("<img src")}`);
      expect(await page.locator("tbody tr:visible").count()).toBeGreaterThan(0);
    }
    other.close();
    earlier.close();
  });
});

/** The program with other class names, which the compiler would not take. */
async function compileWithNames(names: Record<string, string>): Promise<Uint8Array> {
  let source = readFileSync(join(PROGRAMS, "report.ts"), "utf8");
  const placeholders = new Map<string, Buffer>();
  for (const [nth, [className, name]] of Object.entries(names).entries()) {
    const bytes = Buffer.from(name);
    // A name of the same length, which the hostile one then replaces.
    const placeholder = `H${nth}_`.padEnd(bytes.length, "x");
    source = source.replaceAll(new RegExp(`\\b${className}\\b`, "g"), placeholder);
    placeholders.set(placeholder, bytes);
  }
  const args = ["report.ts", "--debug"];
  const sources = { "report.ts": source };
  const { wasm } = await runCompiler(args, { sources, transform: true });
  const module = Buffer.from(wasm);
  for (const [placeholder, bytes] of placeholders) {
    let at = module.indexOf(placeholder);
    for (; at >= 0; at = module.indexOf(placeholder, at)) bytes.copy(module, at);
  }
  return module;
}
