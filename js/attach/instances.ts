// The WebAssembly instances of a target. `Runtime.queryObjects` finds all that are alive, also those of which the
// program keeps only a function; it collects garbage first.

import { HeapAnalyzerError } from "../errors.js";
import { CONVERSATION_GROUP } from "../numbers/conversation.js";
import {
  answerError,
  at,
  base64,
  count,
  list,
  quoted,
  text,
  type UncheckedAnswer,
} from "./answer.js";
import type { Session } from "./connection.js";
import type { KnownModules } from "./known_modules.js";
import { DEREFERENCE, ENTRY, KEEP_WEAKLY, LENGTH, MEMORY_SIZE } from "./remote_code.js";
import type { Realm, Thread } from "./threads.js";

/** An instance with a memory. */
export interface RemoteInstance {
  thread: Thread;
  realm: Realm;
  /** A weak reference of the target: attaching keeps no instance alive, and adds no root to a heap snapshot. */
  weak: string;
  memorySize: number;
  isShared: boolean;
  /** The script of its module, and the name that the engine gives it. */
  scriptId: string;
  moduleName: string;
}

const MAX_INSTANCES = 10_000;
const MAX_MEMORY = 2 ** 32;
/** Imported functions come first and belong to other scripts. */
const MAX_FUNCTIONS_TRIED = 2000;

/** Objects of the target that live no longer than one search or one capture. */
export const SHORT_LIVED = "warpo-heap-analyzer";

/** The objects of an instance that a capture reads. */
export interface Parts {
  globals: string;
  memories: string;
}

/** V8's name for the objects that it describes in a pause. */
const OBJECTS_OF_A_PAUSE = "backtrace";

/** Lets the target forget all objects that a search, a pause or a capture looked at. */
export async function releaseObjects({ session }: Thread): Promise<void> {
  for (const objectGroup of [SHORT_LIVED, OBJECTS_OF_A_PAUSE, CONVERSATION_GROUP]) {
    await session.call("Runtime.releaseObjectGroup", { objectGroup }).catch(() => {});
  }
}

/** The globals and memories of an instance. They live until {@link releaseObjects}. */
export async function partsOf({ thread: { session }, weak }: RemoteInstance): Promise<Parts> {
  const answer = await session.call("Runtime.callFunctionOn", {
    objectId: weak,
    functionDeclaration: DEREFERENCE,
    objectGroup: SHORT_LIVED,
  });
  const objectId = at(answer, "result.objectId");
  if (typeof objectId !== "string") {
    throw new HeapAnalyzerError(
      "ERR_MEMORY_MISSING",
      "the target has collected the instance: the program kept it no longer",
    );
  }
  return partsAmong(await internalProperties(session, objectId), objectId);
}

function partsAmong(properties: Map<string, UncheckedAnswer>, objectId: string): Parts {
  const memories = text(properties.get("[[Memories]]"), "objectId", "the instance");
  const globals = at(properties.get("[[Globals]]"), "objectId");
  // A module without globals has no list of them; an empty object stands for it.
  return { globals: typeof globals === "string" ? globals : objectId, memories };
}

/** Finds all instances with a memory, in the order of their threads and realms. */
export async function findInstances(
  threads: Thread[],
  known: KnownModules,
): Promise<RemoteInstance[]> {
  const found: RemoteInstance[] = [];
  for (const thread of threads) {
    found.push(...((await knownInstances(thread, known)) ?? (await newInstances(thread, known))));
    await releaseObjects(thread);
    if (found.length >= MAX_INSTANCES) break;
  }
  return found.slice(0, MAX_INSTANCES);
}

/** The instances of a thread, if all their modules are known. */
async function knownInstances(
  thread: Thread,
  known: KnownModules,
): Promise<RemoteInstance[] | undefined> {
  if (!known.isOf(thread) || known.names.size === 0) return undefined;
  const { instances, others } = await instancesIn(thread, known.names);
  return others === 0 ? instances : undefined;
}

/** The instances of a thread. The debugger says which scripts are modules. */
async function newInstances(thread: Thread, known: KnownModules): Promise<RemoteInstance[]> {
  const scripts = new Map<string, string>();
  thread.session.on("Debugger.scriptParsed", (event) => {
    if (at(event, "scriptLanguage") !== "WebAssembly") return;
    scripts.set(String(at(event, "scriptId")), String(at(event, "url")).slice(0, 300));
  });
  const { instances } = await slowed(thread.session, () => instancesIn(thread, scripts));
  if (known.isOf(thread)) {
    for (const { scriptId, moduleName } of instances) known.names.set(scriptId, moduleName);
  }
  return instances;
}

/** The instances of these modules in a thread, and how many there are of others. */
async function instancesIn(
  thread: Thread,
  scripts: ReadonlyMap<string, string>,
): Promise<{ instances: RemoteInstance[]; others: number }> {
  const instances: RemoteInstance[] = [];
  let others = 0;
  for (const realm of thread.realms) {
    for (const objectId of await instancesOf(thread.session, realm)) {
      if (instances.length >= MAX_INSTANCES) break;
      const instance = await readInstance(thread, realm, objectId, scripts);
      if (instance === "unknown") others++;
      else if (instance !== undefined) instances.push(instance);
    }
  }
  return { instances, others };
}

