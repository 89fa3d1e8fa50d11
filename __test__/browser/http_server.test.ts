// Who may ask the server over HTTP from a real browser: the page at the printed address, and no other.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SERVER } from "../mcp/client.ts";
import { addressOf } from "../mcp/wires.ts";
import { leakyServer } from "../support/leaky_server.ts";
import { FLAGS, findChromium, serve } from "./chromium.ts";

/** A name of the attacker that leads to this machine, as after DNS rebinding. */
const REBOUND = "rebound.example";

describe.skipIf(findChromium() === undefined)("pages in Chromium", () => {
  let browser: Browser;
  let child: ChildProcess;
  let port: number;
  let token: string;
  let folder: string;
  let attacker: { url: string; close: () => void };

  beforeAll(async () => {
    const { folder: root } = await leakyServer();
    child = spawn(process.execPath, [SERVER, "serve", "--http", "--root", root], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    ({ port, token } = await addressOf(child));
    folder = mkdtempSync(join(tmpdir(), "hostile-pages-"));
    writeFileSync(join(folder, "page.html"), "<!doctype html><title>attacker</title>");
    attacker = await serve(folder);
    browser = await chromium.launch({
      executablePath: findChromium() as string,
      args: [...FLAGS, `--host-resolver-rules=MAP ${REBOUND} 127.0.0.1`],
    });
  });
  afterAll(async () => {
    await browser?.close();
    attacker?.close();
    child?.kill("SIGKILL");
    rmSync(folder, { recursive: true });
  });

  const own = () => `http://127.0.0.1:${port}`;

  /** A page of the attacker, and the status of each answer that the server gave to it, by method and path. */
  async function hostilePage(): Promise<{ page: Page; answers: string[] }> {
    const page = await browser.newPage();
    const answers: string[] = [];
    page.on("response", (response) => {
      const { host, pathname } = new URL(response.url());
      if (host.endsWith(`:${port}`)) {
        answers.push(`${response.request().method()} ${pathname} ${response.status()}`);
      }
    });
    await page.goto(`${attacker.url}/page.html`);
    return { page, answers };
  }

  /** What a page reads with `fetch`: the status and the text, or that it may not read. */
  function fetched(page: Page, url: string, options: RequestInit = {}): Promise<string> {
    return page.evaluate(
      async ([url, options]) => {
        try {
          const response = await fetch(url, options);
          return `${response.status} ${await response.text()}`;
        } catch {
          return "not readable";
        }
      },
      [url, options] as const,
    );
  }

  test("the page at the printed address asks, and reads the answer from its stream", async () => {
    const page = await browser.newPage();
    expect((await page.goto(`${own()}/?token=${token}`))?.status()).toBe(200);
    const answer = await page.evaluate(async (token) => {
      const headers = { Authorization: `Bearer ${token}` };
      const stream = await fetch("/stream", { headers });
      const reader = (stream.body as ReadableStream<Uint8Array>).getReader();
      const decoder = new TextDecoder();
      let text = "";
      const line = async () => {
        while (!text.includes("\n")) text += decoder.decode((await reader.read()).value);
        const [first, ...rest] = text.split("\n");
        text = rest.join("\n");
        return JSON.parse(first as string);
      };
      const { params } = await line();
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "list_dumps", params: {} });
      const sent = { method: "POST", headers: { ...headers, Client: params.client }, body };
      const { status } = await fetch("/messages", sent);
      const { result } = await line();
      await reader.cancel();
      return { status, dumps: result.dumps.length };
    }, token);
    expect(answer).toEqual({ status: 202, dumps: 2 });
    await page.close();
  });

  test("without the token, a page of the same origin gets nothing", async () => {
    const page = await browser.newPage();
    expect((await page.goto(own()))?.status()).toBe(401);
    await page.goto(`${own()}/?token=${token}`);
    for (const path of ["/", "/stream", "/messages"]) {
      expect(await fetched(page, path)).toMatch(/^401 .*ERR_NO_TOKEN/);
    }
    await page.close();
  });

  test("a page of another origin reads nothing, even with the token", async () => {
    const { page } = await hostilePage();
    const headers = { Authorization: `Bearer ${token}` };
    for (const options of [{}, { headers }, { mode: "no-cors" }] as RequestInit[]) {
      for (const path of [`/?token=${token}`, "/stream"]) {
        const found = await fetched(page, `${own()}${path}`, options);
        expect(found).toBe("not readable");
      }
    }
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "list_dumps", params: {} });
    const sent = { method: "POST", headers: { ...headers, Client: "x" }, body };
    expect(await fetched(page, `${own()}/messages`, sent)).toBe("not readable");
    // The page can ask others.
    expect(await fetched(page, `${attacker.url}/page.html`)).toContain("attacker");
    await page.close();
  });

  test("images, scripts, styles, frames and sockets of another origin are refused", async () => {
    const { page, answers } = await hostilePage();
    const url = `${own()}/?token=${token}`;
    const loaded = await page.evaluate(async (url) => {
      const load = (name: string, attribute: string) =>
        new Promise<string>((resolve) => {
          const element = document.createElement(name);
          element.onload = () => resolve(`${name} loaded`);
          element.onerror = () => resolve(`${name} refused`);
          if (name === "link") element.setAttribute("rel", "stylesheet");
          element.setAttribute(attribute, url);
          document.head.append(element);
        });
      const socket = new Promise<string>((resolve) => {
        const opened = new WebSocket(url.replace("http:", "ws:"));
        opened.onopen = () => resolve("socket opened");
        opened.onerror = () => resolve("socket refused");
      });
      return await Promise.all([
        load("img", "src"),
        load("script", "src"),
        load("link", "href"),
        socket,
      ]);
    }, url);
    expect(loaded).toEqual(["img refused", "script refused", "link refused", "socket refused"]);
    await page.evaluate((url) => {
      const frame = document.createElement("iframe");
      frame.src = url;
      document.body.append(frame);
    }, url);
    // Of the frame: Chromium hides the other answers.
    await expect.poll(() => answers, { timeout: 10_000 }).toContain("GET / 403");
    for (const answer of answers) expect(answer).toMatch(/ 403$/);
    await page.close();
  });

  test("a form of another origin is refused, and so is a link", async () => {
    const { page, answers } = await hostilePage();
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "list_dumps" });
    await page.setContent(
      `<form action="${own()}/messages" method="post" enctype="text/plain">` +
        `<input name='${body.slice(0, -1)},"x":"' value='"}'><button>Send</button></form>` +
        `<a href="${own()}/?token=${token}">Open</a>`,
    );
    await Promise.all([page.waitForNavigation(), page.click("button")]);
    expect(answers).toEqual(["POST /messages 403"]);
    expect(await page.textContent("body")).toContain("ERR_FOREIGN_ORIGIN");
    await page.goBack();
    await page.setContent(`<a href="${own()}/?token=${token}">Open</a>`);
    await Promise.all([page.waitForNavigation(), page.click("a")]);
    expect(answers.at(-1)).toBe("GET / 403");
    await page.close();
  });

  test("a page whose name was made to lead here is refused, even with the token", async () => {
    const page = await browser.newPage();
    const rebound = `http://${REBOUND}:${port}`;
    // The page that says so has the origin of the attacker, and Chromium lets it ask.
    const refused = await page.goto(`${rebound}/?token=${token}`);
    expect([refused?.status(), await refused?.text()]).toEqual([
      403,
      expect.stringContaining("ERR_FOREIGN_HOST"),
    ]);
    const headers = { Authorization: `Bearer ${token}` };
    for (const path of ["/", "/stream", `/?token=${token}`]) {
      expect(await fetched(page, path, { headers })).toMatch(/^403 .*ERR_FOREIGN_HOST/);
    }
    const sent = { method: "POST", headers: { ...headers, Client: "x" }, body: "{}" };
    expect(await fetched(page, "/messages", sent)).toMatch(/^403 .*ERR_FOREIGN_HOST/);
    expect((await page.goto(`http://localhost:${port}/?token=${token}`))?.status()).toBe(403);
    await page.close();
  });
});
