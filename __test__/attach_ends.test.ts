/** How a connection to an inspector ends: at once for who asked, and so that the target survives it. */
import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { setImmediate } from "node:timers/promises";
import { attach } from "@warpo/heap-analyzer/attach";
import { afterEach, expect, test, vi } from "vitest";
import {
  type Beginnings,
  type Lies,
  lyingInspector,
  NO_ANSWER,
} from "./support/lying_inspector.ts";

const open: { close(): void }[] = [];
afterEach(() => {
  vi.useRealTimers();
  for (const one of open.splice(0)) one.close();
});

async function inspector(lies: Lies, beginnings?: Beginnings): Promise<string> {
  const server = await lyingInspector(lies, beginnings);
  open.push(server);
  return server.url;
}

/** Attaches until an abort. */
async function aborted(url: string, { signal }: AbortController): Promise<void> {
  await expect(attach(url, { signal })).rejects.toMatchObject({ code: "ABORT_ERR" });
}

/** The answer to the request for a WebSocket. */
function accepted({ headers }: IncomingMessage): string {
  const key = `${headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
  const accept = createHash("sha1").update(key).digest("base64");
  return `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`;
}

test("an abort waits neither for the handshake nor for threads that may still report themselves", async () => {
  // No timer fires in this test.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const opening = new AbortController();
  await aborted(await inspector({}, { upgrade: () => opening.abort() }), opening);
  const reporting = new AbortController();
  const answer: Lies["answer"] = ({ id, method }) => {
    if (method !== "NodeWorker.enable") return undefined;
    void (async () => {
      for (let turn = 0; turn < 100; turn++) await setImmediate();
      reporting.abort();
    })();
    return { id, result: {} };
  };
  await aborted(await inspector({ answer }), reporting);
});

test("a target is told that the connection ends, also while it owes an answer: Node 20 may crash otherwise", async () => {
  const stop = new AbortController();
  let hear = (_: number) => {};
  const code = new Promise<number>((resolve) => {
    hear = resolve;
  });
  const answer: Lies["answer"] = ({ method }) => {
    if (method !== "Runtime.queryObjects") return undefined;
    stop.abort();
    return NO_ANSWER;
  };
  const connected: Beginnings["connected"] = (socket) => void socket.on("close", hear);
  await aborted(await inspector({ answer }, { connected }), stop);
  // It is 1006 if the connection breaks.
  expect(await code).toBe(1005);
});

test("a target that does not answer this is left", async () => {
  const stop = new AbortController();
  let leave = () => {};
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const upgrade: Beginnings["upgrade"] = (request, socket) => {
    socket.write(accepted(request));
    socket.on("data", () => stop.abort());
    socket.once("end", leave);
    socket.once("close", leave);
  };
  await aborted(await inspector({}, { upgrade }), stop);
  await left;
});