/** The module that an instance was made from. */
export async function moduleBytes(
  { thread, scriptId }: RemoteInstance,
  known: KnownModules,
): Promise<Buffer> {
  const before = known.isOf(thread) ? known.bytes.get(scriptId) : undefined;
  if (before !== undefined) return before;
  const { session } = thread;
  const source = await slowed(session, () =>
    session.call("Debugger.getScriptSource", { scriptId }),
  );
  const bytes = base64(at(source, "bytecode"), "Debugger.getScriptSource");
  if (known.isOf(thread)) known.bytes.set(scriptId, bytes);
  return bytes;
}

/** Works with the debugger. All of that time counts, because WebAssembly is slow in it. */
async function slowed<T>(session: Session, work: () => Promise<T>): Promise<T> {
  const start = performance.now();
  session.isTimed = true;
  try {
    return await withDebugger(session, work);
  } finally {
    session.isTimed = false;
    session.count(performance.now() - start);
  }
}

/** While the debugger is enabled, WebAssembly runs slower. Afterwards it has its full speed again. */
export async function withDebugger<T>(session: Session, work: () => Promise<T>): Promise<T> {
  await session.call("Debugger.enable");
  try {
    return await work();
  } finally {
    await session.call("Debugger.disable").catch(() => {});
  }
}

async function instancesOf(session: Session, realm: Realm): Promise<string[]> {
  const prototype = await session.call("Runtime.evaluate", {
    expression: "WebAssembly.Instance.prototype",
    contextId: realm.id,
    objectGroup: SHORT_LIVED,
  });
  text(prototype, "result.type", "Runtime.evaluate");
  const prototypeObjectId = at(prototype, "result.objectId");
  // The realm is gone, or has no WebAssembly.
  if (typeof prototypeObjectId !== "string") return [];
  const query = await session.call("Runtime.queryObjects", {
    prototypeObjectId,
    objectGroup: SHORT_LIVED,
  });
  const objects = text(query, "objects.objectId", "Runtime.queryObjects");
  const length = await call(session, objects, LENGTH, [], true);
  const size = count({ length }, "length", "the list of instances", MAX_INSTANCES);
  const found: string[] = [];
  for (let index = 0; index < size; index++) {
    const entry = await call(session, objects, ENTRY, [{ value: index }]);
    found.push(text(entry, "objectId", "the list of instances"));
  }
  return found;
}

/** An instance; "unknown" if its module is none of the scripts; undefined if it has no memory. */
async function readInstance(
  thread: Thread,
  realm: Realm,
  objectId: string,
  scripts: ReadonlyMap<string, string>,
): Promise<RemoteInstance | "unknown" | undefined> {
  const { session } = thread;
  const parts = await internalProperties(session, objectId);
  const [memories, functions] = ["[[Memories]]", "[[Functions]]"].map((name) =>
    at(parts.get(name), "objectId"),
  );
  if (typeof memories !== "string" || typeof functions !== "string") return undefined;
  const memory = await call(session, memories, MEMORY_SIZE, [], true);
  if (count(memory, "count", "the memories", 1000) === 0) return undefined;
  const memorySize = count(memory, "size", "the memory", MAX_MEMORY);
  for (let index = 0; index < MAX_FUNCTIONS_TRIED; index++) {
    const tried = at(await call(session, functions, ENTRY, [{ value: index }]), "objectId");
    if (typeof tried !== "string") break;
    const location = (await internalProperties(session, tried)).get("[[FunctionLocation]]");
    const scriptId = String(at(location, "value.scriptId"));
    const moduleName = scripts.get(scriptId);
    if (moduleName === undefined) continue;
    const isShared = at(memory, "shared") === true;
    const weak = await keptWeakly(session, objectId);
    return { thread, realm, weak, memorySize, isShared, scriptId, moduleName };
  }
  return "unknown";
}

async function keptWeakly(session: Session, objectId: string): Promise<string> {
  const answer = await session.call("Runtime.callFunctionOn", {
    objectId,
    functionDeclaration: KEEP_WEAKLY,
    objectGroup: `${SHORT_LIVED}:instances`,
  });
  return text(answer, "result.objectId", "the instance");
}

async function internalProperties(
  session: Session,
  objectId: string,
): Promise<Map<string, UncheckedAnswer>> {
  const answer = await session.call("Runtime.getProperties", { objectId, ownProperties: true });
  const properties = at(answer, "internalProperties") ?? [];
  const entries = list({ properties }, "properties", "Runtime.getProperties", 1000);
  return new Map(entries.map((entry) => [String(at(entry, "name")), at(entry, "value")]));
}

/**
 * Calls a constant function on an object of the target. The result is an object of the target, or a value.
 *
 * @param awaitPromise whether the function returns a promise. Even for a value, the target would wait for its
 *   microtasks, which do not run in the middle of its work.
 */
export async function call(
  session: Session,
  objectId: string,
  functionDeclaration: string,
  parameters: object[],
  returnByValue = false,
  awaitPromise = false,
): Promise<UncheckedAnswer> {
  const answer = await session.call("Runtime.callFunctionOn", {
    objectId,
    functionDeclaration,
    arguments: parameters,
    returnByValue,
    awaitPromise,
  });
  const exception = at(answer, "exceptionDetails");
  if (exception !== undefined) {
    const reason = at(exception, "exception.description") ?? at(exception, "text");
    throw answerError("the target", `failed: ${quoted(reason)}`);
  }
  return returnByValue ? at(answer, "result.value") : at(answer, "result");
}
