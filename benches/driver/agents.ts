/**
 * Asks the server for agents as a client does: `node build/bench/agents.js <dump> <wasm>` prints as JSON how
 * many seconds the answers took, from the request to the answer.
 */
import { dirname, resolve } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const SERVER = resolve(__dirname, "../../packages/mcp/dist/cli.mjs");

/** Seconds. */
export interface AgentTimes {
  open: number;
  /** From the request that opens the heap to an answer about an object that is asked for at once. */
  ready: number;
  /** The slowest of as many answers about one object as a page has. */
  object: number;
  /** The slowest of all questions that were asked before. */
  repeated: number;
}

async function main([dump, wasm]: [string, string]): Promise<AgentTimes> {
  const client = new Client(
    { name: "bench", version: "1.0.0" },
    { versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  const args = [SERVER, "--root", dirname(dump), "--root", dirname(wasm)];
  await client.connect(new StdioClientTransport({ command: process.execPath, args }));
  // At its first question, the client compiles the schemas of all tools.
  await client.callTool({ name: "list_dumps", arguments: {} });
  const asked: [string, Record<string, unknown>][] = [];
  const ask = async (name: string, given: Record<string, unknown>) => {
    asked.push([name, given]);
    const begin = performance.now();
    const result = await client.callTool({ name, arguments: given }, { timeout: 600_000 });
    const seconds = (performance.now() - begin) / 1000;
    if (result.isError) throw new Error(JSON.stringify(result.content));
    return { seconds, answer: result.structuredContent as Record<string, unknown> };
  };
  const begin = performance.now();
  const opened = await ask("open_heaps", { dumps: [dump], wasm });
  const [{ heap }] = opened.answer.heaps as [{ heap: string }];
  const [largest] = (await ask("dominators", { heap })).answer.children as { address: number }[];
  for (const name of ["object", "paths"]) await ask(name, { heap, address: largest?.address });
  const ready = (performance.now() - begin) / 1000;
  const { rows } = (await ask("classes", { heap, sort: "count" })).answer as {
    rows: { className: string }[];
  };
  const found = await ask("find", { heap, class: rows[0]?.className });
  const times: number[] = [];
  for (const { address } of found.answer.objects as { address: number }[]) {
    for (const name of ["object", "paths", "dominators"]) {
      times.push((await ask(name, { heap, address })).seconds);
    }
  }
  for (const name of ["suspects", "dominators", "waste"]) await ask(name, { heap });
  await ask("paths", { heap, class: rows[0]?.className });
  await ask("growth", { heaps: [heap, heap] });
  const again: number[] = [];
  for (const [name, given] of asked.splice(0)) again.push((await ask(name, given)).seconds);
  await client.close();
  const [object, repeated] = [times, again].map((all) => Math.max(...all)) as [number, number];
  return { open: opened.seconds, ready, object, repeated };
}

main(process.argv.slice(2) as [string, string]).then((times) => console.log(JSON.stringify(times)));
