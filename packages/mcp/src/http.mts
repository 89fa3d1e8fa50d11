/**
 * JSON-RPC over HTTP on 127.0.0.1, for a page in a browser. `GET /stream` is a client: its answers and reports come
 * as lines, and when it is closed, its work ends. `POST /messages` takes one message of it and answers at once, so a
 * slow question holds none of the few connections that a browser opens.
 */
import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Channel } from "./channel.mts";
import { type Frame, Received, TOO_LONG } from "./frames.mts";
import { MESSAGE_BYTES, MOST_CLIENTS, MOST_CONNECTIONS } from "./limits.mts";
import { Outlet } from "./outlet.mts";
import { isSame } from "./secret.mts";
import type { Served } from "./served.mts";

const ADDRESS = "127.0.0.1";
/** Nothing runs and nothing is loaded, but a page may ask this server. */
const POLICY =
  "default-src 'none'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/** Milliseconds for the header of a request, and for all of it. */
const HEADER_TIME = 10_000;
const REQUEST_TIME = 30_000;

interface Client {
  channel: Channel;
  outlet: Outlet;
}

/** Listens until the signal. `onListening` gets the address with the token. A port of 0 is a free one. */
export async function serveHttp(
  served: Served,
  port: number,
  signal: AbortSignal,
  onListening: (url: string) => void,
): Promise<void> {
  const token = randomBytes(32).toString("base64url");
  const clients = new Map<string, Client>();
  const options = {
    headersTimeout: HEADER_TIME,
    requestTimeout: REQUEST_TIME,
    connectionsCheckingInterval: 1000,
  };
  const server = createServer(options, (request, response) => {
    answer(request, response, { served, token, clients, port: portOf(server) });
  });
  server.maxConnections = MOST_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host: ADDRESS, exclusive: true }, resolve);
  });
  onListening(`http://${ADDRESS}:${portOf(server)}/?token=${token}`);
  const close = () => {
    for (const { channel } of clients.values()) channel.close();
    server.close();
    server.closeAllConnections();
  };
  if (signal.aborted) close();
  else signal.addEventListener("abort", close, { once: true });
  await new Promise((resolve) => server.once("close", resolve));
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

interface State {
  served: Served;
  token: string;
  clients: Map<string, Client>;
  port: number;
}

function answer(request: IncomingMessage, response: ServerResponse, state: State): void {
  response.setHeader("Content-Security-Policy", POLICY);
  response.setHeader("X-Content-Type-Options", "nosniff");
  response.setHeader("Referrer-Policy", "no-referrer");
  response.setHeader("Cross-Origin-Resource-Policy", "same-origin");
  response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
  response.setHeader("Cache-Control", "no-store");
  // The connection of a client that went away fails in one of these.
  request.on("error", () => {});
  response.on("error", () => {});
  const [path, query = ""] = (request.url ?? "").split("?") as [string, string?];
  const isStart = path === "/" && request.method === "GET";
  const refusal = refusalOf(request, isStart ? query : "", state);
  if (refusal !== undefined) return void refuse(response, ...refusal);
  const route = `${request.method} ${path}`;
  if (isStart) return void begin(response, state);
  if (route === "GET /stream") return void openStream(response, state);
  if (route === "POST /messages") return void takeMessage(request, response, state);
  refuse(response, 404, "ERR_NO_ROUTE", "there are GET /, GET /stream and POST /messages");
}

type Refusal = [status: number, code: string, message: string];

/** Why a request is not from a page of this server, or not from who started it. */
function refusalOf(
  { headers }: IncomingMessage,
  query: string,
  { token, port }: State,
): Refusal | undefined {
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
function refuse(response: ServerResponse, status: number, code: string, message: string): void {
  if (response.headersSent || response.destroyed) return;
  response.setHeader("Connection", "close");
  sendJson(response, status, { error: { code, message: `${code}: ${message}` } });
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "Content-Type": "application/json; charset=utf-8" });
  response.end(JSON.stringify(value));
}

/** What can be asked here. */
function begin(response: ServerResponse, { served }: State): void {
  const methods = served.asked.map(({ name, title, description }) => ({
    name,
    title,
    description,
  }));
  sendJson(response, 200, { methods });
}

/** A client: its answers and reports as lines. The first one names it. */
function openStream(response: ServerResponse, { served, clients }: State): void {
  if (clients.size >= MOST_CLIENTS) {
    const limit = `${MOST_CLIENTS} clients are open: close one`;
    return void refuse(response, 503, "ERR_BUSY", limit);
  }
  const name = randomBytes(16).toString("base64url");
  const outlet = new Outlet(response, () => {
    clients.delete(name);
    channel.close();
  });
  const send = (message: object, isReport: boolean) =>
    outlet.send(`${JSON.stringify(message)}\n`, isReport);
  const channel = new Channel(served, send);
  clients.set(name, { channel, outlet });
  response.writeHead(200, { "Content-Type": "application/x-ndjson; charset=utf-8" });
  send({ jsonrpc: "2.0", method: "client", params: { client: name } }, false);
}

/** Takes a message of the client that the header `Client` names. */
async function takeMessage(
  request: IncomingMessage,
  response: ServerResponse,
  { clients }: State,
): Promise<void> {
  const name = request.headers.client;
  const client = typeof name === "string" ? clients.get(name) : undefined;
  if (client === undefined) {
    return void refuse(response, 404, "ERR_NO_CLIENT", "the header Client names no open stream");
  }
  const frame = await bodyOf(request);
  if (frame === undefined) return;
  if (frame === TOO_LONG) {
    const limit = `a message has at most ${MESSAGE_BYTES} bytes`;
    return void refuse(response, 413, "ERR_MESSAGE_TOO_LONG", limit);
  }
  if (client.outlet.isFull) {
    // The page reads its answers before it asks further.
    const message = "ERR_BUSY: answers wait to be read from the stream";
    return void sendJson(response, 503, { error: { code: "ERR_BUSY", message } });
  }
  response.writeHead(202).end();
  client.channel.receive(frame);
}

/** The body of a request; undefined if the client went away meanwhile. */
async function bodyOf(request: IncomingMessage): Promise<Frame | undefined> {
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
