// The threads of a target: the main thread of Node and its workers, a page and its workers. Each has an inspector
// session, and realms (global objects) of its own.

import { HeapAnalyzerError } from "../errors.js";
import { at, text, type UncheckedAnswer } from "./answer.js";
import type { Connection, Session } from "./connection.js";

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
  const isNode = await hasDomain(main, "NodeRuntime.disable");
  const others: Omit<Thread, "realms">[] = [];
  if (isNode) await findNodeWorkers(connection, others);
  else await findChildren(connection, main, others);
  const first = { name: "main", kind: isNode ? "node" : "page", session: main } as const;
  const threads: Thread[] = [];
  for (const thread of [first, ...others].slice(0, MAX_THREADS)) {
    // A worker may end in between.
    const realms = await findRealms(thread.session).catch((error) => {
      if (thread === first) throw error;
      return [];
    });
    threads.push({ ...thread, realms });
  }
  return threads;
}

/** Fails if the inspector belongs to another engine than V8: no other finds the instances. */
async function checkEngine(session: Session): Promise<void> {
  try {
    await session.call("Runtime.getHeapUsage");
  } catch (error) {
    if (!(error as Error).message.includes("refused it")) throw error;
    throw new HeapAnalyzerError(
      "ERR_ATTACH_TARGET",
      "the inspector is not one of V8, the engine of Node, Deno and Chromium: that of Bun or Safari cannot find WebAssembly instances",
      { cause: error },
    );
  }
}

async function hasDomain(session: Session, method: string): Promise<boolean> {
  return await session.call(method).then(
    () => true,
    () => false,
  );
}

async function findRealms(session: Session): Promise<Realm[]> {
  const realms: Realm[] = [];
  session.on("Runtime.executionContextCreated", (event) => {
    const id = at(event, "context.id");
    if (typeof id !== "number" || realms.length >= MAX_REALMS) return;
    const name = String(at(event, "context.name") || at(event, "context.origin") || "");
    realms.push({ id, name: name.slice(0, 200) });
    if (at(event, "context.auxData.isDefault") === true) realms.unshift(...realms.splice(-1));
  });
  await session.call("Runtime.enable");
  return realms;
}

async function findNodeWorkers(connection: Connection, found: Omit<Thread, "realms">[]) {
  const { main } = connection;
  const receivers = new Map<string, (message: string) => void>();
  main.on("NodeWorker.attachedToWorker", (event: UncheckedAnswer) => {
    if (receivers.size >= MAX_THREADS) return;
    const sessionId = text(event, "sessionId", "NodeWorker.attachedToWorker");
    const { session, receive } = connection.worker(sessionId);
    receivers.set(sessionId, receive);
    const name = String(at(event, "workerInfo.title") ?? "worker").slice(0, 200);
    found.push({ name, kind: "node worker", session });
  });
  main.on("NodeWorker.receivedMessageFromWorker", (event: UncheckedAnswer) => {
    receivers.get(String(at(event, "sessionId")))?.(String(at(event, "message")));
  });
  await main.call("NodeWorker.enable", { waitForDebuggerOnStart: false });
  await reportingTime();
}

async function findChildren(
  connection: Connection,
  parent: Session,
  found: Omit<Thread, "realms">[],
) {
  parent.on("Target.attachedToTarget", (event: UncheckedAnswer) => {
    if (found.length >= MAX_THREADS) return;
    const session = connection.child(text(event, "sessionId", "Target.attachedToTarget"));
    const name = String(at(event, "targetInfo.url") ?? "worker").slice(0, 200);
    const isPage = ["page", "iframe"].includes(String(at(event, "targetInfo.type")));
    found.push({ name, kind: isPage ? "page" : "worker", session });
  });
  const options = { autoAttach: true, waitForDebuggerOnStart: false, flatten: true };
  await parent.call("Target.setAutoAttach", options);
  await reportingTime();
}

const reportingTime = () => new Promise((resolve) => setTimeout(resolve, REPORTING_TIME));
