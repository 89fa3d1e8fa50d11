// A dump, a heap snapshot and its numbers of a page of a real Chromium. The judge is what the program knows.

import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attach } from "@warpo/heap-analyzer/attach";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { type BridgeTruth, bridgeFolder, groupsNotSeen, shownNumbers } from "../support/bridge.ts";
import { holders, judged, openPair } from "../support/bridge_judge.ts";
import { expectHolders, unpackProgram } from "../support/table_of_objects.ts";
import { FLAGS, findChromium, serve } from "./chromium.ts";

const missing = findChromium() === undefined ? "there is no Chromium" : undefined;
if (missing) console.warn(`tests of captured pairs in a browser are skipped: ${missing}`);

const PAGE = `<!DOCTYPE html><title>starting</title><script type="module">
  const name = location.search.slice(1);
  const { build } = await import("./" + name + ".mjs");
  const { instantiate } = await import("./memory.mjs");
  const module = await WebAssembly.compileStreaming(fetch("./memory.wasm"));
  globalThis.program = await instantiate(module, {});
  globalThis.truth = build(globalThis.program, 1);
  document.title = name + " is ready";
</script>`;

const PAGE_OF_RUST = `<!DOCTYPE html><title>starting</title><script type="module">
  import * as bindings from "./desk.js";
  import { build } from "./clients.mjs";
  const exports = await bindings.default({ module_or_path: "./desk_bg.wasm" });
  globalThis.truth = JSON.stringify(build(exports, bindings));
  document.title = "rust is ready";
</script>`;

interface Listed {
  title: string;
  webSocketDebuggerUrl: string;
}

/** The value of an expression in a page. */
async function evaluate(url: string, expression: string): Promise<unknown> {
  const socket = new WebSocket(url);
  await new Promise((resolve) => socket.once("open", resolve));
  socket.send(
    JSON.stringify({
      id: 1,
      method: "Runtime.evaluate",
      params: { expression, returnByValue: true },
    }),
  );
  const answer = await new Promise((resolve) => socket.once("message", resolve));
  socket.close();
  return JSON.parse(String(answer)).result.result.value;
}

describe.skipIf(missing)("in Chromium", () => {
  let folder: string;
  let server: Awaited<ReturnType<typeof serve>>;
  let browser: ChildProcess;
  let address: string;

  beforeAll(async () => {
    ({ folder } = await bridgeFolder("--debug"));
    cpSync(join(import.meta.dirname, "../programs/bridge"), folder, { recursive: true });
    writeFileSync(join(folder, "index.html"), PAGE);
    mkdirSync(join(folder, "rust"));
    unpackProgram(join(folder, "rust"));
    writeFileSync(join(folder, "rust/index.html"), PAGE_OF_RUST);
    server = await serve(folder);
    const profile = join(folder, "profile");
    mkdirSync(profile);
    const own = ["--headless", "--remote-debugging-port=0", `--user-data-dir=${profile}`];
    browser = spawn(findChromium() as string, [...FLAGS, ...own, "about:blank"]);
    const port = join(profile, "DevToolsActivePort");
    await vi.waitFor(() => expect(existsSync(port)).toBe(true), 60_000);
    address = `http://127.0.0.1:${readFileSync(port, "utf8").split("\n")[0]}`;
  });

  afterAll(async () => {
    if (browser !== undefined) {
      const ended = new Promise((resolve) => browser.once("exit", resolve));
      browser.kill();
      await ended;
    }
    server?.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  });

  /** Opens a page with a program, and returns the address of its debugger when it is ready. */
  async function openPage(name: string, path = `index.html?${name}`): Promise<string> {
    const page = encodeURI(`${server.url}/${path}`);
    await fetch(`${address}/json/new?${page}`, { method: "PUT" });
    const listed = async () => (await (await fetch(`${address}/json/list`)).json()) as Listed[];
    const ready = async () => (await listed()).find(({ title }) => title === `${name} is ready`);
    await vi.waitFor(async () => expect(await ready()).toBeDefined(), 60_000);
    return (await ready())?.webSocketDebuggerUrl as string;
  }

  /** The files of a pair. */
  const outputs = (prefix: string) => ({
    hostOutput: `${prefix}.heapsnapshot`,
    numbersOutput: `${prefix}.numbers.json`,
    closures: true,
  });

  test.each(["desk", "editor", "world"])(
    "%s: every handle is shown, and no lost one",
    async (name) => {
      const url = await openPage(name);
      const prefix = join(folder, name);
      const truth = JSON.parse(String(await evaluate(url, "truth")));

      const target = await attach(url);
      const warnings = await target.writeDump(`${prefix}.dump`, outputs(prefix));
      await target.close();
      expect(warnings).toEqual([]);
      const unseen = truth.groups.filter((group: { unseen?: boolean }) => group.unseen);
      expect(groupsNotSeen(prefix, truth)).toEqual(
        unseen.map(({ name }: { name: string }) => name),
      );
      const shown = shownNumbers(prefix);
      expect(truth.lost.filter((address: number) => shown.has(address))).toEqual([]);
      const verdict = judged(prefix, join(folder, "memory.wasm"), truth);
      if (process.env.TEST_FIGURES) console.log("Chromium", name, JSON.stringify(verdict));
      expect(verdict.wrong).toEqual([]);
      expect(verdict.withHolder / verdict.held).toBeGreaterThanOrEqual(0.75);
    },
  );

  test("a table of externref holds the objects that Rust uses; a declared field shows which object of Rust uses each", async () => {
    const url = await openPage("rust", "rust/index.html");
    const truth = JSON.parse(String(await evaluate(url, "truth")));
    const target = await attach(url);
    const prefix = join(folder, "rust/pair");
    await target.writeDump(`${prefix}.dump`, outputs(prefix));
    await target.close();
    expectHolders(join(folder, "rust"), prefix, truth);
  });

  test("a holder that is removed, and whose objects are unpinned, is gone with them", async () => {
    const url = await openPage("removal");
    const truth: BridgeTruth = JSON.parse(String(await evaluate(url, "truth")));
    const target = await attach(url);
    const [prefix, after] = [join(folder, "removal"), join(folder, "removal-after")];
    await target.writeDump(`${prefix}.dump`, outputs(prefix));
    await evaluate(url, "remove()");
    await target.writeDump(`${after}.dump`, outputs(after));
    await target.close();
    const wasm = join(folder, "memory.wasm");
    const [before, then] = [openPair(prefix, wasm), openPair(after, wasm)];
    for (const { name, addresses } of truth.groups) {
      for (const address of addresses) {
        expect(holders(before, address)).toHaveLength(1);
        expect(then.object(address).path === null).toBe(name === "removed");
        const count = name === "kept" ? 1 : 0;
        if (name !== "removed") expect(holders(then, address)).toHaveLength(count);
      }
    }
    before.close();
    then.close();
  });
});
