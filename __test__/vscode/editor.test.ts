// The packed extension in a real VS Code and a real Chromium: a leak is found, compared, and followed to its source.

import { spawn } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { captureDump, exposeGlobals } from "../../dist/capture.js";
import { openHeap, openHeapFile } from "../../dist/index.js";
import { createProfiler, instrument } from "../../dist/profile.js";
import * as format from "../../js/report/format.ts";
import { findChromium, startChromium } from "../browser/chromium.ts";
import { runCompiler } from "../support/compile.ts";
import { packed, until, type Window, Workbench, whatIsMissing } from "./workbench.ts";

const PROGRAMS = join(import.meta.dirname, "../programs");
const PICTURES = join(import.meta.dirname, "../../build/vscode");
const GAME = readFileSync(join(PROGRAMS, "game.ts"), "utf8");
/** Rounds before each dump. In each a player comes, and makes three moves. */
const ROUNDS = 200;
/** In bytes. */
const LARGEST_PACKAGE = 6_000_000;

const missing = findChromium() === undefined ? "no Chromium" : whatIsMissing();
if (missing) console.warn(`tests in VS Code are skipped: there is ${missing}`);

const lineOf = (part: string) => GAME.split("\n").findIndex((line) => line.includes(part)) + 1;

/** Runs the game with a profiler, and writes its dump and the heap profile of the same moment. */
async function writeProfiled(
  folder: string,
  wasm: Uint8Array<ArrayBuffer>,
  sourceMap: string,
): Promise<void> {
  const program = instrument(wasm, { sourceMap });
  const profiler = createProfiler(program, { interval: 1 });
  const module = await WebAssembly.compile(exposeGlobals(program.wasm));
  const imports = { env: { abort() {} }, ...profiler.imports };
  const { exports } = await WebAssembly.instantiate(module, imports);
  profiler.attach(exports);
  (exports.play as (rounds: number) => void)(ROUNDS);
  (exports.collect as () => void)();
  mkdirSync(folder);
  writeFileSync(join(folder, "profiled.dump"), captureDump(exports));
  writeFileSync(join(folder, "heap.pb.gz"), profiler.heapProfile());
}

