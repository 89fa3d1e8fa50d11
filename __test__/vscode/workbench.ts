/** VS Code as a server, with the packed extension, in a real Chromium. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Browser, FrameLocator, Locator, Page } from "playwright-core";

const MODULES = join(import.meta.dirname, "node_modules");
const NODE = join(MODULES, "node-24/bin/node");
const SERVER = join(MODULES, "code-server/lib/vscode/out/server-main.js");
/** For each step, in milliseconds. A busy machine takes several times as long as usual. */
const LIMIT = 150_000;
const EXTENSION = join(import.meta.dirname, "../../packages/vscode");

/** Why the tests cannot run; undefined if they can. */
export function whatIsMissing(): string | undefined {
  if (!existsSync(join(MODULES, "code-server/lib/vscode/node_modules"))) return "no VS Code";
  return packed() === undefined ? "no packed extension" : undefined;
}

/** The packed extension for this machine, if it was packed. */
export function packed(): string | undefined {
  const name = readdirSync(EXTENSION).find((file) => file.endsWith(`${process.arch}.vsix`));
  return name && join(EXTENSION, name);
}

/** A server of the editor with settings of its own. */
export class Workbench {
  readonly #child: ChildProcess;
  readonly #port: number;
  readonly #extensions: string;

  private constructor(child: ChildProcess, port: number, extensions: string) {
    this.#child = child;
    this.#port = port;
    this.#extensions = extensions;
  }

  /** Installs the extension into a folder, as a person does, and starts the server. */
  static async start(folder: string, settings: Record<string, unknown>): Promise<Workbench> {
    const data = join(folder, "data");
    const extensions = join(folder, "extensions");
    mkdirSync(join(data, "User"), { recursive: true });
    const quietly = {
      "workbench.startupEditor": "none",
      "workbench.secondarySideBar.defaultVisibility": "hidden",
      "chat.disableAIFeatures": true,
    };
    const all = JSON.stringify({ ...quietly, ...settings });
    writeFileSync(join(data, "User/settings.json"), all);
    const places = ["--user-data-dir", data, "--extensions-dir", extensions];
    const run = [SERVER, "--accept-server-license-terms", ...places];
    const env = { ...process.env, HOME: folder };
    const install = [...run, "--install-extension", packed() as string];
    const { status, stdout, stderr, error } = spawnSync(NODE, install, {
      encoding: "utf8",
      env,
      timeout: LIMIT,
    });
    if (status !== 0) {
      throw new Error(`the extension is not installed: ${error?.message ?? ""}${stdout}${stderr}`);
    }
    const port = await freePort();
    const quiet = ["--without-connection-token", "--telemetry-level", "off"];
    const address = ["--host", "127.0.0.1", "--port", `${port}`];
    const child = spawn(NODE, [...run, ...quiet, ...address], { env, stdio: "ignore" });
    const bench = new Workbench(child, port, extensions);
    await bench.#answers();
    return bench;
  }

