// A hunt as an agent does it: from nothing to the paragraph for the ticket. It prints its transcript.

import { copyFileSync, mkdtempSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { leakyServer } from "../support/leaky_server.ts";
import { charactersOf, connect, type Session, type Structured, textOf } from "./client.ts";

let folder: string;
let session: Session;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "mcp-hunt-"));
  const { wasm, before, after } = await leakyServer();
  for (const [nth, file] of [wasm, before, after].entries()) {
    const copy = join(folder, basename(file));
    copyFileSync(file, copy);
    utimesSync(copy, nth, nth);
  }
  session = await connect(["--root", folder]);
});
afterAll(async () => {
  await session.close();
  rmSync(folder, { recursive: true });
});

test("a hunt finds the leak of the demo in few calls and characters", async () => {
  const transcript: string[] = [];
  let calls = 0;
  let characters = 0;
  const ask = async (name: string, args: Record<string, unknown>): Promise<Structured> => {
    const result = await session.client.callTool({ name, arguments: args });
    const request = JSON.stringify(args);
    calls++;
    characters += request.length + charactersOf(result);
    transcript.push(`> ${name} ${request}`, textOf(result), "");
    expect(result.isError).not.toBe(true);
    return result.structuredContent as Structured;
  };

  const { dumps } = await ask("list_dumps", {});
  const oldestFirst = dumps.map(({ path }: { path: string }) => path).reverse();
  const { heaps } = await ask("open_heaps", { dumps: oldestFirst });
  const [before, heap] = heaps.map((one: { heap: string }) => one.heap);
  const [suspect] = (await ask("suspects", { heap, before, limit: 3 })).suspects;
  const { address } = suspect.accumulation;
  const { rows } = await ask("compare", { heap, before, limit: 3 });
  const why = await ask("paths", { heap, address });
  transcript.push(suspect.text);

  expect(suspect.accumulation.owner).toBe("assembly/server/PriceFeed.listeners");
  expect(rows[0]).toMatchObject({ className: "assembly/server/PriceListener", newCount: 120 });
  expect(why.object.path.root).toEqual({ kind: "global", name: "assembly/server/prices" });
  expect(why.object.cut).toMatchObject({
    className: "assembly/server/PriceFeed",
    label: "listeners",
  });
  expect(calls).toBeLessThanOrEqual(5);
  expect(characters).toBeLessThanOrEqual(30_000);
  const text = transcript.join("\n");
  console.log(`${text}\n(${calls} calls, ${characters} characters)`);
  await expect(`${text}\n`).toMatchFileSnapshot("../golden/mcp-hunt.txt");
});
