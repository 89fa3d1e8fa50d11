// Reports of the API and the command line. What the page shows is tested in a browser.

import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openHeapFile } from "../dist/index.js";
import type { Heap } from "../index.js";
import { outputOf, runIn } from "./support/command_line.ts";
import { type LeakyServer, leakyServer } from "./support/leaky_server.ts";
import { dataOfReport } from "./support/report_data.ts";

describe("a report", () => {
  const folder = mkdtempSync(join(tmpdir(), "report-"));
  let server: LeakyServer;
  let heap: Heap;
  let before: Heap;
  let page: string;

  beforeAll(async () => {
    server = await leakyServer();
    heap = openHeapFile(server.after, server.wasm);
    before = openHeapFile(server.before, server.wasm);
    page = heap.report({ before });
  });

  afterAll(() => {
    heap.close();
    before.close();
    rmSync(folder, { recursive: true });
  });

  test("is the same from every entry", async () => {
    expect(await heap.reportAsync({ before })).toBe(page);
    const output = join(folder, "report.html");
    const args = ["report", server.after, "--before", server.before, "--wasm", server.wasm];
    const run = runIn(folder, [...args, "--output", output]);
    expect(run).toMatchObject({ status: 0, stdout: "" });
    expect(readFileSync(output, "utf8")).toBe(page);
  });

  test("allows exactly its own script and its own style", () => {
    const policy = page.match(/Content-Security-Policy" content="([^"]*)"/)?.[1];
    const hash = (text: string | undefined) =>
      `'sha256-${createHash("sha256")
        .update(text ?? "")
        .digest("base64")}'`;
    const script = page.match(/<script>([\s\S]*?)<\/script>/)?.[1];
    const style = page.match(/<style>([\s\S]*?)<\/style>/)?.[1];
    expect(policy).toBe(
      `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; base-uri 'none'; form-action 'none'`,
    );
    expect(page).not.toMatch(/\b(?:src|href)=["']?(?:https?:)?\/\//);
    expect(page.match(/<script/g)).toHaveLength(2);
    expect(Buffer.byteLength(page)).toBeLessThan(200_000);
  });

  test("has a comparison only with an earlier heap", () => {
    expect(dataOfReport(page).body.comparison).not.toBeNull();
    expect(dataOfReport(heap.report()).body.comparison).toBeNull();
  });

  test("refuses what it cannot compare, and unknown options", () => {
    const other = { code: "ERR_INVALID_ARG_TYPE" };
    expect(() => heap.report({ before: {} as Heap })).toThrow(expect.objectContaining(other));
    const option = { code: "ERR_INVALID_OPTION" };
    expect(() => heap.report({ limit: 3 } as object)).toThrow(expect.objectContaining(option));
    const closed = openHeapFile(server.after, server.wasm);
    closed.close();
    const error = { code: "ERR_HEAP_CLOSED" };
    expect(() => closed.report()).toThrow(expect.objectContaining(error));
  });

  test("has a help text", async () => {
    const run = runIn(folder, ["report", "--help"]);
    await expect(outputOf(run)).toMatchFileSnapshot("golden/report-help.txt");
  });

  test("leaves no file if the dump cannot be read", () => {
    const output = join(folder, "none.html");
    const run = runIn(folder, ["report", server.wasm, "--wasm", server.wasm, "--output", output]);
    expect(run.status).toBe(1);
    expect(run.stderr).toMatch(/^error: .*\n$/);
    expect(existsSync(output)).toBe(false);
  });
});
