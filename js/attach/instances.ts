// The WebAssembly instances of a target. `Runtime.queryObjects` finds all that are alive, also those of which the
// program keeps only a function; it collects garbage first.

import { answerError, at, base64, count, list, text, type UncheckedAnswer } from "./answer.js";
import type { Session } from "./connection.js";
import { ENTRY, LENGTH, MEMORY_SIZE } from "./remote_code.js";
import type { Realm, Thread } from "./threads.js";

/** An instance with a memory. */
export interface RemoteInstance {
  thread: Thread;
  realm: Realm;
  /** Objects of the target. */
  globals: string;
  memories: string;
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

/** Finds all instances with a memory, in the order of their threads and realms. */
export async function findInstances(threads: Thread[]): Promise<RemoteInstance[]> {
  const found: RemoteInstance[] = [];
  for (const thread of threads) {
    const scripts = new Map<string, string>();
    thread.session.on("Debugger.scriptParsed", (event) => {
      if (at(event, "scriptLanguage") !== "WebAssembly") return;
      scripts.set(String(at(event, "scriptId")), String(at(event, "url")).slice(0, 300));
    });
    await withDebugger(thread.session, async () => {
      for (const realm of thread.realms) {
        for (const objectId of await instancesOf(thread.session, realm)) {
          if (found.length >= MAX_INSTANCES) return;
          const instance = await readInstance(thread, realm, objectId, scripts);
          if (instance !== undefined) found.push(instance);
        }
      }
    });
  }
  return found;
}

/** The module that an instance was made from. */
export async function moduleBytes({
  thread: { session },
  scriptId,
}: RemoteInstance): Promise<Buffer> {
  const source = await withDebugger(session, () =>
    session.call("Debugger.getScriptSource", { scriptId }),
  );
  return base64(at(source, "bytecode"), "Debugger.getScriptSource");
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
  });
  text(prototype, "result.type", "Runtime.evaluate");
  const prototypeObjectId = at(prototype, "result.objectId");
  // The realm is gone, or has no WebAssembly.
  if (typeof prototypeObjectId !== "string") return [];
  const query = await session.call("Runtime.queryObjects", { prototypeObjectId });
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

async function readInstance(
  thread: Thread,
  realm: Realm,
  objectId: string,
  scripts: Map<string, string>,
): Promise<RemoteInstance | undefined> {
  const { session } = thread;
  const parts = await internalProperties(session, objectId);
  const [globals, memories, functions] = ["[[Globals]]", "[[Memories]]", "[[Functions]]"].map(
    (name) => at(parts.get(name), "objectId"),
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
    // A module without globals has no list of them; an empty object stands for it.
    const list = typeof globals === "string" ? globals : objectId;
    return { thread, realm, globals: list, memories, memorySize, isShared, scriptId, moduleName };
  }
  return undefined;
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
    throw answerError("the target", `failed: ${String(reason).slice(0, 300)}`);
  }
  return returnByValue ? at(answer, "result.value") : at(answer, "result");
}
