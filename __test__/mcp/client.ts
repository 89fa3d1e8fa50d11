/** The MCP server as a process, and the official client that talks to it. */
import { join } from "node:path";
import { type CallToolResult, Client, type ClientOptions } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect } from "vitest";

export const SERVER = join(__dirname, "../../packages/mcp/dist/cli.mjs");

/** Both generations of the protocol. The second is that of the initialize handshake. */
export const GENERATIONS = ["2026-07-28", "2025-11-25"] as const;
export type Generation = (typeof GENERATIONS)[number];

/** The fields of an answer. The client has checked them with the output schema. */
// biome-ignore lint/suspicious/noExplicitAny: tests know which tool they called
export type Structured = Record<string, any>;

/** A connected client. */
export interface Session {
  client: Client;
  /** Calls a tool that must succeed, and returns its structured content. */
  call(name: string, args?: Record<string, unknown>): Promise<Structured>;
  /** Calls a tool that must fail, and returns the text. */
  failure(name: string, args?: Record<string, unknown>): Promise<string>;
  close(): Promise<void>;
}

/** Starts a server with these arguments: the one of this repository, or another. */
export async function connect(
  args: string[],
  generation: Generation = GENERATIONS[0],
  server: { script: string[]; cwd?: string; env?: Record<string, string> } = { script: [SERVER] },
): Promise<Session> {
  const options: ClientOptions =
    generation === "2026-07-28" ? { versionNegotiation: { mode: { pin: generation } } } : {};
  const client = new Client({ name: "test", version: "1.0.0" }, options);
  const { script, ...place } = server;
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...script, ...args],
    ...place,
  });
  await client.connect(transport);
  expect(client.getNegotiatedProtocolVersion()).toBe(generation);
  const ask = (name: string, given: Record<string, unknown> = {}) =>
    client.callTool({ name, arguments: given });
  return {
    client,
    async call(name, given) {
      const result = await ask(name, given);
      expect(result.isError, textOf(result)).not.toBe(true);
      expect(charactersOf(result)).toBeLessThanOrEqual(10_000);
      return result.structuredContent as Structured;
    },
    async failure(name, given) {
      const result = await ask(name, given);
      expect(result.isError, textOf(result)).toBe(true);
      return textOf(result);
    },
    close: () => client.close(),
  };
}

export function textOf(result: CallToolResult): string {
  return result.content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

export function charactersOf(result: CallToolResult): number {
  const structured = result.structuredContent;
  const length = structured === undefined ? 0 : JSON.stringify(structured).length;
  return textOf(result).length + length;
}

/** The JSON Schemas of answers, by tool. */
export async function answerSchemas({ client }: Session): Promise<Record<string, object>> {
  const { contents } = await client.readResource({ uri: "heap-analyzer://schema/answers" });
  const [content] = contents;
  return JSON.parse(content !== undefined && "text" in content ? content.text : "{}");
}
