/**
 * JSON-RPC over HTTP on 127.0.0.1, for a page in a browser. `GET /stream` is a client: its answers and reports come
 * as lines, and when it is closed, its work ends. `POST /messages` takes one message of it and answers at once, so a
 * slow question holds none of the few connections that a browser opens.
 */
import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { MOST_CLIENTS } from "../../../js/served/limits.ts";
import { listenLocally, messageOf, refuse, sendJson } from "../../../js/served/local_http.ts";
import { Channel } from "./channel.mts";
import { Outlet } from "./outlet.mts";
import type { Served } from "./served.mts";

/** Nothing runs and nothing is loaded, but a page may ask this server. */
const POLICY =
  "default-src 'none'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

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
  const clients = new Map<string, Client>();
  const state = { served, clients };
  const server = await listenLocally(port, POLICY, (request, response, path) => {
    const route = `${request.method} ${path}`;
    if (route === "GET /") return begin(response, state);
    if (route === "GET /stream") return openStream(response, state);
    if (route === "POST /messages") return takeMessage(request, response, state);
    refuse(response, 404, "ERR_NO_ROUTE", "there are GET /, GET /stream and POST /messages");
  });
  onListening(server.url);
  if (!signal.aborted) {
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  }
  for (const { channel } of clients.values()) channel.close();
  await server.close();
}

interface HttpState {
  served: Served;
  clients: Map<string, Client>;
}

/** What can be asked here. */
function begin(response: ServerResponse, { served }: HttpState): void {
  const methods = served.asked.map(({ name, title, description }) => ({
    name,
    title,
    description,
  }));
  sendJson(response, 200, { methods });
}

/** A client: its answers and reports as lines. The first one names it. */
function openStream(response: ServerResponse, { served, clients }: HttpState): void {
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
  { clients }: HttpState,
): Promise<void> {
  const name = request.headers.client;
  const client = typeof name === "string" ? clients.get(name) : undefined;
  if (client === undefined) {
    return void refuse(response, 404, "ERR_NO_CLIENT", "the header Client names no open stream");
  }
  const message = await messageOf(request, response);
  if (message === undefined) return;
  if (client.outlet.isFull) {
    // The page reads its answers before it asks further.
    const message = "ERR_BUSY: answers wait to be read from the stream";
    return void sendJson(response, 503, { error: { code: "ERR_BUSY", message } });
  }
  response.writeHead(202).end();
  client.channel.receive(message);
}