describe.skipIf(missing)("the extension", () => {
  const folder = mkdtempSync(join(tmpdir(), "vscode-"));
  const project = join(folder, "project");
  let browser: Browser;
  let bench: Workbench;
  let window: Window;
  let players: { count: number; before: number; retained: number };

  beforeAll(async () => {
    mkdirSync(join(project, "build"), { recursive: true });
    mkdirSync(join(project, "dumps"));
    mkdirSync(PICTURES, { recursive: true });
    const args = ["game.ts", "--debug", "--exportRuntime", "--sourceMap"];
    const { wasm, sourceMap } = await runCompiler(args, {
      baseDir: PROGRAMS,
      transform: true,
    });
    writeFileSync(join(project, "game.ts"), GAME);
    writeFileSync(join(project, "build/game.wasm"), wasm);
    writeFileSync(join(project, "build/game.wasm.map"), sourceMap as string);
    const module = await WebAssembly.compile(exposeGlobals(wasm));
    const { exports } = await WebAssembly.instantiate(module, { env: { abort() {} } });
    const dumps = [1, 2, 3].map((nth) => {
      (exports.play as (rounds: number) => void)(ROUNDS);
      (exports.collect as () => void)();
      const dump = captureDump(exports);
      writeFileSync(join(project, `dumps/0${nth}.dump`), dump);
      return dump;
    });
    const damaged = Buffer.from(dumps[2] as Uint8Array);
    damaged.fill(0xff, damaged.length >> 1, (damaged.length >> 1) + 4096);
    writeFileSync(join(project, "dumps/damaged.dump"), damaged);
    writeFileSync(join(project, "dumps/notes.dump"), "-- a dump of a database\n");
    await writeProfiled(join(project, "profiled"), Uint8Array.from(wasm), sourceMap as string);
    // Two modules that both fit, and one that does not.
    mkdirSync(join(project, "twins"));
    copyFileSync(join(project, "dumps/03.dump"), join(project, "twins/twin.dump"));
    for (const name of ["one.wasm", "two.wasm"]) writeFileSync(join(project, "twins", name), wasm);
    writeFileSync(join(project, "other.wasm"), "\0asm\u{1}\0\0\0");
    const [first, , last] = dumps.map((dump) => openHeap(dump, wasm));
    const row = last
      ?.constructors()
      .constructors.find(({ className }) => className === "game/Player");
    players = {
      count: row?.count ?? 0,
      retained: row?.retainedSetSize ?? 0,
      before: first?.find({ class: "game/Player" }).total ?? 0,
    };
    bench = await Workbench.start(join(folder, "trusted"), {
      "security.workspace.trust.enabled": false,
      "workbench.colorTheme": "Default Dark Modern",
      "warpoHeap.diagnostics": true,
      "files.simpleDialog.enable": true,
    });
    browser = await startChromium();
    window = await bench.open(browser, project);
    await window.knowsExtension();
  });

  // What was there instead of what the test waited for.
  afterEach(async ({ task }) => {
    if (task.result?.state !== "fail") return;
    const file = join(PICTURES, `failed-${task.id}.png`);
    await window?.page.screenshot({ path: file });
    console.error(`${task.name}: what the editor showed is in ${file}`);
  });

  afterAll(async () => {
    await browser?.close();
    bench?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("the package has 6 MB at most", () => {
    expect(statSync(packed() as string).size).toBeLessThanOrEqual(LARGEST_PACKAGE);
  });

  test("a dump opens in the page, and its module is found in build", async () => {
    await window.openFile("dumps/03.dump");
    await window.heap.locator(".top .name", { hasText: "03.dump" }).waitFor();
    await window.heap.getByRole("heading", { name: "Overview" }).waitFor();
    expect(bench.analyzers()).toHaveLength(1);
    await window.page.screenshot({ path: join(PICTURES, "dark-overview.png") });
  });

  test("a link of the page opens an object, and back returns", async () => {
    await window.heap.getByRole("link", { name: "Classes" }).click();
    await window.heap.getByRole("heading", { name: "Classes" }).waitFor();
    await window.heap.locator("table").getByText("Lobby").first().click();
    await window.heap.locator(".rows a.address").first().click();
    await window.heap.locator(".pane h2", { hasText: "Lobby" }).waitFor();
    await window.heap.getByRole("button", { name: "Back" }).click();
    await expect.poll(() => window.heap.locator(".pane").isVisible()).toBe(false);
  });

  test("two dumps are compared", async () => {
    await window.run("Heap: Compare with…");
    await window.choose("The earlier dump to compare 03.dump with", "01.dump");
    await window.heap.getByRole("link", { name: "Comparison" }).click();
    const row = window.heap.getByRole("row").filter({ hasText: "Player" });
    const added = format.count(players.count - players.before);
    await row.getByRole("link", { name: added }).first().waitFor();
  });

  test("a class, and a field, open in the source at their lines", async () => {
    await window.heap.getByRole("link", { name: "Classes" }).click();
    await window.heap.locator("table").getByText("Lobby").first().click();
    await window.heap.getByRole("button", { name: "Source" }).first().click();
    await expect.poll(() => window.line()).toContain(`Ln ${lineOf("class Lobby")},`);
    await window.heap.locator(".rows a.address").first().click();
    const field = window.heap.locator(".pane .tree > li", { hasText: "players" }).first();
    await field.hover();
    await field.getByRole("button", { name: "Source" }).click();
    await expect.poll(() => window.line()).toContain(`Ln ${lineOf("players: Map")},`);
  });

  test("above each class stands how much of it lives, and a click shows its objects", async () => {
    const { count, before, retained } = players;
    const text = `${format.count(count)} live · ${format.bytes(retained)} · ${format.signedCount(count - before)} since 01.dump`;
    const lens = window.page.locator(".codelens-decoration a", { hasText: text });
    await window.page.keyboard.press("Control+Home");
    await lens.first().waitFor();
    await window.page.screenshot({ path: join(PICTURES, "dark-source.png") });
    await lens.first().click();
    await window.heap.locator(".subject", { hasText: "Player" }).waitFor();
    await window.heap.getByText(`${format.count(count)} objects`).waitFor();
  });

  test("suspects are warnings at the field that holds them", async () => {
    await window.run("Problems: Focus on Problems View");
    const problems = window.page.locator(".markers-panel .monaco-list-row");
    await problems.filter({ hasText: "moves" }).first().waitFor();
    const place = `[Ln ${lineOf("moves: Move[]")},`;
    await problems.filter({ hasText: place }).first().waitFor();
    await window.page.screenshot({ path: join(PICTURES, "dark-problems.png") });
    await window.run("View: Toggle Panel Visibility");
    await problems.first().waitFor({ state: "hidden" });
  });

  test("with a heap profile, the lines that allocated are listed, and open in the source", async () => {
    await window.openFile("profiled/profiled.dump");
    await window.heap.locator(".top .name", { hasText: "profiled.dump" }).waitFor();
    await window.heap.getByRole("link", { name: "Overview" }).waitFor();
    expect(await window.heap.getByRole("link", { name: "Lines" }).count()).toBe(0);
    await window.run("Heap: Add a Heap Profile…");
    await window.answerFile("The heap profile", join(project, "profiled/heap.pb.gz"));
    await window.heap.getByRole("link", { name: "Lines" }).click();
    const line = lineOf("new Move(");
    const row = window.heap.getByRole("row").filter({ hasText: `game.ts:${line}` });
    await row
      // The moves, and the buffer of the array that keeps them.
      .getByText(format.count(3 * ROUNDS + 1))
      .first()
      .waitFor();
    await window.page.screenshot({ path: join(PICTURES, "dark-lines.png") });
    await row.getByRole("button", { name: "Source" }).click();
    await expect.poll(() => window.line()).toContain(`Ln ${line},`);
    await window.closeEditor("profiled.dump");
    await expect.poll(() => bench.analyzers().length).toBe(1);
    await window.tab("03.dump").click();
    // The lines above the classes are of this dump again. The editor shows only those of lines in view.
    await window.heap.getByRole("button", { name: "Source" }).first().click();
    const lens = window.page.locator(".codelens-decoration a", { hasText: "since 01.dump" });
    await lens.first().waitFor();
  });

  test("a killed analyzer leaves the page, says so, and starts again", async () => {
    const [id] = bench.analyzers();
    process.kill(id as number, "SIGKILL");
    const said = window.notification("SIGKILL");
    await said.waitFor();
    expect(await window.heap.locator(".subject").isVisible()).toBe(true);
    await window.page.screenshot({ path: join(PICTURES, "dark-killed.png") });
    await said.getByRole("button", { name: "Restart" }).click();
    await expect.poll(() => bench.analyzers().length).toBe(1);
    // It is where it was.
    await window.heap.locator(".subject", { hasText: "Player" }).waitFor();
    await window.heap.locator(".rows a.address").first().waitFor();
  });

  test("a folder shows growth over its dumps, in the light theme", async () => {
    await window.run("Preferences: Color Theme");
    await window.choose("Select Color Theme", "Light Modern");
    await expect.poll(() => window.page.locator(".monaco-workbench.vs").count()).toBe(1);
    rmSync(join(project, "dumps/damaged.dump"), { force: false });
    const row = window.page.locator(".explorer-folders-view .monaco-list-row", {
      hasText: "dumps",
    });
    await row.first().click({ button: "right" });
    await window.page.getByRole("menuitem", { name: "Find Growth in Folder" }).click();
    await window.heap.getByRole("heading", { name: "Growth" }).waitFor();
    await window.heap.locator(".chart .point").nth(2).waitFor();
    await window.page.screenshot({ path: join(PICTURES, "light-growth.png") });
    await window.heap.getByRole("link", { name: "Overview" }).click();
    await window.heap.locator(".suspects").first().waitFor();
    await window.page.screenshot({ path: join(PICTURES, "light-overview.png") });
  });

  test("the module is asked for once, and another one can be chosen", async () => {
    const twin = (name: string) => join(project, "twins", name);
    await window.openFile("twins/twin.dump");
    await window.choose("The module that twin.dump", "one.wasm");
    await window.heap.locator(".top .name", { hasText: "twin.dump" }).waitFor();
    expect(bench.modules()).toContain(twin("one.wasm"));
    await window.closeEditor("twin.dump");
    await expect.poll(() => bench.modules()).not.toContain(twin("one.wasm"));
    await window.openFile("twins/twin.dump");
    await window.heap.locator(".top .name", { hasText: "twin.dump" }).waitFor();
    expect(bench.modules()).toContain(twin("one.wasm"));

    await window.run("Heap: Choose the Module…");
    await window.choose("The module that twin.dump", "other.wasm");
    const said = window.notification("twin.dump");
    await said.waitFor();
    await window.heap.getByRole("heading", { name: "This heap cannot be shown" }).waitFor();
    await window.page.screenshot({ path: join(PICTURES, "light-other-module.png") });
    await said.getByRole("button", { name: "Choose the Module…" }).click();
    await window.choose("The module that twin.dump", "two.wasm");
    await window.heap.locator(".top .name", { hasText: "twin.dump" }).waitFor();
    expect(bench.modules()).toContain(twin("two.wasm"));
  });

  test("a damaged dump says what is wrong, and its first part can be shown", async () => {
    const dump = readFileSync(join(project, "dumps/03.dump"));
    dump.fill(0xff, dump.length >> 1, (dump.length >> 1) + 4096);
    writeFileSync(join(project, "damaged.dump"), dump);
    await window.openFile("damaged.dump");
    const said = window.notification("damaged.dump");
    await said.waitFor();
    await window.page.screenshot({ path: join(PICTURES, "light-damaged.png") });
    await said.getByRole("button", { name: "Show the Part before the Damage" }).click();
    await window.heap.getByRole("heading", { name: "Overview" }).waitFor();
  });

  test("a file that only has the name of a dump opens as text", async () => {
    await window.openFile("dumps/notes.dump");
    await window.page.locator(".view-line", { hasText: "a dump of a database" }).waitFor();
  });

  test("a report is written, and opens", async () => {
    await window.openFile("dumps/02.dump");
    await window.heap.locator(".top .name", { hasText: "02.dump" }).waitFor();
    await window.run("Heap: Open Report");
    await window.answerFile("The report to write");
    await window.tab("02.dump.html").waitFor();
    await window.heap.getByText("This file loads nothing").waitFor();
    expect(readFileSync(join(project, "dumps/02.dump.html"), "utf8")).toContain("Heap report");
  });

  test("a dump of a running process is taken, and opens", async () => {
    const script = `
      const wasm = require("node:fs").readFileSync(${JSON.stringify(join(project, "build/game.wasm"))});
      WebAssembly.instantiate(wasm, { env: { abort() {} } }).then(({ instance }) => {
        globalThis.game = instance;
        instance.exports.play(50);
        setInterval(() => {}, 1000);
        console.log("ready");
      });
    `;
    const child = spawn(process.execPath, ["--inspect=127.0.0.1:0", "-e", script]);
    try {
      let printed = "";
      for (const stream of [child.stderr, child.stdout]) {
        stream.setEncoding("utf8").on("data", (text) => {
          printed += text;
        });
      }
      await until("the program is ready", async () => printed.includes("ready"));
      const address = /ws:\/\/\S+/.exec(printed)?.[0];
      await window.run("Heap: Take a Dump of the Running Process");
      await window.answer("The running process", address as string);
      await window.answerFile("The dump to write");
      await window.heap.locator(".top .name", { hasText: "process.dump" }).waitFor();
      const taken = openHeapFile(join(project, "process.dump"), join(project, "process.wasm"));
      expect(taken.find({ class: "game/Player" }).total).toBe(50);
    } finally {
      child.kill();
    }
  });

  test("no analyzer outlives its editors", async () => {
    await window.run("View: Close All Editors");
    await expect.poll(() => bench.analyzers()).toEqual([]);
  });

  test("in a workspace that is not trusted, nothing runs", async () => {
    const other = await Workbench.start(join(folder, "untrusted"), {
      "security.workspace.trust.startupPrompt": "never",
      "security.workspace.trust.untrustedFiles": "open",
    });
    try {
      const restricted = await other.open(browser, project);
      await restricted.page.getByText("Restricted Mode").first().waitFor();
      await restricted.openFile("dumps/03.dump");
      await restricted.tab("03.dump").waitFor();
      await restricted.page
        .getByText(/binary/)
        .first()
        .waitFor();
      expect(await restricted.page.locator("iframe.webview").count()).toBe(0);
      expect(other.analyzers()).toEqual([]);
      await restricted.page.screenshot({ path: join(PICTURES, "untrusted.png") });
    } finally {
      other.stop();
    }
  });
});
