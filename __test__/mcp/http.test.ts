// Who may ask the server over HTTP: only who has the token, from this machine, and from no other page.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type IncomingHttpHeaders, request } from "node:http";
import { createConnection } from "node:net";
import { networkInterfaces } from "node:os";
import type { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { leakyServer } from "../support/leaky_server.ts";
import { SERVER } from "./client.ts";
import { addressOf } from "./wires.ts";

let child: ChildProcess;
let port: number;
let token: string;

beforeAll(async () => {
  const { folder } = await leakyServer();
  child = spawn(process.execPath, [SERVER, "serve", "--http", "--root", folder], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  ({ port, token } = await addressOf(child));
});
afterAll(() => void child.kill("SIGKILL"));

interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
  /** The body is not read to its end. */
  stream: Readable;
}

/** Asks with the right token and Host, unless other headers are given. Undefined leaves a header out. */
async function ask(
  path: string,
  {
    headers = {},
    method = "GET",
  }: { headers?: Record<string, string | undefined>; method?: string } = {},
): Promise<Reply> {
  const all = { host: `127.0.0.1:${port}`, authorization: `Bearer ${token}`, ...headers };
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  const options = { port, host: "127.0.0.1", path, method, headers: given as IncomingHttpHeaders };
  const sent = request({ ...options, setHost: false, agent: false });
  sent.end();
  const [response] = await once(sent, "response");
  const isOpen = String(response.headers["content-type"]).startsWith("application/x-ndjson");
  let body = "";
  if (isOpen) body = String((await once(response, "data"))[0]);
  else for await (const piece of response) body += piece;
  if (isOpen) response.destroy();
  return { status: response.statusCode, headers: response.headers, body, stream: response };
}

function codeOf({ body }: Reply): string {
  return JSON.parse(body).error.code;
}

test("who has the token may ask, with or without an Origin", async () => {
  const origin = `http://127.0.0.1:${port}`;
  for (const headers of [{}, { origin }, { origin, "sec-fetch-site": "same-origin" }]) {
    expect((await ask("/", { headers })).status).toBe(200);
    expect((await ask("/stream", { headers })).status).toBe(200);
    // It got as far as the client, which is not there.
    expect(codeOf(await ask("/messages", { headers, method: "POST" }))).toBe("ERR_NO_CLIENT");
  }
  const opened = { authorization: undefined, "sec-fetch-site": "none" };
  expect((await ask(`/?token=${token}`, { headers: opened })).status).toBe(200);
});

const ROUTES: [string, string][] = [
  ["GET", "/"],
  ["GET", "/stream"],
  ["POST", "/messages"],
  ["GET", "/nothing"],
];

describe.each(ROUTES)("%s %s", (method, path) => {
  test("needs the token", async () => {
    const wrong = token.slice(0, -1) + (token.endsWith("A") ? "B" : "A");
    for (const authorization of [
      undefined,
      "",
      "Bearer",
      "Bearer ",
      `Bearer ${wrong}`,
      `Bearer ${token}x`,
      `Bearer ${token.slice(1)}`,
      `bearer ${token}`,
      `Basic ${token}`,
      token,
    ]) {
      const reply = await ask(path, { method, headers: { authorization } });
      expect([reply.status, codeOf(reply)], authorization).toEqual([401, "ERR_NO_TOKEN"]);
      expect(reply.body).not.toContain(token);
    }
    // Only the start of the page takes it from the address.
    if (path !== "/") {
      const headers = { authorization: undefined };
      expect((await ask(`${path}?token=${token}`, { method, headers })).status).toBe(401);
    }
  });

  test("is refused for another Host, as after DNS rebinding", async () => {
    for (const host of [
      undefined,
      "",
      "127.0.0.1",
      `localhost:${port}`,
      `evil.example:${port}`,
      `127.0.0.1.evil.example:${port}`,
      `127.0.0.1:${port}.evil.example`,
      `127.0.0.1:${port + 1}`,
      `[::1]:${port}`,
    ]) {
      const headers: Record<string, string | undefined> = { host };
      if (host === undefined) {
        // Only the oldest version of HTTP has requests without a Host.
        const answer = await raw(
          `${method} ${path} HTTP/1.0\r\nAuthorization: Bearer ${token}\r\n\r\n`,
        );
        expect(answer).toContain("ERR_FOREIGN_HOST");
        continue;
      }
      const reply = await ask(path, { method, headers });
      expect([reply.status, codeOf(reply)], host).toEqual([403, "ERR_FOREIGN_HOST"]);
    }
  });

  test("is refused for a page of another origin, which also gets no leave to read", async () => {
    for (const headers of [
      { origin: "http://evil.example" },
      { origin: "null" },
      { origin: "" },
      { origin: `http://localhost:${port}` },
      { origin: `https://127.0.0.1:${port}` },
      { origin: `http://127.0.0.1:${port + 1}` },
      { origin: `http://127.0.0.1:${port}/` },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
    ]) {
      const reply = await ask(path, { method, headers });
      const found = [reply.status, codeOf(reply)];
      expect(found, JSON.stringify(headers)).toEqual([403, "ERR_FOREIGN_ORIGIN"]);
      expect(Object.keys(reply.headers).join()).not.toContain("access-control");
    }
  });
});

/** What the server answers to bytes. */
async function raw(text: string): Promise<string> {
  const socket = createConnection(port, "127.0.0.1");
  socket.write(text);
  let answer = "";
  for await (const piece of socket) answer += piece;
  return answer;
}

test("every answer has the policy that lets nothing run or load", async () => {
  const replies = [
    await ask("/"),
    await ask("/stream"),
    await ask("/nothing"),
    await ask("/", { headers: { authorization: undefined } }),
    await ask("/", { headers: { host: "evil.example" } }),
  ];
  for (const { headers } of replies) {
    expect(headers["content-security-policy"]).toMatch(/^default-src 'none'; connect-src 'self';/);
    expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(headers["referrer-policy"]).toBe("no-referrer");
    expect(headers["cache-control"]).toBe("no-store");
    expect(headers["cross-origin-resource-policy"]).toBe("same-origin");
  }
});

test("no path leads to a file, and a preflight gets no leave", async () => {
  for (const path of [
    "/../../etc/passwd",
    "/..%2f..%2fetc/passwd",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/stream/../../etc/passwd",
    "//etc/passwd",
    "/after.dump",
    "/server.wasm",
    "/.",
    "/\\..\\after.dump",
  ]) {
    const reply = await ask(path);
    expect([reply.status, codeOf(reply)], path).toEqual([404, "ERR_NO_ROUTE"]);
    expect(reply.body).not.toContain("root:");
  }
  const headers = { origin: "http://evil.example", authorization: undefined };
  const preflight = await ask("/messages", { method: "OPTIONS", headers });
  expect(preflight.status).toBe(403);
  expect(Object.keys(preflight.headers).join()).not.toContain("access-control");
});

test("a handle belongs to the client that opened the heap", async () => {
  const [one, other] = [await client(), await client()];
  const { result } = await one.ask("open_heaps", { dumps: ["after.dump"] });
  const { heap } = result.heaps[0];
  expect((await one.ask("classes", { heap })).result.rows).not.toEqual([]);
  // The same question was answered before, and the server keeps answers.
  expect((await other.ask("classes", { heap })).error.data.code).toBe("ERR_UNKNOWN_HANDLE");
  expect((await other.ask("find", { heap })).error.data.code).toBe("ERR_UNKNOWN_HANDLE");
  const again = await other.ask("open_heaps", { dumps: ["after.dump"] });
  expect(again.result.heaps[0].heap).toBe(heap);
  expect((await other.ask("classes", { heap })).result.rows).not.toEqual([]);
  for (const { close } of [one, other]) close();
});

/** A client with a stream of its own, which asks one question after the other. */
async function client() {
  const stop = new AbortController();
  const authorization = `Bearer ${token}`;
  const at = (path: string) => `http://127.0.0.1:${port}${path}`;
  const { body } = await fetch(at("/stream"), {
    headers: { authorization },
    signal: stop.signal,
  });
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let text = "";
  async function line() {
    while (!text.includes("\n")) text += decoder.decode((await reader.read()).value);
    const [first = "", ...rest] = text.split("\n");
    text = rest.join("\n");
    return JSON.parse(first);
  }
  const { params } = await line();
  return {
    close: () => stop.abort(),
    async ask(method: string, args: object) {
      const message = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: args });
      const headers = { authorization, client: params.client };
      await fetch(at("/messages"), { method: "POST", headers, body: message });
      return await line();
    },
  };
}

