// The list of targets that an inspector gives over HTTP.

import { get } from "node:http";
import { HeapAnalyzerError } from "../errors.js";
import { shown } from "../text.js";
import { at } from "./answer.js";
import { parseWithin } from "./bounded_json.js";
import { fitting } from "./calls.js";
import { anything, listOf } from "./shape.js";

/** Of the list. */
const BOUNDS = { bytes: 4 * 1024 * 1024, nodes: 50_000, depth: 20 };
const MAX_TARGETS = 1000;
/** How many pages are named to who has to choose one. */
const NAMED = 5;

/** An error about what was to be attached to. */
export function refuse(message: string, cause?: unknown): HeapAnalyzerError {
  return new HeapAnalyzerError("ERR_ATTACH_TARGET", message, { cause });
}

/** Where an inspector listens on this machine. */
export interface ListPlace {
  /** An address of this machine. */
  host: string;
  port: number;
}

/**
 * The address of the only page or process in the list of an inspector. Of what the list says, only the path is used: the
 * connection goes to the same place as the request.
 *
 * @param time how long that may take, in milliseconds.
 * @throws {HeapAnalyzerError} `ERR_ATTACH_TARGET`, also if there are several: which one is meant is not guessed.
 */
export async function debuggerUrl(
  { host, port }: ListPlace,
  time: number,
  signal?: AbortSignal,
): Promise<string> {
  const name = `http://${host}:${port}/json/list`;
  const bytes = await listBytes({ host, port }, name, time, signal);
  const targets = fitting(name, listOf(anything, MAX_TARGETS), parseWithin(bytes, name, BOUNDS));
  const isNamed = (target: unknown) => ["page", "node"].includes(at(target, "type") as string);
  // A page to which another program is attached may have no address.
  const isOpen = (target: unknown) => typeof at(target, "webSocketDebuggerUrl") === "string";
  const free = targets.filter(isOpen);
  const named = free.filter(isNamed);
  const candidates = named.length > 0 ? named : free;
  if (candidates.length === 0) {
    const what = targets.some(isNamed)
      ? "only what others are attached to"
      : "no page and no process";
    throw refuse(`the inspector at ${host}:${port} lists ${what}`);
  }
  const urls = candidates.map((target) => connectionUrl(target, { host, port }));
  if (urls.length > 1) {
    const choices = candidates
      .slice(0, NAMED)
      .map((target, nth) => `${shown(urls[nth], 200)} (${shown(at(target, "title"), 80)})`);
    const more = urls.length > NAMED ? `, and ${urls.length - NAMED} more` : "";
    throw refuse(
      `the inspector at ${host}:${port} lists ${urls.length} pages or processes: choose one by its address: ${choices.join(", ")}${more}`,
    );
  }
  return urls[0] as string;
}

/** Where to connect to for a target of the list. */
function connectionUrl(target: unknown, { host, port }: ListPlace): string {
  const address = at(target, "webSocketDebuggerUrl") as string;
  const name = `http://${host}:${port}/json/list`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== "ws:") throw refuse(`${name} has ${shown(address)}, expected ws:`);
  // The list is not trusted, and not followed to another machine or program.
  if (!isHere(url.hostname) || Number(url.port || 80) !== port) {
    throw refuse(`the inspector at ${host}:${port} refers to another place: ${shown(address)}`);
  }
  const here = host.includes(":") ? `[${host}]` : host;
  return `ws://${here}:${port}${url.pathname}${url.search}`;
}

/** Whether a host of an address is this machine. */
export function isHere(hostname: string): boolean {
  return /^(127(\.\d{1,3}){3}|\[::1\]|localhost)$/.test(hostname);
}

function listBytes(
  { host, port }: ListPlace,
  name: string,
  time: number,
  signal: AbortSignal | undefined,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string, cause?: unknown) =>
      reject(refuse(`cannot read ${name}: ${reason}`, cause));
    // Chromium refuses other names of the host. Redirects are not followed.
    const options = { host, port, path: "/json/list", headers: { host: `127.0.0.1:${port}` } };
    const request = get({ ...options, agent: false, signal }, (response) => {
      if (response.statusCode !== 200) {
        response.destroy();
        return fail(
          `the status is ${response.statusCode}, expected 200: the inspectors of Node, Deno and Chromium have this list`,
        );
      }
      const pieces: Buffer[] = [];
      let size = 0;
      response.on("data", (piece: Buffer) => {
        size += piece.length;
        if (size <= BOUNDS.bytes) pieces.push(piece);
        else request.destroy(new Error(`the answer has more than ${BOUNDS.bytes} bytes`));
      });
      response.on("end", () => resolve(Buffer.concat(pieces)));
      response.on("error", (error) => fail(error.message, error));
    });
    // For all of it: a time limit of the socket begins anew with each byte.
    const timer = setTimeout(() => {
      const problem = `cannot read ${name}: there was no whole answer within ${time} ms`;
      reject(new HeapAnalyzerError("ERR_ATTACH_TIMEOUT", problem));
      request.destroy();
    }, time);
    request.on("error", (error) => fail(error.message, error));
    request.on("close", () => clearTimeout(timer));
  });
}
