/** The explorer with a running program: its button takes a dump, and `--watch` adds one after the other. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Status } from "../js/explorer/methods.ts";
import { failureOf, runIn } from "./support/command_line.ts";
import { inspectedProgram } from "./support/inspected_program.ts";
import { startOpen } from "./support/open_explorer.ts";

let folder: string;
let program: ChildProcess;
let url: string;
const running: ChildProcess[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "explorer-attach-"));
  ({ child: program, url } = await inspectedProgram(folder, "--debug"));
  running.push(program);
});
afterAll(() => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** Starts the explorer with its temporary files in a folder of the test. */
async function explorer(...args: string[]) {
  const temporary = mkdtempSync(join(folder, "temporary-"));
  const { child, url: address } = await startOpen(args, { ...process.env, TMPDIR: temporary });
  running.push(child);
  const ask = async (method: string) => {
    const response = await fetch(new URL("/ask", address), {
      method: "POST",
      headers: { authorization: `Bearer ${address.searchParams.get("token")}` },
      body: JSON.stringify({ method, params: {} }),
    });
    return await response.json();
  };
  const status = async () => (await ask("status")).result as Status;
  const stop = async () => {
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
  };
  return { ask, status, stop, temporary };
}

test("the first dump is taken at once, others when the page asks; all are removed", async () => {
  const { ask, status, stop, temporary } = await explorer("--attach", url);
  expect(await status()).toMatchObject({ canTake: true, dumps: [{ name: "watch-000001.dump" }] });
  const taken = await ask("take");
  expect(taken).toEqual({ result: { name: "watch-000002.dump", warnings: [] } });
  expect((await status()).dumps).toHaveLength(2);
  expect(readdirSync(temporary)).toHaveLength(1);
  await stop();
  expect(readdirSync(temporary)).toEqual([]);
});

test("with --folder, the dumps and the module stay there, and other commands read them", async () => {
  const kept = join(folder, "kept");
  const { ask, stop, temporary } = await explorer("--attach", url, "--folder", kept);
  await ask("take");
  await stop();
  expect(readdirSync(temporary)).toEqual([]);
  const dumps = ["watch-000001.dump", "watch-000002.dump"];
  expect(readdirSync(kept).sort()).toEqual([...dumps, "watch.wasm"]);
  const summary = runIn(kept, ["summary", dumps[1] as string, "--wasm", "watch.wasm"]);
  expect(summary.stdout).toContain("live");
  const alone = runIn(folder, ["open", "--folder", kept, join(kept, dumps[0] as string)]);
  expect(failureOf(alone)).toContain("--folder needs --attach or --watch");
});

test("without --attach, no dump is taken", async () => {
  const { ask: askFirst, stop: stopFirst, temporary } = await explorer("--attach", url);
  await askFirst("status");
  const [own] = readdirSync(temporary);
  const { ask, status, stop } = await explorer(join(temporary, own as string));
  expect((await status()).canTake).toBe(false);
  expect(await ask("take")).toMatchObject({ error: { code: "ERR_NOT_ALLOWED" } });
  await stop();
  await stopFirst();
});

test("with --watch, dumps are added until the program ends", async () => {
  const { status, stop } = await explorer("--watch", url, "--every", "50ms");
  await expect
    .poll(async () => (await status()).dumps.length, { timeout: 150_000 })
    .toBeGreaterThan(1);
  program.kill();
  await expect.poll(async () => (await status()).failures, { timeout: 150_000 }).toHaveLength(1);
  await stop();
});
