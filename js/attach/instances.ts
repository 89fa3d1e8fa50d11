// The WebAssembly instances of a target. `Runtime.queryObjects` finds all that are alive, also those of which the
// program keeps only a function; it collects garbage first.

import { HeapAnalyzerError } from "../errors.js";
import { answerError, base64 } from "../inspector/answer.js";
import { fitting, type Late, type Session } from "../inspector/calls.js";
import type { RemoteObject } from "../inspector/protocol.js";
import { anything, optional, record, type Shape, whole } from "../inspector/shape.js";
import { CONVERSATION_GROUP } from "../numbers/conversation.js";
import { shown } from "../text.js";
import type { KnownModules } from "./known_modules.js";
import {
  DEREFERENCE,
  ENTRY,
  EXPORTS_ALL,
  KEEP_WEAKLY,
  LENGTH,
  MEMORY_SIZE,
} from "./remote_code.js";
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
  /** Whether it is the HTTP parser that Node loads for its own `fetch`. Known only if there are several instances. */
  isOfNode?: boolean;
}

/** What a search found beside instances of which a dump can be taken. */
export interface Others {
  withoutMemory: number;
  /** Instances with a memory whose module is not known, because they have no function of it. */
  withoutModule: number;
  /** The names of modules that are loaded. */
  modules: Set<string>;
}

const MAX_INSTANCES = 10_000;
const MAX_MEMORY = 2 ** 32;
const MAX_MEMORIES = 1000;
const MAX_SCRIPTS = 100_000;
/** Imported functions come first and belong to other scripts. Of one instance, and of all. */
const MAX_FUNCTIONS_TRIED = 2000;
const MAX_TRIED_IN_ALL = 50_000;
/** Modules that a message names. */
const MAX_NAMED = 100;

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

/** The id of an object of the target. */
export function objectOf(objectId: string | undefined, what: string): string {
  if (objectId !== undefined) return objectId;
  throw answerError(what, "answered nothing for the id of an object");
}

/** The globals and memories of an instance. They live until {@link releaseObjects}. */
export async function partsOf({ thread: { session }, weak }: RemoteInstance): Promise<Parts> {
  const { result } = await session.call("Runtime.callFunctionOn", {
    objectId: weak,
    functionDeclaration: DEREFERENCE,
    objectGroup: SHORT_LIVED,
  });
  const { objectId } = result;
  if (objectId === undefined) {
    throw new HeapAnalyzerError(
      "ERR_MEMORY_MISSING",
      "the target has collected the instance: the program kept it no longer",
    );
  }
  const properties = await internalProperties(session, objectId);
  const memories = objectOf(properties.get("[[Memories]]")?.objectId, "the memories");
  // A module without globals has no list of them; the instance stands for it, which has no entry.
  return { globals: properties.get("[[Globals]]")?.objectId ?? objectId, memories };
}

/** One search through the threads of a target. */
export class InstanceSearch {
  readonly #known: KnownModules;
  readonly instances: RemoteInstance[] = [];
  readonly others: Others = { withoutMemory: 0, withoutModule: 0, modules: new Set() };
  #tried = 0;

  constructor(known: KnownModules) {
    this.#known = known;
  }

  /** Finds all instances with a memory, in the order of the threads and their realms. */
  async through(threads: Thread[]): Promise<void> {
    for (const thread of threads) {
      try {
        await this.#thread(thread);
      } catch (error) {
        // A worker may end in between, or lie. It is left out.
        if (thread === threads[0]) throw error;
      }
      await releaseObjects(thread);
    }
    if (this.instances.length > 1) await markOwn(this.instances);
  }

