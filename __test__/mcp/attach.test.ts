/** The tool that takes dumps of running programs, which only an option allows. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inspectedProgram } from "../support/inspected_program.ts";
import { connect } from "./client.ts";

let folder: string;
let child: ChildProcess;
let url: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "mcp-attach-"));
  ({ child, url } = await inspectedProgram(folder, "--debug"));
});
afterAll(() => {
  child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

test("without --attach there is no such tool", async () => {
  const session = await connect(["--root", folder]);
  const { tools } = await session.client.listTools();
  expect(tools.map(({ name }) => name)).not.toContain("attach");
  await session.close();
});

test("dumps of the named program are taken, opened, and removed at the end", async () => {
  const session = await connect(["--root", folder, "--attach", url]);
  const listed = await session.call("attach", { list: true });
  expect(listed).toMatchObject({ dump: null, instances: [{ memorySize: 65_536 }] });
  expect(listed.instances[0].thread).toBe('⟪"main"⟫');

  const { dump, notes } = await session.call("attach", { host: true });
  expect(notes).toEqual([]);
  expect(dump.liveObjects).toBeGreaterThan(0);
  const { rows } = await session.call("classes", { heap: dump.heap });
  expect(rows.map(({ className }: { className: string }) => className)).toContain(
    "~lib/string/String",
  );
  const { heaps } = await session.call("open_heaps", { dumps: [dump.heapsnapshot] });
  expect(heaps[0].liveObjects).toBeGreaterThan(1000);
  expect(dump.numbers).toBe(dump.path.replace(/dump$/, "numbers.json"));
  expect(existsSync(dump.numbers)).toBe(true);

  const again = await session.call("attach", {});
  expect(again.dump.path).not.toBe(dump.path);
  expect(again.dump.wasm).toBe(dump.wasm);
  expect(existsSync(dump.path)).toBe(true);
  await session.close();
  await expect.poll(() => existsSync(dirname(dump.path))).toBe(false);
});

test("dumps go into the export folder; a program that was not named is refused", async () => {
  const exports = join(folder, "exports");
  mkdirSync(exports);
  const options = ["--root", folder, "--export-folder", exports, "--attach", url];
  const session = await connect(options);
  const { dump } = await session.call("attach", {});
  expect(dump.path).toBe("exports/attached-1.dump");
  const refusal = await session.failure("attach", { target: String(process.pid) });
  expect(refusal).toContain("ERR_NOT_ALLOWED");
  await session.close();
  expect(readdirSync(exports).sort()[0]).toBe("attached-1.dump");
});

test("a target that does not answer makes no other one wait", async () => {
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const bad = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const session = await connect(["--attach", bad, "--attach", url]);
  const waiting = session.failure("attach", { target: bad, list: true });
  const { instances } = await session.call("attach", { target: url, list: true });
  expect(instances).toHaveLength(1);
  silent.close();
  silent.closeAllConnections();
  expect(await waiting).toContain("ERR_ATTACH_TARGET");
  await session.close();
});
