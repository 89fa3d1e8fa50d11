// Finds the inspector of a target: of a process by its id, of a Node process or a browser by its address. Only
// addresses of this machine are accepted, because an inspector executes any code without authentication.

import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { get } from "node:http";
import { HeapAnalyzerError } from "../errors.js";
import { at, type UncheckedAnswer } from "./answer.js";
import { Connection } from "./connection.js";
import { unfinished } from "./unfinished.js";

/** Where an inspector listens. */
export interface Endpoint {
  url: string;
  /** Tells processes and pages apart: no other one on this machine has the same, also later. */
  identity: string;
  /** Closes the inspector of a process that opened it because of a signal. Does not fail. */
  restore(): Promise<void>;
}

const LOOPBACK = /^(127(\.\d{1,3}){3}|\[::1\]|localhost)$/;
/** Where Node's inspector listens after a signal, unless the process names another port. */
const DEFAULT_PORT = 9229;
/** How long a process may take to open its inspector after the signal, in milliseconds. */
const TIME_TO_OPEN = 10_000;
/** The most bytes of the list of targets. */
const MAX_LIST = 4 * 1024 * 1024;

/** An inspector that was open before. Its address has a random part. */
function openAlready(url: string): Endpoint {
  return { url, identity: url, restore: async () => {} };
}

function refuse(message: string, cause?: unknown): HeapAnalyzerError {
  return new HeapAnalyzerError("ERR_ATTACH_TARGET", message, { cause });
}

/** Finds the inspector of a target: a process id, `ws://127.0.0.1:…`, or `http://127.0.0.1:…`. */
export async function findEndpoint(target: string | number, timeout: number): Promise<Endpoint> {
  if (/^\d+$/.test(String(target))) return await openProcess(Number(target), timeout);
  const url = parsedUrl(String(target));
  if (url.protocol === "ws:") return openAlready(url.href);
  const port = url.port === "" ? 80 : Number(url.port);
  return openAlready(await debuggerUrl(port, hostOf(url), timeout));
}

function parsedUrl(target: string): URL {
  let url: URL;
  try {
    url = new URL(target);
  } catch (error) {
    throw refuse(
      `cannot attach to ${JSON.stringify(target)}: expected a process id, ws://127.0.0.1:<port>/… or http://127.0.0.1:<port>`,
      error,
    );
  }
  if (url.protocol !== "ws:" && url.protocol !== "http:") {
    throw refuse(`cannot attach to ${target}: expected ws: or http:, found ${url.protocol}`);
  }
  if (!LOOPBACK.test(url.hostname)) {
    throw refuse(
      `cannot attach to ${target}: ${url.hostname} is not an address of this machine; ` +
        "an inspector has no authentication, so use an SSH tunnel to another machine",
    );
  }
  // `localhost` could be resolved to another address later.
  if (url.hostname === "localhost") url.hostname = "127.0.0.1";
  return url;
}

const hostOf = (url: URL) => url.hostname.replace(/^\[|\]$/g, "");

/** The address of the first page or process in the list of an inspector. */
async function debuggerUrl(port: number, host: string, timeout: number): Promise<string> {
  const answer = await getJson(host, port, "/json/list", timeout);
  const targets = Array.isArray(answer) ? answer.slice(0, 1000) : [];
  const found =
    targets.find((target) => ["page", "node"].includes(String(at(target, "type")))) ?? targets[0];
  const address = at(found, "webSocketDebuggerUrl");
  if (typeof address !== "string") {
    throw refuse(`the inspector at ${host}:${port} lists no page and no process`);
  }
  const url = parsedUrl(address);
  // The list is not trusted: the connection goes to the same place as the request.
  if (Number(url.port) !== port) {
    throw refuse(
      `the inspector at ${host}:${port} refers to another port: ${address.slice(0, 200)}`,
    );
  }
  url.hostname = host.includes(":") ? `[${host}]` : host;
  return url.href;
}

function getJson(
  host: string,
  port: number,
  path: string,
  timeout: number,
): Promise<UncheckedAnswer> {
  const name = `http://${host}:${port}${path}`;
  return new Promise((resolve, reject) => {
    const fail = (reason: string, cause?: unknown) =>
      reject(refuse(`cannot read ${name}: ${reason}`, cause));
    // Chromium refuses other names of the host. Redirects are not followed.
    const request = get(
      { host, port, path, headers: { host: `127.0.0.1:${port}` } },
      (response) => {
        if (response.statusCode !== 200) {
          response.destroy();
          fail(
            `the status is ${response.statusCode}, expected 200: the inspectors of Node, Deno and Chromium have this list`,
          );
          return;
        }
        const pieces: Buffer[] = [];
        let size = 0;
        response.on("data", (piece: Buffer) => {
          size += piece.length;
          if (size <= MAX_LIST) pieces.push(piece);
          else request.destroy(new Error(`the answer has more than ${MAX_LIST} bytes`));
        });
        response.on("end", () => {
          try {
            resolve(JSON.parse(Buffer.concat(pieces).toString()));
          } catch (error) {
            fail("the answer is not JSON", error);
          }
        });
        response.on("error", (error) => fail(error.message, error));
      },
    );
    request.setTimeout(timeout, () => request.destroy(new Error(`no answer within ${timeout} ms`)));
    request.on("error", (error) => fail(error.message, error));
  });
}

