// The explorer in a real Chromium: `open` serves it, and three leaks of a game are found with clicks alone.

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as textOfStream } from "node:stream/consumers";
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { captureDump, exposeGlobals } from "../../dist/capture.js";
import { openHeap } from "../../dist/index.js";
import { createProfiler, instrument } from "../../dist/profile.js";
import type { FoundObject, Heap } from "../../index.js";
import * as format from "../../js/report/format.ts";
import { runCompiler } from "../support/compile.ts";
import { startOpen } from "../support/open_explorer.ts";
import { findChromium, startChromium } from "./chromium.ts";

const PROGRAMS = join(import.meta.dirname, "../programs");
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** Rounds before each dump. In each a player comes, and makes three moves. */
const ROUNDS = 200;
const GAME = readFileSync(join(PROGRAMS, "game.ts"), "utf8");
const lineOf = (part: string) => GAME.split("\n").findIndex((line) => line.includes(part)) + 1;

interface Game extends WebAssembly.Exports {
  play(rounds: number): void;
  collect(): void;
  memory: WebAssembly.Memory;
}

const missing = findChromium() === undefined ? "there is no Chromium" : undefined;
if (missing) console.warn(`tests of the explorer are skipped: ${missing}`);

async function textOf(locator: Locator): Promise<string> {
  return (await locator.textContent()) ?? "";
}

/** A request as any program could make it. */
async function asked(
  url: URL,
  { path = "/ask", method = "POST", headers = {}, body = "" } = {},
): Promise<{ status: number; body: string; policy: string }> {
  const sent = request({ host: url.hostname, port: url.port, path, method, headers });
  sent.end(body);
  const [response] = await once(sent, "response");
  const policy = String(response.headers["content-security-policy"]);
  return { status: response.statusCode, body: await textOfStream(response), policy };
}