  async #thread(thread: Thread): Promise<void> {
    const known = this.#known;
    if (known.isOf(thread) && known.names.size > 0) {
      const before = { ...this.others };
      const found = await this.#instances(thread, known.names);
      if (this.others.withoutModule === before.withoutModule) {
        return void this.instances.push(...found);
      }
      // There are others than those of the known modules.
      Object.assign(this.others, before);
    }
    this.instances.push(...(await this.#newInstances(thread)));
  }

  /** The instances of a thread. The debugger says which scripts are modules. */
  async #newInstances(thread: Thread): Promise<RemoteInstance[]> {
    const scripts = new Map<string, string>();
    const { modules } = this.others;
    const forget = thread.session.on("Debugger.scriptParsed", (script) => {
      if (script.scriptLanguage !== "WebAssembly" || scripts.size >= MAX_SCRIPTS) return;
      scripts.set(script.scriptId, script.url);
      if (modules.size < MAX_NAMED) modules.add(script.url);
    });
    const find = () => this.#instances(thread, scripts);
    const instances = await slowed(thread.session, find).finally(forget);
    if (this.#known.isOf(thread)) {
      for (const { scriptId, moduleName } of instances) this.#known.names.set(scriptId, moduleName);
    }
    return instances;
  }

  /** The instances of these modules in a thread. */
  async #instances(
    thread: Thread,
    scripts: ReadonlyMap<string, string>,
  ): Promise<RemoteInstance[]> {
    const instances: RemoteInstance[] = [];
    for (const realm of thread.realms) {
      for (const objectId of await instancesOf(thread.session, realm)) {
        if (this.instances.length + instances.length >= MAX_INSTANCES) return instances;
        const instance = await this.#instance(thread, realm, objectId, scripts);
        if (instance !== undefined) instances.push(instance);
      }
    }
    return instances;
  }

  async #instance(
    thread: Thread,
    realm: Realm,
    objectId: string,
    scripts: ReadonlyMap<string, string>,
  ): Promise<RemoteInstance | undefined> {
    const { session } = thread;
    const parts = await internalProperties(session, objectId);
    const memories = parts.get("[[Memories]]")?.objectId;
    const functions = parts.get("[[Functions]]")?.objectId;
    const memory =
      memories === undefined
        ? undefined
        : await readValue(session, memories, MEMORY_SIZE, [], "the memory", MEMORY);
    if (memory === undefined || memory.count === 0) {
      this.others.withoutMemory++;
      return undefined;
    }
    const scriptId = await this.#scriptOf(session, functions, scripts);
    if (scriptId === undefined) {
      this.others.withoutModule++;
      return undefined;
    }
    const moduleName = scripts.get(scriptId) ?? "";
    const weak = await keptWeakly(session, objectId);
    const isShared = memory.shared === true;
    return { thread, realm, weak, memorySize: memory.size, isShared, scriptId, moduleName };
  }

  /** The script of the first function that belongs to one of them. */
  async #scriptOf(
    session: Session,
    functions: string | undefined,
    scripts: ReadonlyMap<string, string>,
  ): Promise<string | undefined> {
    if (functions === undefined) return undefined;
    for (let index = 0; index < MAX_FUNCTIONS_TRIED; index++) {
      if (this.#tried++ >= MAX_TRIED_IN_ALL) return undefined;
      const { objectId } = await call(session, functions, ENTRY, [{ value: index }]);
      if (objectId === undefined) return undefined;
      const location = (await internalProperties(session, objectId)).get("[[FunctionLocation]]");
      const { scriptId } = fitting("the function", LOCATION, location?.value ?? {});
      if (typeof scriptId === "string" && scripts.has(scriptId)) return scriptId;
    }
    return undefined;
  }
}

/** Exports of llhttp, which Node has as WebAssembly. */
const HTTP_PARSER = ["llhttp_alloc", "llhttp_execute", "llhttp_finish"];

/** Marks the instances of Node itself. */
async function markOwn(instances: RemoteInstance[]): Promise<void> {
  for (const instance of instances) {
    const { session } = instance.thread;
    const parameters = HTTP_PARSER.map((value) => ({ value }));
    // A worker may have ended, or lie: then the instance counts.
    const answer = await call(session, instance.weak, EXPORTS_ALL, parameters).catch(() => {});
    instance.isOfNode = answer?.value === true;
  }
}

const MEMORY = record({
  count: whole(MAX_MEMORIES),
  size: whole(MAX_MEMORY),
  shared: optional(anything),
});
const LOCATION = record({ scriptId: optional(anything) });

