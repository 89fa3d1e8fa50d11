// The threads of a target: the main thread of Node and its workers, a page and its workers. Each has an inspector
// session, and realms (global objects) of its own.

import { HeapAnalyzerError } from "../errors.js";
import { Refused, type Session } from "../inspector/calls.js";
import type { Connection } from "../inspector/connection.js";

/** A global object with its built-in classes: of a thread, a frame of a page, or a context of `node:vm`. */
export interface Realm {
  id: number;
  name: string;
}

export interface Thread {
  name: string;
  kind: "node" | "node worker" | "page" | "worker";
  session: Session;
  /** The thread's own global object is the first. */
  realms: Realm[];
}

const MAX_THREADS = 1000;
const MAX_REALMS = 1000;
/** How long new threads may take to report themselves. The protocol does not say when all have. */
const REPORTING_TIME = 300;

/** Finds all threads, and the realms of each. */
export async function findThreads(connection: Connection): Promise<Thread[]> {
  const { main } = connection;
  await checkEngine(main);
  const isNode = await hasDomain(main);
  const others: Omit<Thread, "realms">[] = [];
  if (isNode) await findNodeWorkers(connection, others);
  else await findChildren(connection, main, others);
  const first: Thread = {
    name: "main",
    kind: isNode ? "node" : "page",
    session: main,
    realms: await findRealms(main),
  };
  // All at once: of many that are silent, none makes the others wait.
  const found = await Promise.all(
    others.slice(0, MAX_THREADS - 1).map(async (thread) => {
      // A worker may end in between.
      const realms = await findRealms(thread.session).catch(() => []);
      return { ...thread, realms };
    }),
  );
  connection.check();
  return [first, ...found];
}

/** Fails if the inspector belongs to another engine than V8: no other finds the instances. */
async function checkEngine(session: Session): Promise<void> {
  try {
    await session.call("Runtime.getHeapUsage");
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    throw new HeapAnalyzerError(
      "ERR_ATTACH_TARGET",
      "the inspector is not one of V8, the engine of Node, Deno and Chromium: that of Bun or Safari cannot find WebAssembly instances",
      { cause: error },
    );
  }
}

/** Whether the target is Node, whose inspector has a domain that others have not. */
async function hasDomain(session: Session): Promise<boolean> {
  return await unlessRefused(session.call("NodeRuntime.disable"));
}

/** Whether a method was not refused. Other failures stay failures. */
async function unlessRefused(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (error instanceof Refused) return false;
    throw error;
  }
}

async function findRealms(session: Session): Promise<Realm[]> {
  const realms: Realm[] = [];
  session.on("Runtime.executionContextCreated", ({ context }) => {
    if (realms.length >= MAX_REALMS) return;
    realms.push({ id: context.id, name: context.name || context.origin || "" });
    if (context.auxData?.isDefault === true) realms.unshift(...realms.splice(-1));
  });
  await session.call("Runtime.enable");
  return realms;
}

async function findNodeWorkers(connection: Connection, found: Omit<Thread, "realms">[]) {
  const { main } = connection;
  const receivers = new Map<string, (message: string) => void>();
  main.on("NodeWorker.attachedToWorker", ({ sessionId, workerInfo }) => {
    if (receivers.size >= MAX_THREADS) return;
    const { session, receive } = connection.worker(sessionId);
    receivers.set(sessionId, receive);
    found.push({ name: workerInfo?.title ?? "worker", kind: "node worker", session });
  });
  main.on("NodeWorker.receivedMessageFromWorker", ({ sessionId, message }) => {
    receivers.get(sessionId)?.(message);
  });
  await main.call("NodeWorker.enable", { waitForDebuggerOnStart: false });
  await reportingTime(main);
}

async function findChildren(
  connection: Connection,
  parent: Session,
  found: Omit<Thread, "realms">[],
) {
  parent.on("Target.attachedToTarget", ({ sessionId, targetInfo }) => {
    if (found.length >= MAX_THREADS) return;
    const session = connection.child(sessionId);
    const isPage = ["page", "iframe"].includes(targetInfo?.type ?? "");
    found.push({ name: targetInfo?.url ?? "worker", kind: isPage ? "page" : "worker", session });
  });
  const options = { autoAttach: true, waitForDebuggerOnStart: false, flatten: true };
  // Engines that are neither Node nor Chromium may have no other threads to tell of.
  if (await unlessRefused(parent.call("Target.setAutoAttach", options)))
    await reportingTime(parent);
}

/** Does not keep this process: the connection does. */
const reportingTime = (session: Session) =>
  session.unlessEnded(new Promise((resolve) => setTimeout(resolve, REPORTING_TIME).unref()));
