/** The server of `open`, when programs without its token do their worst. */
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serveExplorer } from "../dist/explorer/server.js";
import type { LocalServer } from "../dist/served/local_http.js";

let server: LocalServer;
let url: URL;
const open: Socket[] = [];

beforeAll(async () => {
  const answer = async (method: string) => ({ method });
  server = await serveExplorer({ answer } as unknown as Parameters<typeof serveExplorer>[0], 0);
  url = new URL(server.url);
});
afterAll(async () => {
  for (const socket of open) socket.destroy();
  await server.close();
});

const port = () => Number(url.port);
const token = () => url.searchParams.get("token");

/** A connection that sends this. */
function stranger(text = "GET / HTTP/1.1\r\n"): Socket {
  const socket = connect(port(), "127.0.0.1", () => socket.write(text));
  socket.on("error", () => {});
  open.push(socket);
  return socket;
}

/** All that the server sends until it ends the connection. */
async function answerTo(text: string): Promise<string> {
  const socket = stranger(text);
  let answer = "";
  socket.on("data", (piece) => {
    answer += piece;
  });
  await new Promise((resolve) => socket.once("close", resolve));
  return answer;
}

/** Asks with the token, on a connection of its own. */
async function ask(body: string): Promise<{ status: number | undefined; text: string }> {
  return await new Promise((resolve, reject) => {
    const headers = { host: `127.0.0.1:${port()}`, authorization: `Bearer ${token()}` };
    const options = { port: port(), host: "127.0.0.1", path: "/ask", method: "POST", headers };
    request({ ...options, agent: false }, async (response) => {
      let text = "";
      for await (const piece of response) text += piece;
      resolve({ status: response.statusCode, text });
    })
      .on("error", reject)
      .end(body);
  });
}

test("200 connections that show no token lock nobody out, and few of them stay", async () => {
  const strangers = Array.from({ length: 200 }, () => stranger());
  await expect
    .poll(() => strangers.filter((socket) => socket.closed).length, { timeout: 60_000 })
    .toBeGreaterThanOrEqual(200 - 64);
  expect(await ask('{"method":"status"}')).toMatchObject({ status: 200 });
  for (const socket of strangers) socket.destroy();
});

test("the page answers while 200 connections without a token reconnect all the time", async () => {
  let isOver = false;
  let comings = 0;
  const come = () => {
    if (isOver) return;
    comings++;
    const socket = stranger();
    socket.on("close", come);
  };
  for (let nth = 0; nth < 200; nth++) come();
  // All 64 places were taken by strangers, and given to others.
  await expect.poll(() => comings, { timeout: 60_000 }).toBeGreaterThan(400);
  try {
    for (let nth = 0; nth < 20; nth++) {
      // On a busy machine, a connection may lose its place before its request arrives.
      await expect.poll(async () => (await ask('{"method":"status"}')).status).toBe(200);
    }
  } finally {
    isOver = true;
    for (const socket of open.splice(0)) socket.destroy();
  }
});

test("a connection that has shown the token outlives those that have not", async () => {
  const head = `GET /?token=${token()} HTTP/1.1\r\nHost: 127.0.0.1:${port()}\r\n\r\n`;
  const known = stranger(head);
  await new Promise((resolve) => known.once("data", resolve));
  const strangers = Array.from({ length: 100 }, () => stranger());
  await expect
    .poll(() => strangers.filter((socket) => socket.closed).length, { timeout: 60_000 })
    .toBeGreaterThan(30);
  expect(known.closed).toBe(false);
  const again = new Promise((resolve) => known.once("data", resolve));
  known.write(head);
  expect(String(await again)).toMatch(/^HTTP\/1\.1 200|</);
  for (const socket of [known, ...strangers]) socket.destroy();
});

describe("an answer to what is no proper request has the policy too", () => {
  const HOST = () => `Host: 127.0.0.1:${port()}\r\n`;
  test.each([
    ["no method", 400, () => "BLAH\r\n\r\n"],
    [
      "a header that is too long",
      431,
      () => `GET / HTTP/1.1\r\n${HOST()}X: ${"a".repeat(20_000)}\r\n\r\n`,
    ],
    ["a negative length", 400, () => `POST /ask HTTP/1.1\r\n${HOST()}Content-Length: -1\r\n\r\n`],
    ["no Host", 403, () => "GET / HTTP/1.1\r\nConnection: close\r\n\r\n"],
    [
      "an expectation",
      417,
      () => `POST /ask HTTP/1.1\r\n${HOST()}Expect: foo\r\nContent-Length: 2\r\n\r\n{}`,
    ],
  ])("%s", async (_, status, text) => {
    const answer = await answerTo(text());
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toContain("\r\nContent-Security-Policy: default-src 'none'");
    expect(answer).toContain("\r\nX-Content-Type-Options: nosniff");
    expect(answer).not.toMatch(/access-control/i);
  });
});

test.each(["null", "[]", "5", '"x"', "{", '{"method":{"toString":1}}', '{"params":{}}'])(
  "a message that is no question is an error with a code, and no internal one: %s",
  async (body) => {
    const { status, text } = await ask(body);
    expect(status).toBe(422);
    expect(JSON.parse(text).error.code).toBe("ERR_INVALID_ARGUMENTS");
  },
);