test("four clients are served, a fifth is refused until one goes away", async () => {
  const streams: Readable[] = [];
  const open = async () => {
    const headers = { host: `127.0.0.1:${port}`, authorization: `Bearer ${token}` };
    const sent = request({ port, host: "127.0.0.1", path: "/stream", headers, agent: false });
    sent.end();
    const [response] = await once(sent, "response");
    streams.push(response);
    return response.statusCode as number;
  };
  // Streams of other tests end when their connections do.
  await expect.poll(open, { timeout: 30_000 }).toBe(503);
  const served = streams.filter((stream) => (stream as { statusCode?: number }).statusCode === 200);
  expect(served).toHaveLength(4);
  served[0]?.destroy();
  await expect.poll(open, { timeout: 30_000 }).toBe(200);
  for (const stream of streams) stream.destroy();
});

test("only this machine reaches it, and each start has another token", async () => {
  const outside = Object.values(networkInterfaces())
    .flat()
    .find((one) => one?.family === "IPv4" && !one.internal);
  if (outside !== undefined) {
    const socket = createConnection(port, outside.address);
    const [error] = await once(socket, "error");
    expect(error.code).toBe("ECONNREFUSED");
  }
  const { folder } = await leakyServer();
  const other = spawn(process.execPath, [SERVER, "serve", "--http", "--root", folder], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const { token: second } = await addressOf(other);
  expect(second).not.toBe(token);
  expect(second).toMatch(/^[\w-]{43}$/);
  other.kill("SIGTERM");
  if (process.platform !== "win32") expect(await once(other, "exit")).toEqual([0, null]);
});