/** Why there is no instance of which a dump can be taken, as a sentence. */
export function whyNone({ withoutMemory, withoutModule, modules }: Others): string {
  const none = "the target has no WebAssembly instance with a memory of which a dump can be taken";
  if (withoutModule > 0) {
    return `${none}: ${withoutModule} of its instances have a memory, and no function that says what module they are of`;
  }
  if (withoutMemory > 0) return `${none}: ${withoutMemory} of its instances have no memory`;
  const [first] = modules;
  if (first !== undefined) {
    const others = modules.size > 1 ? ` and ${modules.size - 1} more` : "";
    return `${none}: the module ${shown(first)}${others} is loaded, and no instance of it is alive: the program let it go, or a worker had it that has ended`;
  }
  return `${none}: no module is loaded: the program has not loaded one yet, or a worker or another process has it, which may have ended`;
}

/** The module that an instance was made from. */
export async function moduleBytes(
  { thread, scriptId }: RemoteInstance,
  known: KnownModules,
): Promise<Buffer> {
  const before = known.isOf(thread) ? known.bytes.get(scriptId) : undefined;
  if (before !== undefined) return before;
  const { session } = thread;
  const { bytecode } = await slowed(session, () =>
    session.call("Debugger.getScriptSource", { scriptId }),
  );
  const bytes = base64(bytecode, "Debugger.getScriptSource");
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
  const prototypeObjectId = prototype.result.objectId;
  // The realm is gone, or has no WebAssembly.
  if (prototypeObjectId === undefined) return [];
  const query = await session.call("Runtime.queryObjects", {
    prototypeObjectId,
    objectGroup: SHORT_LIVED,
  });
  const { objectId } = query.objects;
  const what = "the list of instances";
  const size = await readValue(session, objectId, LENGTH, [], what, whole(MAX_INSTANCES));
  const found: string[] = [];
  for (let index = 0; index < size; index++) {
    const entry = await call(session, objectId, ENTRY, [{ value: index }]);
    found.push(objectOf(entry.objectId, what));
  }
  return found;
}

async function keptWeakly(session: Session, objectId: string): Promise<string> {
  const { result } = await session.call("Runtime.callFunctionOn", {
    objectId,
    functionDeclaration: KEEP_WEAKLY,
    objectGroup: `${SHORT_LIVED}:instances`,
  });
  return objectOf(result.objectId, "the instance");
}

async function internalProperties(
  session: Session,
  objectId: string,
): Promise<Map<string, RemoteObject | undefined>> {
  const parameters = { objectId, ownProperties: true };
  const { internalProperties } = await session.call("Runtime.getProperties", parameters);
  return new Map((internalProperties ?? []).map(({ name, value }) => [name, value]));
}

/** How a function of the target is called. */
interface Calling {
  returnByValue?: boolean;
  /**
   * Whether the function returns a promise. Even for a value, the target would wait for its microtasks, which do not run
   * in the middle of its work.
   */
  awaitPromise?: boolean;
  /** What it means if the answer is late. */
  late?: Late;
}

/** Calls a constant function on an object of the target. The result describes an object of the target. */
export async function call(
  session: Session,
  objectId: string,
  functionDeclaration: string,
  parameters: object[],
  { returnByValue = false, awaitPromise = false, late }: Calling = {},
): Promise<RemoteObject> {
  const { result, exceptionDetails } = await session.call(
    "Runtime.callFunctionOn",
    { objectId, functionDeclaration, arguments: parameters, returnByValue, awaitPromise },
    late,
  );
  if (exceptionDetails === undefined) return result;
  const reason = exceptionDetails.exception?.description ?? exceptionDetails.text;
  throw answerError("the target", `failed: ${shown(reason)}`);
}

/** Calls a constant function on an object of the target, and reads the value that it returns. */
export async function readValue<T>(
  session: Session,
  objectId: string,
  functionDeclaration: string,
  parameters: object[],
  what: string,
  shape: Shape<T>,
): Promise<T> {
  const calling = { returnByValue: true };
  const { value } = await call(session, objectId, functionDeclaration, parameters, calling);
  return fitting(what, shape, value);
}
