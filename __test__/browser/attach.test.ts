// A dump of a page of a real Chromium, which was not prepared. The judge is `writeDump` in Node, byte for byte.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { attach } from "../../dist/attach.js";
import { runCompiler } from "../support/compile.ts";
import { FLAGS, findChromium, serve } from "./chromium.ts";

const PROGRAMS = join(import.meta.dirname, "../programs/attach");
const missing = findChromium() === undefined ? "there is no Chromium" : undefined;
if (missing) console.warn(`tests of attach in a browser are skipped: ${missing}`);

const WORKER = `
  const { instance } = await WebAssembly.instantiateStreaming(fetch("/sessions.wasm"), { env: { abort() {} } });
  instance.exports.work(3);
  globalThis.kept = instance;
  globalThis.postMessage?.("ready");`;
const PAGE = `<!DOCTYPE html><title>starting</title><script type="module">
  ${WORKER.replace(/.*postMessage.*/, "")}
  const worker = new Worker("/worker.js", { type: "module" });
  worker.onmessage = () => { document.title = "ready"; };
</script>`;

describe.skipIf(missing)("in Chromium", () => {
  let folder: string;
  let server: Awaited<ReturnType<typeof serve>>;
  let browser: ChildProcess;
  let address: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "attach-page-"));
    const options = { baseDir: PROGRAMS, exportRuntime: false };
    const { wasm } = await runCompiler(["sessions.ts"], options);
    writeFileSync(join(folder, "sessions.wasm"), wasm);
    writeFileSync(join(folder, "worker.js"), WORKER);
    writeFileSync(join(folder, "index.html"), PAGE);
    server = await serve(folder);
    const profile = join(folder, "profile");
    mkdirSync(profile);
    const own = ["--headless", "--remote-debugging-port=0", `--user-data-dir=${profile}`];
    browser = spawn(findChromium() as string, [...FLAGS, ...own, `${server.url}/index.html`]);
    const port = join(profile, "DevToolsActivePort");
    await vi.waitFor(() => expect(existsSync(port)).toBe(true), 60_000);
    address = `http://127.0.0.1:${readFileSync(port, "utf8").split("\n")[0]}`;
    const titles = async () =>
      ((await (await fetch(`${address}/json/list`)).json()) as { title: string }[]).map(
        ({ title }) => title,
      );
    await vi.waitFor(async () => expect(await titles()).toContain("ready"), 60_000);
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

  test("the dumps of the page and of its worker are those that Node writes", async () => {
    const wasm = join(folder, "sessions.wasm");
    const exposed = join(folder, "exposed.dump");
    execFileSync(process.execPath, [join(PROGRAMS, "server.cjs"), wasm, "--expose", exposed], {
      input: "",
    });
    const target = await attach(address);
    expect(target.instances).toHaveLength(2);
    for (const instance of target.instances.keys()) {
      const [dump, module] = [join(folder, "page.dump"), join(folder, "page.wasm")];
      expect(await target.writeDump(dump, { instance, wasmOutput: module })).toEqual([]);
      expect(readFileSync(dump).equals(readFileSync(exposed))).toBe(true);
      expect(readFileSync(module).equals(readFileSync(wasm))).toBe(true);
      const hostOutput = join(folder, "page.heapsnapshot");
      expect(await target.writeDump(dump, { instance, hostOutput })).toEqual([]);
      expect(readFileSync(dump).equals(readFileSync(exposed))).toBe(true);
      expect(readFileSync(hostOutput, "utf8")).toContain("WebAssembly");
    }
    await target.close();
  });
});
