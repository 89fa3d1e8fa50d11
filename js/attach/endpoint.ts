// Finds the inspector of a target: of a process by its id, of a Node process or a browser by its address. Only
// addresses of this machine are accepted, because an inspector executes any code without authentication.

import { connect } from "node:net";
import { adviceFor } from "../advice.js";
import { HeapAnalyzerError } from "../errors.js";
import { abortError, Connection, type Patience } from "../inspector/connection.js";
import { debuggerUrl, isHere, refuse } from "../inspector/list.js";
import { shown } from "../text.js";
import {
  checkNode,
  checkSignal,
  DEFAULT_PORT,
  identityOf,
  listeningPorts,
  portToOpen,
} from "./process.js";
import { unfinished } from "./unfinished.js";

/** Where an inspector listens. */
export interface Endpoint {
  url: string;
  /** Tells processes and pages apart: no other one on this machine has the same, also later. */
  identity: string;
  /** Closes the inspector of a process that opened it because of a signal. Does not fail. */
  restore(): Promise<void>;
}

/** How to find an inspector. */
export interface EndpointSearch {
  /** Whether a process whose inspector is not open may be sent the signal that opens it. */
  mayOpen: boolean;
  patience: Patience;
}

const HERE = "127.0.0.1";
/** How long a process may take to open its inspector after the signal, in milliseconds. */
const TIME_TO_OPEN = 10_000;
/** How long a port of a process may take to say that it is an inspector, and how many are asked. */
const TIME_TO_TELL = 1000;
const MAX_PORTS = 50;
/** How long a process may take to close its inspector. */
const TIME_TO_CLOSE = 2000;

/** An inspector that was open before. Its address has a random part. */
function openAlready(url: string): Endpoint {
  return { url, identity: url, restore: async () => {} };
}

/** Finds the inspector of a target: a process id, `ws://127.0.0.1:…`, or `http://127.0.0.1:…`. */
export async function findEndpoint(
  target: string | number,
  search: EndpointSearch,
): Promise<Endpoint> {
  const { patience } = search;
  if (patience.signal?.aborted) throw abortError(patience.signal);
  if (typeof target === "number" || /^\d+$/.test(target)) {
    return await findProcess(Number(target), search);
  }
  const url = parsedUrl(target);
  if (url.protocol === "ws:") return openAlready(url.href);
  const place = { host: url.hostname.replace(/^\[|\]$/g, ""), port: Number(url.port || 80) };
  return openAlready(await listed(place, patience));
}

async function listed(place: { host: string; port: number }, patience: Patience): Promise<string> {
  const { signal, silence, whole } = patience;
  return await debuggerUrl(place, Math.min(silence, whole), signal).catch((error) => {
    throw signal?.aborted ? abortError(signal) : error;
  });
}

function parsedUrl(target: string): URL {
  const name = shown(target);
  if (!URL.canParse(target)) {
    throw refuse(
      `cannot attach to ${name}: expected a process id, ws://127.0.0.1:<port>/… or http://127.0.0.1:<port>`,
    );
  }
  const url = new URL(target);
  if (url.protocol !== "ws:" && url.protocol !== "http:") {
    throw refuse(`cannot attach to ${name}: expected ws: or http:, found ${url.protocol}`);
  }
  if (!isHere(url.hostname)) {
    throw refuse(
      `cannot attach to ${name}: ${url.hostname} is not an address of this machine; ` +
        "an inspector has no authentication, so use an SSH tunnel to another machine",
    );
  }
  if (url.hash !== "" || url.username !== "" || url.password !== "") {
    throw refuse(`cannot attach to ${name}: expected no #, no user and no password`);
  }
  // `localhost` could be resolved to another address later.
  if (url.hostname === "localhost") url.hostname = HERE;
  return url;
}