/** Finds the inspector of a running Node process; if there is none, opens it by a signal. */
async function openProcess(pid: number, timeout: number): Promise<Endpoint> {
  checkProcess(pid);
  const already = listeningPorts(pid);
  for (const port of already ?? []) {
    const url = await debuggerUrl(port, "127.0.0.1", timeout).catch(() => undefined);
    if (url !== undefined) return openAlready(url);
  }
  if (already === undefined && (await answers(DEFAULT_PORT))) {
    throw refuse(
      `cannot attach to process ${pid}: port ${DEFAULT_PORT} is in use by another inspector; attach to http://127.0.0.1:${DEFAULT_PORT} if it is the right one`,
    );
  }
  const opened = () => openedBySignal(pid, already, timeout);
  const restore = async (url: string | undefined) => {
    if (url !== undefined) await closeInspector(url, timeout);
  };
  // This process may end before it knows the address.
  const done = unfinished(async () => await restore(await opened()));
  try {
    // Node sends SIGUSR1 to itself and others this way, and on Windows starts a thread in the process.
    (process as unknown as { _debugProcess(pid: number): void })._debugProcess(pid);
  } catch (error) {
    done();
    throw refuse(`cannot signal process ${pid}: ${(error as Error).message}`, error);
  }
  const url = await opened();
  if (url !== undefined) {
    // The address is another one each time the inspector is opened.
    return { url, identity: identityOf(pid), restore: () => restore(url).finally(done) };
  }
  done();
  throw refuse(
    `process ${pid} did not open its inspector: it handles SIGUSR1 itself, was started with --disable-sigusr1, or port ${DEFAULT_PORT} is in use; start it with --inspect=127.0.0.1:0 and attach to the address that it prints`,
  );
}

/** The address of an inspector that a process opens soon; undefined if it does not. */
async function openedBySignal(
  pid: number,
  already: number[] | undefined,
  timeout: number,
): Promise<string | undefined> {
  const end = Date.now() + Math.min(timeout, TIME_TO_OPEN);
  while (Date.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    const now = listeningPorts(pid);
    const opened = now?.filter((port) => already?.includes(port) !== true) ?? [DEFAULT_PORT];
    for (const port of opened) {
      const url = await debuggerUrl(port, "127.0.0.1", timeout).catch(() => undefined);
      if (url !== undefined) return url;
    }
  }
  return undefined;
}

/**
 * Lets a process close its inspector. The connection that was used may have broken or be in the middle of something, so
 * this takes another one.
 */
async function closeInspector(url: string, timeout: number): Promise<void> {
  let connection: Connection | undefined;
  try {
    connection = await Connection.open(url, timeout);
    const expression = "setTimeout(() => process._debugEnd(), 50)";
    await connection.main.call("Runtime.evaluate", { expression });
  } catch {
    // The process has ended, or does not answer.
  } finally {
    connection?.close();
  }
}

async function answers(port: number): Promise<boolean> {
  return await debuggerUrl(port, "127.0.0.1", 1000).then(
    () => true,
    () => false,
  );
}

/** The signal ends a process that is not Node, so the process is checked before. */
function checkProcess(pid: number): void {
  if (pid === process.pid) throw refuse("a process cannot attach to itself: use captureDump");
  try {
    process.kill(pid, 0);
  } catch (error) {
    throw refuse(`cannot attach to process ${pid}: ${(error as Error).message}`, error);
  }
  if (process.platform !== "linux") return;
  const folder = `/proc/${pid}`;
  const owner = statSync(folder).uid;
  if (owner !== process.getuid?.()) {
    throw refuse(`cannot attach to process ${pid}: it belongs to user ${owner}, not to this one`);
  }
  const program = readlinkSync(`${folder}/exe`);
  // Node calls its main thread so, whatever the name of the file is.
  const name = readFileSync(`${folder}/comm`, "utf8").trim();
  if (
    !/(^|\/)node[^/]*$/.test(program) &&
    !["node", "MainThread", "node-MainThread"].includes(name)
  ) {
    const hint = /(^|\/)deno[^/]*$/.test(program)
      ? "; start it with --inspect=127.0.0.1:0, and attach to the address that it prints"
      : "";
    throw refuse(`cannot attach to process ${pid}: it runs ${program}, which is not Node${hint}`);
  }
}

/** A process id and, where the system says it, when the process began: ids are used again. */
function identityOf(pid: number): string {
  if (process.platform !== "linux") return `process ${pid}`;
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(")").at(-1)?.split(" ");
  return `process ${pid}, since ${fields?.[20]}`;
}

/** The ports of 127.0.0.1 on which a process listens; undefined where the system does not say. */
function listeningPorts(pid: number): number[] | undefined {
  if (!existsSync(`/proc/${pid}/net/tcp`)) return undefined;
  const sockets = new Set<string>();
  for (const file of readdirSync(`/proc/${pid}/fd`)) {
    try {
      const socket = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${file}`))?.[1];
      if (socket !== undefined) sockets.add(socket);
    } catch {
      // It was closed in between.
    }
  }
  const ports: number[] = [];
  for (const line of readFileSync(`/proc/${pid}/net/tcp`, "utf8").split("\n")) {
    const [, local, , state, , , , , , socket] = line.trim().split(/\s+/);
    // State 0A listens.
    if (state !== "0A" || local === undefined || !sockets.has(socket ?? "")) continue;
    ports.push(Number.parseInt(local.split(":")[1] ?? "", 16));
  }
  return ports;
}