describe.skipIf(missing)("the explorer", () => {
  const folder = mkdtempSync(join(tmpdir(), "explorer-"));
  const profiles = mkdtempSync(join(tmpdir(), "explorer-profile-"));
  let browser: Browser;
  let game: Game;
  let wasm: Uint8Array;
  let heap: Heap;
  let before: Heap;
  let url: URL;
  let child: ChildProcess;
  const messages: string[] = [];
  const requests: string[] = [];
  const opened: Page[] = [];

  function dump(number: number): Uint8Array {
    game.play(ROUNDS);
    game.collect();
    const taken = captureDump(game);
    writeFileSync(join(folder, `0${number}.dump`), taken);
    return taken;
  }

  beforeAll(async () => {
    const args = ["game.ts", "--debug", "--exportRuntime", "--sourceMap"];
    const compiled = await runCompiler(args, { baseDir: PROGRAMS, transform: true });
    wasm = compiled.wasm;
    writeFileSync(join(folder, "game.wasm"), wasm);
    const program = instrument(Uint8Array.from(wasm), { sourceMap: compiled.sourceMap });
    const profiler = createProfiler(program, { interval: 1 });
    const module = await WebAssembly.compile(exposeGlobals(program.wasm));
    const imports = { env: { abort() {} }, ...profiler.imports };
    const instance = await WebAssembly.instantiate(module, imports);
    profiler.attach(instance.exports);
    game = instance.exports as Game;
    before = openHeap(dump(1), wasm);
    dump(2);
    heap = openHeap(dump(3), wasm);
    const profile = join(profiles, "heap.pb.gz");
    writeFileSync(profile, profiler.heapProfile());
    ({ url, child } = await startOpen([folder, "--profile", profile]));
    browser = await startChromium();
  });

  afterAll(async () => {
    child?.kill();
    heap?.close();
    before?.close();
    await browser?.close();
    rmSync(folder, { recursive: true });
    rmSync(profiles, { recursive: true });
  });

  afterEach(async () => {
    for (const page of opened.splice(0)) await page.context().close();
    expect(messages.splice(0)).toEqual([]);
    // Nothing is asked of anyone else.
    expect(requests.splice(0).filter((one) => !one.startsWith(url.origin))).toEqual([]);
  });

  async function open(route = "", options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({
      viewport: { width: 1440, height: 900 },
      ...options,
    });
    const page = await context.newPage();
    opened.push(page);
    page.on("console", (message) => messages.push(message.text()));
    page.on("pageerror", (error) => messages.push(error.message));
    page.on("request", (one) => requests.push(one.url()));
    await page.goto(`${url}${route}`);
    await page.waitForSelector(".top");
    return page;
  }

  test("three leaks are found with clicks alone, down to their lines", async () => {
    const page = await open();
    const pane = page.locator(".pane");
    const grown = page.locator(".suspects").first().locator("article");
    const found = await grown.allTextContents();
    for (const place of ["Replay", "Picture", "Lobby"]) {
      expect(found.some((text) => text.includes(place))).toBe(true);
    }
    // What grew shows its growth, and where to cut.
    const { suspects } = heap.suspects({ before });
    expect(await textOf(grown.first().locator(".figure"))).toMatch(/^\+\d/);
    const [largest] = suspects;
    expect(await textOf(grown.first().locator(".cut-mark"))).toContain(
      format.bytes(largest?.cut?.freed as number),
    );

    // The replay keeps all moves: its array, a later page of it, a move, and the player of the move.
    const replay = grown.filter({ hasText: "Replay" }).first();
    await replay.locator(".path a.address").last().click();
    const total = format.count(3 * 3 * ROUNDS);
    await pane.getByText(`Elements (${total})`).waitFor();
    await pane.getByRole("button", { name: "Later" }).click();
    await pane.getByText(`50 to 99 of ${total}`).waitFor();
    await pane.locator(".entries a.address").first().click();
    await pane.locator("h2").filter({ hasText: "/Move" }).waitFor();
    await pane.getByText(`game.ts:${lineOf("new Move(")}`).waitFor();
    await pane.getByRole("button", { name: "Open player" }).click();
    await pane.locator(".tree .tree").getByText("level").waitFor();
    expect(await textOf(pane.locator(".path"))).toContain("game/replay");

    // The lobby keeps players that left: all that are new, and all of them are closed.
    await page.getByRole("link", { name: "Comparison" }).click();
    const row = page.getByRole("row").filter({ hasText: "/Player" }).filter({ hasNotText: "<" });
    await row.getByRole("link", { name: format.count(2 * ROUNDS) }).click();
    await page.getByText(`${format.count(2 * ROUNDS)} objects`).waitFor();
    const players = page.locator(".rows .row");
    await players.filter({ hasText: "open: false" }).first().waitFor();
    expect(await players.filter({ hasText: "open: true" }).count()).toBe(0);
    await page.getByRole("button", { name: "Object" }).click();
    await page
      .getByRole("columnheader", { name: "Object" })
      .and(page.locator("[aria-sort]"))
      .waitFor();
    await players.locator("a.address").first().click();
    await pane.getByText("New since 01.dump").waitFor();
    await pane.locator(".path").waitFor();
    expect(await textOf(pane.locator(".path"))).toContain("game/lobby");
    await pane.getByText(`game.ts:${lineOf("new Player(")}`).waitFor();

    // The map keeps each picture, and the program never asks for one again.
    await page.getByRole("link", { name: "Overview" }).click();
    await grown.filter({ hasText: "Picture" }).locator(".path a.address").last().click();
    await pane.locator(".entries").getByText('"avatar 4"').waitFor();
    await pane.locator(".entries a.address").filter({ hasText: "0x" }).last().click();
    await pane.locator("h2").filter({ hasText: "Picture" }).waitFor();
    await pane.getByText(`game.ts:${lineOf("new Picture(")}`).waitFor();

    // The same lines are those that retain most.
    await page.getByRole("link", { name: "Lines" }).click();
    for (const part of ["new Move(", "new Player(", "new Picture("]) {
      await page
        .getByRole("row")
        .filter({ hasText: `game.ts:${lineOf(part)}` })
        .waitFor();
    }
    await page.goBack();
    await pane.locator("h2").filter({ hasText: "Picture" }).waitFor();
    await page.goBack();

    // Every state is in the history.
    await page.goBack();
    expect(await textOf(page.locator("h1"))).toBe("Overview");
    expect(await pane.isVisible()).toBe(false);
    await page.goBack();
    expect(await textOf(page.locator("h1"))).toBe("Class");
    await pane.getByText("New since 01.dump").waitFor();
    await page.reload();
    await pane.getByText("New since 01.dump").waitFor();
  });

  test("a list has all objects of a class, in every order, down to its end", async () => {
    const name = heap.find({ class: "*/Move" }).objects[0]?.className as string;
    const page = await open(`#class?name=${encodeURIComponent(name)}&sort=address&order=up`);
    const rows = page.locator(".rows .row");
    const { total } = heap.find({ class: name });
    await page.getByText(`${format.count(total)} objects`).waitFor();
    const all = heap.find({ class: name, limit: total }).objects.map(({ address }) => address);
    const sorted = all
      .toSorted((left, right) => left - right)
      .map((one) => `0x${one.toString(16)}`);
    await expect.poll(() => textOf(rows.first().locator("a").first())).toBe(sorted[0]);
    await page.locator(".rows").evaluate((list) => list.scrollTo(0, list.scrollHeight));
    await expect.poll(() => textOf(rows.last().locator("a").first())).toBe(sorted.at(-1));
    expect(await rows.count()).toBeLessThan(100);
  });

  test("lists have the objects of the views in the order that was asked for", async () => {
    const headers = { authorization: `Bearer ${url.searchParams.get("token")}` };
    const list = async (params: object) => {
      const request = { heap: "3", before: "1", class: name, limit: 1000, ...params };
      const body = JSON.stringify({ method: "instances", params: request });
      return JSON.parse((await asked(url, { headers, body })).body).result.objects as {
        address: number;
        shallowSize: number;
        retainedSize: number;
      }[];
    };
    const { className: name } = heap.find({ class: "*/ArrayBuffer" }).objects[0] as FoundObject;
    const view = heap.constructors().constructors.find(({ className }) => className === name);
    const all = view?.instances ?? [];
    expect(new Set(all.map(({ shallowSize }) => shallowSize)).size).toBeGreaterThan(2);
    for (const sort of ["shallow", "retained"] as const) {
      for (const ascending of [true, false]) {
        const found = await list({ sort, ascending });
        const number = (one: { shallowSize: number; retainedSize: number }) => one[`${sort}Size`];
        const sign = ascending ? 1 : -1;
        const expected = all.toSorted(
          (one, other) =>
            sign * (number(one) - number(other)) || -sign * (one.address - other.address),
        );
        expect(found.map(({ address }) => address)).toEqual(expected.map(({ address }) => address));
      }
    }
    const changed = heap.compareWith(before).constructors;
    const row = changed.find(({ className }) => className === name);
    for (const set of ["new", "deleted"] as const) {
      const kind = set === "new" ? "new" : "delete";
      const expected = row?.instances.filter(({ changeKind }) => changeKind === kind) ?? [];
      expect(expected.length).toBeGreaterThan(0);
      const found = await list({ set, sort: "address", ascending: true });
      expect(found.map(({ address }) => address)).toEqual(
        expected.map(({ address }) => address).toSorted((one, other) => one - other),
      );
    }
  });

  test("the line of an object is that of the profile, of its dump alone", async () => {
    const headers = { authorization: `Bearer ${url.searchParams.get("token")}` };
    const line = async (dump: string, address: unknown) => {
      const body = JSON.stringify({ method: "line", params: { heap: dump, address } });
      return JSON.parse((await asked(url, { headers, body })).body);
    };
    const players = heap.find({ class: "*/Player", limit: 3 * ROUNDS }).objects;
    expect(players).toHaveLength(3 * ROUNDS);
    for (const { address } of [players[0], players.at(-1)] as FoundObject[]) {
      const { result } = await line("3", address);
      expect(result.line).toMatchObject({ file: "game.ts", line: lineOf("new Player(") });
    }
    // Within static data, no object is allocated.
    expect(await line("3", 16)).toEqual({ result: { line: null } });
    expect(await line("1", players[0]?.address)).toMatchObject({
      error: { code: "ERR_INVALID_ARGUMENTS" },
    });
    expect(await line("3", "0x10")).toMatchObject({ error: { code: "ERR_INVALID_ARGUMENTS" } });
  });

  test("the keyboard alone follows a suspect to its object and its line", async () => {
    const page = await open();
    /** Presses Tab until an element of this kind has the focus. */
    const tabTo = async (selector: string) => {
      for (let presses = 0; presses < 60; presses++) {
        await page.keyboard.press("Tab");
        if (await page.evaluate((one) => document.activeElement?.matches(one), selector)) return;
      }
      throw new Error(`Tab does not lead to ${selector}`);
    };
    await tabTo(".suspects .path a.address");
    await page.keyboard.press("Enter");
    const pane = page.locator(".pane");
    await pane.locator(".path").waitFor();
    await tabTo(".pane a.address");
    await page.keyboard.press("Enter");
    await pane.getByText(/game\.ts:\d+/).waitFor();
    await page.keyboard.press("Escape");
    expect(await pane.isVisible()).toBe(false);
  });

  test("the keyboard alone finds a class, an object and a text", async () => {
    const page = await open();
    await page.keyboard.press("/");
    await page.keyboard.type("game/Lobby");
    await page.locator(".found").getByText("Class").first().waitFor();
    await page.keyboard.press("Enter");
    await page.locator(".rows a.address").first().waitFor();
    expect(await textOf(page.locator(".subject"))).toContain("Lobby");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("avatar");
    await page.keyboard.press("Escape");
    expect(await page.locator(".search-dialog").isVisible()).toBe(false);
    await page.keyboard.press("Control+k");
    await page.keyboard.type("avatar 8");
    await page.locator(".found").getByText("Text").first().waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.locator(".pane h2").getByText("String").waitFor();
    const lobby = heap.find({ class: "*/Lobby" }).objects[0]?.addressText as string;
    await page.keyboard.press("/");
    await page.keyboard.type(lobby);
    await page.locator(".found").getByText("Object").waitFor();
    await page.keyboard.press("Enter");
    await page.locator(".pane h2").getByText("Lobby").waitFor();
    await page.keyboard.press("Escape");
    expect(await page.locator(".pane").isVisible()).toBe(false);
  });

  test("an object is divided at any depth of the dominator tree", async () => {
    const replay = heap.find({ class: "*/Replay" }).objects[0]?.address as number;
    const player = heap.find({ class: "*/Player" }).objects[0]?.addressText as string;
    const page = await open(`#dominators?address=${replay}`);
    expect(await textOf(page.locator(".about h2"))).toContain("Replay");
    await page.goto(`${url}#object=${player}`);
    const part = page.locator(".pane details").filter({ hasText: "What only it keeps alive" });
    await part.first().locator("summary").first().click();
    const { groups } = heap.dominators({ address: Number(player), by: "class" });
    for (const { className } of groups) {
      const name = className.replace(/~lib\/(\w+\/)?/g, "");
      await part.first().getByText(name).first().waitFor();
    }
  });

  test("the treemap has the parts of the icicle, each with its size, and keeps its address", async () => {
    const page = await open("#dominators");
    await page.getByLabel("Treemap", { exact: true }).check();
    const tiles = page.locator(".treemap .depth-1");
    const parts = page.locator(".parts tbody tr");
    await expect.poll(() => tiles.count()).toBeGreaterThan(2);
    expect(await tiles.count()).toBe(await parts.count());
    // Areas are in the ratio of the sizes.
    const area = async (nth: number) => {
      const box = await tiles.nth(nth).boundingBox();
      return (box?.width ?? 0) * (box?.height ?? 0);
    };
    const sizeOf = async (nth: number) => {
      const label = (await tiles.nth(nth).getAttribute("aria-label")) ?? "";
      const [, number, unit = ""] = /([\d.,]+) (B|KiB|MiB)$/.exec(label) ?? [];
      const units: Record<string, number> = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20 };
      return Number(number?.replaceAll(",", "")) * (units[unit] ?? Number.NaN);
    };
    const ratio = (await area(0)) / (await area(1)) / ((await sizeOf(0)) / (await sizeOf(1)));
    expect(ratio).toBeGreaterThan(0.8);
    expect(ratio).toBeLessThan(1.25);
    const name = await textOf(tiles.first().locator("span").first());
    await tiles.first().click({ position: { x: 8, y: 8 } });
    await expect.poll(() => page.locator(".crumbs li").count()).toBe(2);
    expect(name).toContain(await textOf(page.locator(".crumbs li").last()));
    expect(page.url()).toContain("view=treemap");
    await page.reload();
    await expect.poll(() => page.locator(".treemap").isVisible()).toBe(true);
    expect(await page.locator(".crumbs li").count()).toBe(2);
  });

  test("the neighbourhood of an object is a graph of its references, all of them named", async () => {
    const [player] = heap.find({ class: "*Player" }).objects;
    const page = await open(`#overview&object=${player?.addressText}`);
    await page.locator("summary", { hasText: "Neighbourhood" }).click();
    const graph = page.locator(".pane .graph");
    await expect.poll(() => graph.locator(".node").count()).toBeGreaterThan(2);
    const nodes = await graph.locator(".node").count();
    const edges = await graph.locator(".edge").count();
    // No node stands alone, and every reference has its label.
    expect(edges).toBeGreaterThanOrEqual(nodes - 1);
    const names = await graph.locator(".edge-name").allTextContents();
    expect(names).toHaveLength(edges);
    expect(names.filter((name) => name === "")).toEqual([]);
    const fields = heap.object(player?.address ?? 0).fields;
    for (const field of fields.filter(({ address }) => address !== null).slice(0, 6)) {
      expect(names).toContain(`.${field.name}`);
    }
    for (const { labelText } of heap.referrers(player?.address ?? 0, { limit: 2 }).referrers) {
      if (labelText !== null) expect(names).toContain(labelText);
    }
    await graph.focus();
    await page.keyboard.press("n");
    const other = page.locator(".pane .neighbour a").last();
    await other.click();
    await expect.poll(() => page.url()).not.toContain(`object=${player?.addressText}`);
  });

  test.each([
    { colorScheme: "light", width: 390 },
    { colorScheme: "dark", width: 768 },
    { colorScheme: "light", width: 1440 },
  ] as const)("axe finds nothing at $width px, $colorScheme", async ({ colorScheme, width }) => {
    const name = encodeURIComponent(heap.find({ class: "*/Player" }).objects[0]?.className ?? "");
    const array = heap.find({ class: "*Array<*/Move>" }).objects[0]?.addressText as string;
    const page = await open("", { colorScheme, viewport: { width, height: 844 } });
    await page.evaluate(AXE);
    const routes = {
      [`overview?object=${array}`]: ".entries",
      classes: "#class-filter",
      [`class?name=${name}`]: ".rows .row a",
      comparison: "table",
      growth: ".chart",
      lines: "table",
      "where?class=*Player&where=open%20%3D%3D%20false": ".rows .row a",
      "dominators?view=treemap": ".treemap .tile",
      dominators: "canvas",
      waste: "table",
      unreachable: "h1",
    };
    for (const [route, ready] of Object.entries(routes)) {
      await page.goto(`${url}#${route}`);
      await page.locator(`main ${ready}, .pane ${ready}`).first().waitFor();
      if (route.startsWith("overview")) {
        await page.locator("summary", { hasText: "Neighbourhood" }).click();
        await page.locator(".pane .graph .node").first().waitFor();
      }
      const found = (await page.evaluate("axe.run()")) as {
        violations: { id: string; nodes: { html: string }[] }[];
      };
      expect(found.violations.map(({ id, nodes }) => `${id} ${nodes[0]?.html}`)).toEqual([]);
      const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
      expect(overflow, route).toBeLessThanOrEqual(0);
    }
  });

  test("a dump that appears in the folder is offered, and becomes a point of the chart", async () => {
    const page = await open("#growth");
    await page.locator(".chart .point").nth(2).waitFor();
    dump(4);
    await page.getByRole("button", { name: "Show it" }).click();
    await page.locator(".name").getByText("04.dump").waitFor();
    await page.locator(".chart .point").nth(3).waitFor();
  });

  test("who does not have the token, or comes from elsewhere, gets nothing", async () => {
    const token = url.searchParams.get("token") as string;
    const body = JSON.stringify({ method: "status", params: {} });
    const known = { authorization: `Bearer ${token}` };
    const good = await asked(url, { headers: known, body });
    expect(good.status).toBe(200);
    expect(good.body).toContain("01.dump");
    expect(good.policy).toContain("default-src 'none'");
    const refused = [
      await asked(url, { body }),
      await asked(url, { headers: { authorization: `Bearer ${token}x` }, body }),
      await asked(url, { headers: { ...known, host: `evil.example:${url.port}` }, body }),
      await asked(url, { headers: { ...known, origin: "http://evil.example" }, body }),
      await asked(url, { headers: { ...known, "sec-fetch-site": "cross-site" }, body }),
      await asked(url, { path: "/", method: "GET" }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([401, 401, 403, 403, 403, 401]);
    for (const { body } of refused) expect(body).not.toContain('dump"');
    const far = await asked(url, { headers: known, body: "x".repeat(300_000) });
    expect(far.status).toBe(413);
  });

  test("without strings no text of the program leaves the analyzer, and Ctrl-C ends it", async () => {
    const name = heap.find({ class: "*/Player" }).objects[0]?.addressText as string;
    for (const options of [[], ["--no-strings"]]) {
      const other = await startOpen([join(folder, "03.dump"), ...options]);
      const ask = async (method: string, params: object) => {
        const headers = { authorization: `Bearer ${other.url.searchParams.get("token")}` };
        const answer = await asked(other.url, {
          headers,
          body: JSON.stringify({ method, params }),
        });
        return answer.body;
      };
      await expect
        .poll(() => ask("status", {}), { timeout: 10_000 })
        .toContain('"heap":"1","before"');
      const object = await ask("object", { heap: "1", address: name });
      expect(object).toContain("level");
      expect(object.includes("player ")).toBe(options.length === 0);
      const ended = once(other.child, "exit");
      other.child.kill("SIGINT");
      expect(await ended).toEqual([null, "SIGINT"]);
    }
  });
});