/** Finds the inspector of a running Node process; if there is none, opens it by a signal, if that is allowed. */
async function findProcess(pid: number, { mayOpen, patience }: EndpointSearch): Promise<Endpoint> {
  checkNode(pid);
  const already = listeningPorts(pid);
  const url = await inspectorAmong(already ?? [], patience);
  if (url !== undefined) return openAlready(url);
  if (!mayOpen) {
    throw new HeapAnalyzerError(
      "ERR_INSPECTOR_CLOSED",
      `process ${pid} has no open inspector, and gets no signal unless that is asked for`,
      { advice: adviceFor("api", "ERR_INSPECTOR_CLOSED") },
    );
  }
  checkSignal(pid);
  const port = portToOpen(pid);
  if (port !== 0 && (await isBusy(port))) {
    throw refuse(
      `cannot open the inspector of process ${pid}: port ${port}, which it would take, is in use by another program; started with --inspect-port=0, it takes a free one`,
    );
  }
  return await openProcess(pid, already, patience);
}

/** The inspector of a process, if one is open. Of programs that are not Node, nothing is asked. */
export async function findOpenInspector(
  pid: number,
  patience: Patience,
): Promise<string | undefined> {
  try {
    checkNode(pid);
    return await inspectorAmong(listeningPorts(pid) ?? [], patience);
  } catch {
    return undefined;
  }
}

async function openProcess(
  pid: number,
  already: number[] | undefined,
  patience: Patience,
): Promise<Endpoint> {
  const opened = () => openedBySignal(pid, already, patience);
  const restore = async (url: string | undefined) => {
    if (url !== undefined) await closeInspector(url);
  };
  // This process may end before it knows the address.
  const done = unfinished(async () => await restore(await opened()));
  try {
    const identity = identityOf(pid);
    // Nothing is awaited between the check and the signal, so that it is the same process.
    checkSignal(pid);
    // Node sends SIGUSR1 to itself and others this way, and on Windows starts a thread in the process.
    (process as unknown as { _debugProcess(pid: number): void })._debugProcess(pid);
    const url = await opened();
    // The address is another one each time the inspector is opened.
    if (url !== undefined) return { url, identity, restore: () => restore(url).finally(done) };
  } catch (error) {
    done();
    if (error instanceof HeapAnalyzerError) throw error;
    throw refuse(`cannot signal process ${pid}: ${(error as Error).message}`, error);
  }
  done();
  if (patience.signal?.aborted) throw abortError(patience.signal);
  throw refuse(
    `process ${pid} did not open its inspector: it handles SIGUSR1 itself, or the port that it would take is in use; start it with --inspect=127.0.0.1:0 and attach to the address that it prints`,
  );
}

/** The address of an inspector that a process opens soon; undefined if it does not. */
async function openedBySignal(
  pid: number,
  already: number[] | undefined,
  patience: Patience,
): Promise<string | undefined> {
  const tries = Math.ceil(Math.min(patience.silence, TIME_TO_OPEN) / 50);
  for (let nth = 0; nth < tries && !patience.signal?.aborted; nth++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    const now = listeningPorts(pid);
    const opened = now?.filter((port) => already?.includes(port) !== true) ?? [DEFAULT_PORT];
    const url = await inspectorAmong(opened, patience);
    if (url !== undefined) return url;
  }
  return undefined;
}

/** The address of an inspector on one of the ports; undefined if there is none. */
async function inspectorAmong(
  ports: readonly number[],
  { signal }: Patience,
): Promise<string | undefined> {
  const asked = ports
    .slice(0, MAX_PORTS)
    .map((port) => debuggerUrl({ host: HERE, port }, TIME_TO_TELL, signal).catch(() => undefined));
  return (await Promise.all(asked)).find((url) => url !== undefined);
}

/**
 * Lets a process close its inspector. The connection that was used may have broken or be in the middle of something, so
 * this takes another one.
 */
async function closeInspector(url: string): Promise<void> {
  let connection: Connection | undefined;
  try {
    const patience = { silence: TIME_TO_CLOSE, whole: TIME_TO_CLOSE };
    connection = await Connection.open(url, { ...patience, deadlineFor: "all work" });
    const expression = "setTimeout(() => process._debugEnd(), 50)";
    await connection.main.call("Runtime.evaluate", { expression });
  } catch {
    // The process has ended, or does not answer.
  } finally {
    await connection?.close();
  }
}

/** Whether any program listens on a port of this machine. */
async function isBusy(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(port, HERE);
    const end = (result: boolean) => {
      socket.destroy();
      resolve(result);
    };
    socket.setTimeout(TIME_TO_TELL, () => end(true));
    socket.once("connect", () => end(true));
    socket.once("error", () => end(false));
  });
}
