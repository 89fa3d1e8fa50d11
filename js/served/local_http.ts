/**
 * What every HTTP server of this project has: it listens on 127.0.0.1 only, wants the token of its printed address, and
 * refuses pages of other origins and other names of this machine. Messages and connections are bounded.
 */
import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Connections } from "./connections.js";
import { MESSAGE_BYTES, MOST_CONNECTIONS } from "./limits.js";
import { Received, type ReceivedText, TOO_LONG } from "./received.js";
import { isSame } from "./secret.js";

const ADDRESS = "127.0.0.1";
/** Milliseconds for the header of a request, and for all of it. */
const HEADER_TIME = 10_000;
const REQUEST_TIME = 30_000;

/** What answers the requests that were not refused. `path` is without the query. */
export type Answering = (
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
) => void | Promise<void>;

export interface LocalServer {
  /** The address with the token. */
  url: string;
  /** Ends all connections. */
  close(): Promise<void>;
}

/** Listens. A port of 0 is a free one. `policy` is the content security policy of all answers. */
export async function listenLocally(
  port: number,
  policy: string,
  answering: Answering,
): Promise<LocalServer> {
  const token = randomBytes(32).toString("base64url");
  const options = {
    headersTimeout: HEADER_TIME,
    requestTimeout: REQUEST_TIME,
    connectionsCheckingInterval: 1000,
    // Node's own answer would have no policy.
    requireHostHeader: false,
  };
  const connections = new Connections();
  const answered = new WeakSet<Socket>();
  const server = createServer(options, (request, response) => {
    answered.add(request.socket);
    secure(response, policy);
    // The connection of a client that went away fails in one of these.
    request.on("error", () => {});
    response.on("error", () => {});
    const [path, query = ""] = (request.url ?? "").split("?") as [string, string?];
    const isStart = path === "/" && request.method === "GET";
    const state = { token, port: portOf(server) };
    const refusal = refusalOf(request, isStart ? query : "", state);
    if (refusal !== undefined) return void refuse(response, ...refusal);
    if (!connections.keep(request.socket)) {
      return void refuse(response, 503, "ERR_BUSY", `${MOST_CONNECTIONS} connections are open`);
    }
    void answering(request, response, path);
  });
  server.on("connection", (socket) => connections.admit(socket));
  server.on("checkExpectation", (_, response: ServerResponse) => {
    secure(response, policy);
    refuse(response, 417, "ERR_EXPECTATION", "the only expectation is 100-continue");
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    // A part of an answer may have been sent.
    if (!socket.writable || answered.has(socket)) return void socket.destroy();
    socket.end(rawRefusal(STATUS_OF[error.code ?? ""] ?? "400 Bad Request", policy));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host: ADDRESS, exclusive: true }, resolve);
  });
  const ended = new Promise<void>((resolve) => server.once("close", () => resolve()));
  return {
    url: `http://${ADDRESS}:${portOf(server)}/?token=${token}`,
    close: () => {
      server.close();
      server.closeAllConnections();
      return ended;
    },
  };
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo | null)?.port ?? 0;
}

/** The headers of every answer. */
function headersOf(policy: string): Record<string, string> {
  return {
    "Content-Security-Policy": policy,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
  };
}

function secure(response: ServerResponse, policy: string): void {
  for (const [name, value] of Object.entries(headersOf(policy))) response.setHeader(name, value);
}

/** The status of what Node cannot read as a request, by Node's code. */
const STATUS_OF: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "413 Payload Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

/** An answer to what is no request. */
function rawRefusal(status: string, policy: string): string {
  const headers = { Connection: "close", "Content-Length": "0", ...headersOf(policy) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status}\r\n${lines.join("")}\r\n`;
}

type RefusedRequest = [status: number, code: string, message: string];

/** Why a request is not from a page of this server, or not from who started it. */
function refusalOf(
  { headers }: IncomingMessage,
  query: string,
  { token, port }: { token: string; port: number },
): RefusedRequest | undefined {
  const host = `${ADDRESS}:${port}`;
  // Another name in Host is a page of another site whose name was made to lead here.
  if (headers.host !== host) return [403, "ERR_FOREIGN_HOST", `the Host must be ${host}`];
  const { origin, "sec-fetch-site": site } = headers;
  const isForeign =
    (origin !== undefined && origin !== `http://${host}`) ||
    (site !== undefined && site !== "same-origin" && site !== "none");
  if (isForeign) return [403, "ERR_FOREIGN_ORIGIN", "a page of another origin may not ask"];
  const [, bearer] = /^Bearer ([\w-]{1,100})$/.exec(headers.authorization ?? "") ?? [];
  // Only the address that a person opens has the token, because other addresses are kept in more places.
  const [, inQuery] = /^token=([\w-]{1,100})$/.exec(query) ?? [];
  if (isSame(bearer ?? inQuery ?? "", token)) return undefined;
  return [401, "ERR_NO_TOKEN", "the token of the printed address is missing or wrong"];
}

/** Answers with an error, after which the connection ends: the rest of a request is not read. */
export function refuse(
  response: ServerResponse,
  status: number,
  code: string,
  message: string,
): void {
  if (response.headersSent || response.destroyed) return;
  response.setHeader("Connection", "close");
  sendJson(response, status, { error: { code, message: `${code}: ${message}` } });
}

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "Content-Type": "application/json; charset=utf-8" });
  response.end(JSON.stringify(value));
}

/** The message in the body of a request; undefined if there is none, which the request was told if it is still there. */
export async function messageOf(
  request: IncomingMessage,
  response: ServerResponse,
): Promise<string | undefined> {
  const frame = await bodyOf(request);
  if (frame !== TOO_LONG) return frame;
  const limit = `a message has at most ${MESSAGE_BYTES} bytes`;
  refuse(response, 413, "ERR_MESSAGE_TOO_LONG", limit);
  return undefined;
}

/** The body of a request; undefined if the client went away meanwhile. */
async function bodyOf(request: IncomingMessage): Promise<ReceivedText | undefined> {
  const received = new Received();
  if (Number(request.headers["content-length"] ?? 0) > MESSAGE_BYTES) return TOO_LONG;
  try {
    for await (const piece of request.iterator({ destroyOnReturn: false })) {
      received.add(piece as Buffer);
      if (received.isTooLong) return TOO_LONG;
    }
  } catch {
    return undefined;
  }
  return received.take();
}