  async #answers(): Promise<void> {
    const version = `http://127.0.0.1:${this.#port}/version`;
    const asked = () => fetch(version, { signal: AbortSignal.timeout(LIMIT) });
    await until(`the server of the editor answers at ${version}`, async () => {
      const response = await asked().catch(() => undefined);
      return response?.ok === true;
    });
  }

  /** A window with a folder. */
  async open(browser: Browser, folder: string): Promise<Window> {
    const context = await browser.newContext({ viewport: { width: 1600, height: 1000 } });
    context.setDefaultTimeout(LIMIT);
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${this.#port}/?folder=${encodeURIComponent(folder)}`);
    await page.locator(".monaco-workbench .explorer-folders-view").waitFor();
    return new Window(page);
  }

  /** The processes of the analyzer that the extension has started. */
  analyzers(): number[] {
    return [...this.#commands().keys()];
  }

  /** The modules that these processes read, by their paths. */
  modules(): (string | undefined)[] {
    return [...this.#commands().values()].map((words) => words[words.indexOf("--wasm") + 1]);
  }

  /** The words of the commands `open`, by process. */
  #commands(): Map<number, string[]> {
    const found = new Map<number, string[]>();
    for (const id of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
      const words = wordsOf(id);
      const isOurs = words.some((word) => word.startsWith(this.#extensions));
      if (isOurs && words.includes("open")) found.set(Number(id), words);
    }
    return found;
  }

  stop(): void {
    this.#child.kill();
  }
}

/** A window of the editor. */
export class Window {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  /** The page of the extension in the tab that is shown. */
  get heap(): FrameLocator {
    return this.page
      .locator("iframe.webview.ready")
      .filter({ visible: true })
      .last()
      .contentFrame()
      .frameLocator("#active-frame");
  }

  /** Opens a file of the tree; the folder of its path is opened first. */
  async openFile(path: string): Promise<void> {
    const rows = this.page.locator(".explorer-folders-view .monaco-list-row");
    const [name = "", folder] = path.split("/").reverse();
    const row = rows.filter({ has: this.page.getByText(name, { exact: true }) });
    if (folder !== undefined && (await row.count()) === 0) {
      await rows.filter({ has: this.page.getByText(folder, { exact: true }) }).click();
    }
    await row.dblclick();
  }

  /** Waits until the editor knows the extension. Before that, it opens dumps as text. */
  async knowsExtension(): Promise<void> {
    const entries = this.page.locator(".quick-input-list .monaco-list-row");
    const known = entries.filter({ hasText: "Heap: Take a Dump" });
    await until("the editor lists the commands of the extension", async () => {
      await this.page.keyboard.press("F1");
      await this.#box.fill(">Heap: Take a Dump");
      await entries.first().waitFor();
      const isKnown = (await known.count()) > 0;
      await this.#box.press("Escape");
      return isKnown;
    });
  }

  /** The box of a question, or of the list of commands. */
  get #box(): Locator {
    return this.page.locator(".quick-input-widget input").filter({ visible: true }).first();
  }

  /** Waits for a question. Without it, an answer could go to the box that was open before. */
  async #isAsked(question: string): Promise<void> {
    const title = this.page.locator(".quick-input-title", { hasText: question });
    const hint = this.page.locator(`.quick-input-widget input[placeholder*="${question}"]`);
    await title.or(hint).filter({ visible: true }).first().waitFor();
    await this.#box.waitFor();
  }

  async run(command: string): Promise<void> {
    await this.page.keyboard.press("F1");
    await this.#box.fill(`>${command}`);
    await this.#take(command);
  }

  /** Answers a question with a text. */
  async answer(question: string, text: string): Promise<void> {
    await this.#isAsked(question);
    await this.#box.fill(text);
    await this.#box.press("Enter");
  }

  /** Answers a question with a file; without one, with the file that it proposes. */
  async answerFile(question: string, path?: string): Promise<void> {
    await this.#isAsked(question);
    // The dialog fills in its folder when it has read it.
    let shown = "";
    await until(`"${question}" shows ${path ?? "a file"}`, async () => {
      const before = shown;
      shown = await this.#box.inputValue();
      if (!shown.includes("/") || shown !== before) return false;
      if (path === undefined || shown === path) return true;
      await this.#box.fill(path);
      return false;
    });
    await this.#box.press("Enter");
  }

  /** Answers a question with the entry of its list that has a text. */
  async choose(question: string, text: string): Promise<void> {
    await this.#isAsked(question);
    await this.#box.fill(text);
    await this.#take(text);
  }

  async #take(label: string): Promise<void> {
    const entry = this.page.locator(".quick-input-list .monaco-list-row", { hasText: label });
    await entry.first().click();
  }

  notification(text: string): Locator {
    return this.page.locator(".notification-list-item", { hasText: text });
  }

  /** `Ln 3, Col 1` of the editor that has the focus. */
  async line(): Promise<string> {
    return (await this.page.locator("#status\\.editor\\.selection").textContent()) ?? "";
  }

  tab(name: string): Locator {
    return this.page.locator(".tab", { hasText: name });
  }

  /** Closes the tab of a file. */
  async closeEditor(name: string): Promise<void> {
    await this.tab(name).click({ button: "middle" });
    await this.tab(name).waitFor({ state: "detached" });
  }
}

/** Asks again and again. After the time limit, fails and says what was waited for. */
export async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + LIMIT;
  while (!(await isTrue())) {
    if (Date.now() > end) throw new Error(`waited ${LIMIT / 1000} s until ${what}`);
    await setTimeout(200);
  }
}

/** The command line of a process; nothing if it has ended. */
function wordsOf(process: string): string[] {
  try {
    return readFileSync(`/proc/${process}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
