/** Serves the page and its answers on 127.0.0.1. `POST /ask` takes a method and its parameters. */
import { setMaxListeners } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { pageFile } from "../report_file.js";
import { errorText } from "../served/errors.js";
import { LONGEST_ERROR, MOST_WAITING } from "../served/limits.js";
import {
  type LocalServer,
  listenLocally,
  messageOf,
  refuse,
  sendJson,
} from "../served/local_http.js";
import { invalid } from "../served/questions/parameters.js";
import type { Answerer } from "./answers.js";

/** Listens. A port of 0 is a free one. */
export async function serveExplorer(answerer: Answerer, port: number): Promise<LocalServer> {
  const { html, policy } = pageFile(undefined);
  let waiting = 0;
  return await listenLocally(port, policy, async (request, response, path) => {
    const route = `${request.method} ${path}`;
    if (route === "GET /") {
      response.writeHead(200, { "Content-Type": "text/html; charset=utf-8" });
      return void response.end(html);
    }
    if (route !== "POST /ask") {
      return refuse(response, 404, "ERR_NO_ROUTE", "there are GET / and POST /ask");
    }
    if (waiting >= MOST_WAITING) {
      return refuse(response, 503, "ERR_BUSY", `${MOST_WAITING} questions wait`);
    }
    waiting++;
    try {
      await ask(answerer, request, response);
    } finally {
      waiting--;
    }
  });
}

/** The question in a message. Its parameters are not checked. */
function questionOf(message: string): { method: string; params: unknown } {
  let asked: unknown;
  try {
    asked = JSON.parse(message);
  } catch {
    throw invalid("a question is JSON");
  }
  const { method, params } = Object(asked) as { method?: unknown; params?: unknown };
  if (typeof method === "string") return { method, params };
  throw invalid("a question is an object with the name of a method");
}

async function ask(
  answerer: Answerer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const message = await messageOf(request, response);
  if (message === undefined) return;
  // A page that does not want the answer any more ends the work.
  const stop = new AbortController();
  // A page of a list asks for many objects at once.
  setMaxListeners(0, stop.signal);
  response.once("close", () => stop.abort());
  try {
    const { method, params } = questionOf(message);
    const result = await answerer.answer(method, params ?? {}, stop.signal);
    if (!response.destroyed) sendJson(response, 200, { result });
  } catch (error) {
    const { code = "ERR_INTERNAL" } = error as { code?: string };
    const shown = errorText(error).slice(0, LONGEST_ERROR);
    if (!response.destroyed) sendJson(response, 422, { error: { code, message: shown } });
  }
}
