/**
 * Dumps of a running process or page that was not prepared, over its inspector.
 *
 * ```js
 * import { attach } from "@warpo/heap-analyzer/attach";
 *
 * const target = await attach("http://127.0.0.1:9229");
 * console.log(target.instances);
 * await target.writeDump("after.dump", { wasmOutput: "program.wasm" });
 * await target.close();
 * ```
 *
 * The target is a Node process (20 or newer, with its workers) or a page of Chromium (with its workers). An
 * inspector executes any code without authentication, so only addresses of this machine are accepted. A dump
 * contains the program's memory, including its secrets.
 *
 * @module
 */

import { findEndpoint } from "./attach/endpoint.js";
import { InstanceSearch, moduleBytes, type RemoteInstance, whyNone } from "./attach/instances.js";
import { KnownModules } from "./attach/known_modules.js";
import { writeMoment, writeWhole } from "./attach/moment.js";
import { findThreads } from "./attach/threads.js";
import { unfinished } from "./attach/unfinished.js";
import { HeapAnalyzerError, invalidArgument } from "./errors.js";
import { Connection, type Patience } from "./inspector/connection.js";
import { abortSignal, readOptions, typed, wholeNumber } from "./options.js";
import { textPath } from "./paths.js";

export type { FrameValue, PausedFrame } from "./attach/paused_frame.js";
export { HeapAnalyzerError } from "./errors.js";

/** Options of {@link attach}. */
export interface AttachOptions {
  /**
   * Open the inspector of a process by a signal if it is not open. It is sent only to a process of Node that handles it,
   * and only on Linux and Windows. Default: false.
   */
  inspector?: boolean | undefined;
  /**
   * How long the target may be silent while an answer is awaited, in milliseconds (a whole number from 1 to 2^31 − 1;
   * default: 30,000).
   */
  timeout?: number | undefined;
  /**
   * How long each call, of {@link attach} and of the methods of {@link Attached}, may take, in milliseconds (a whole
   * number from 1 to 2^31 − 1; default: 600,000).
   */
  deadline?: number | undefined;
  /** Ends the connection. What waits rejects with an `AbortError`. */
  signal?: AbortSignal | undefined;
}

/** A WebAssembly instance of the target that has a memory. */
export interface AttachedInstance {
  /** `main`, or the name or address of a worker. */
  thread: string;
  /** The global object that the instance belongs to: of a page, a frame, or a context of `node:vm`. */
  realm: string;
  /** The engine's name of the module: `wasm://wasm/<name>-<hash>`. */
  module: string;
  /** The size of the memory in bytes. */
  memorySize: number;
}

/** Options of {@link Attached.writeDump}. */
export interface AttachedDumpOptions {
  /** Which instance, by its position in {@link Attached.instances}. Needed if there are several. */
  instance?: number | undefined;
  /** Where to write the module that the instance was made from. Default: nowhere. */
  wasmOutput?: string | URL | undefined;
  /**
   * Where to write a heap snapshot of V8, of the thread of the instance. The thread is paused, so that the snapshot
   * and the dump are of the same moment. Default: nowhere.
   */
  hostOutput?: string | URL | undefined;
  /**
   * Where to write the numbers that the heap snapshot does not show: those in arrays, maps, sets, `Number` objects and
   * typed arrays. Needs `hostOutput`. Default: nowhere.
   */
  numbersOutput?: string | URL | undefined;
  /** With `numbersOutput`: also the variables of functions. Takes seconds for some thousand functions. Default: false. */
  closures?: boolean | undefined;
  /**
   * Where to write the WebAssembly functions that were running, with their locals and operands: JSON, an object with
   * `frames`, a list of {@link PausedFrame}. The thread is paused in the middle of its work, so the stack is not empty.
   * Default: nowhere.
   */
  framesOutput?: string | URL | undefined;
}

/** A process or a page to which this process is attached. */
export interface Attached {
  /** The instances that were alive at the moment of {@link attach}, by thread and realm. */
  readonly instances: readonly AttachedInstance[];
  /** If there are no instances: why not, as a sentence. */
  readonly whyNone?: string | undefined;
  /**
   * Writes a dump of an instance. The dump is taken between two turns of the program's event loop, so that the
   * stack is empty. A program that does not come to rest within 5 s is interrupted instead. With
   * `hostOutput`, it is paused between two turns, or after 5 s in the middle of its work.
   *
   * @returns sentences about what may be wrong with the dump.
   * @throws {HeapAnalyzerError} `ERR_INVALID_OPTION`, `ERR_INSTANCE_AMBIGUOUS`, `ERR_GLOBAL_MISSING` (compiled with
   *   a runtime without a collector), `ERR_DUMP_PATH`, `ERR_DUMP_WRITE`, `ERR_ATTACH_ANSWER` or `ERR_ATTACH_TIMEOUT`.
   */
  writeDump(path: string | URL, options?: AttachedDumpOptions): Promise<string[]>;
  /** The module that an instance was made from. */
  module(instance: number): Promise<Uint8Array<ArrayBuffer>>;
  /** Milliseconds for which the target has stood still so far, or ran slower because its module was read. */
  readonly stopped: number;
  /** Ends the connection. If {@link attach} opened the inspector of a process, it is closed again. */
  close(): Promise<void>;
}

/**
 * Attaches to a process or a page.
 *
 * @param target the id of a Node process whose inspector is open, or may be opened; or the address of an inspector:
 *   `http://127.0.0.1:<port>` or `ws://127.0.0.1:<port>/<id>`.
 * @throws {HeapAnalyzerError} `ERR_ATTACH_TARGET` if there is no such target, or it is not on this machine;
 *   `ERR_INSPECTOR_CLOSED` if the inspector of the process is not open, and may not be opened;
 *   `ERR_ATTACH_ANSWER` or `ERR_ATTACH_TIMEOUT` if it does not answer as an inspector does; `ABORT_ERR`.
 */
export async function attach(
  target: string | number,
  options?: AttachOptions | null,
): Promise<Attached> {
  if (typeof target !== "string" && typeof target !== "number") {
    throw invalidArgument("target", "a process id or the address of an inspector", target);
  }
  const time = wholeNumber(1, LONGEST_TIME);
  const checks = {
    inspector: typed("boolean"),
    timeout: time,
    deadline: time,
    signal: abortSignal,
  };
  const settings = readOptions(options, checks, "sync") as AttachOptions;
  return await attachKnowing(target, settings, "each work", new KnownModules());
}

/** The longest time of a timer of Node, in milliseconds. */
const LONGEST_TIME = 2 ** 31 - 1;
const SILENCE = 30_000;
const DEADLINE = 600_000;

/**
 * The same, for one dump after the other, or with one deadline for everything.
 *
 * @param known the modules of earlier dumps.
 * @internal
 */
export async function attachKnowing(
  target: string | number,
  { inspector = false, timeout = SILENCE, deadline = DEADLINE, signal }: AttachOptions,
  deadlineFor: Patience["deadlineFor"],
  known: KnownModules,
): Promise<Attached> {
  const start = performance.now();
  const patience = { silence: timeout, whole: deadline, deadlineFor, signal };
  const { url, identity, restore } = await findEndpoint(target, { mayOpen: inspector, patience });
  known.beginWith(identity);
  const left = Math.max(1, Math.ceil(deadline - (performance.now() - start)));
  // What the search for the inspector took counts, if there is one deadline for everything.
  const whole = deadlineFor === "all work" ? left : deadline;
  const connection = await Connection.open(url, { ...patience, whole }).catch(async (error) => {
    await restore();
    throw error;
  });
  return await attachOver(connection, known, restore);
}

/**
 * Attaches to what is at the other end of a connection.
 *
 * @param restore called when the connection has ended. Does not fail.
 * @internal
 */
export async function attachOver(
  connection: Connection,
  known: KnownModules,
  restore: () => Promise<void>,
): Promise<Attached> {
  // A thread that is paused goes on when the connection ends.
  const done = unfinished(() => connection.close());
  const close = async () => {
    connection.close();
    done();
    await restore();
  };
  try {
    const search = new InstanceSearch(known);
    await connection.during(async () => search.through(await findThreads(connection)));
    return attached(search, known, connection, close);
  } catch (error) {
    await close();
    throw error;
  }
}

function attached(
  search: InstanceSearch,
  known: KnownModules,
  connection: Connection,
  close: () => Promise<void>,
): Attached {
  const found = search.instances;
  const why = found.length > 0 ? undefined : whyNone(search.others);
  const modules = new Map<string, Promise<Buffer>>();
  let copying = 0;
  const moduleOf = (instance: RemoteInstance) => {
    const key = `${found.findIndex(({ thread }) => thread === instance.thread)} ${instance.scriptId}`;
    const module = modules.get(key) ?? moduleBytes(instance, known);
    modules.set(key, module);
    return module;
  };
  return {
    instances: found.map(({ thread, realm, moduleName, memorySize }) => ({
      thread: thread.name,
      realm: realm.name,
      module: moduleName,
      memorySize,
    })),
    ...(why === undefined ? {} : { whyNone: why }),
    async writeDump(path, { instance: nth, closures = false, ...outputs } = {}) {
      const file = textPath("path", path);
      const output = (name: keyof typeof outputs) =>
        outputs[name] === undefined ? undefined : textPath(name, outputs[name]);
      const wasmFile = output("wasmOutput");
      const [host, frames] = [output("hostOutput"), output("framesOutput")];
      const numbersFile = output("numbersOutput");
      if (numbersFile !== undefined && host === undefined) {
        throw new HeapAnalyzerError(
          "ERR_INVALID_OPTION",
          "numbersOutput needs hostOutput: the numbers file names objects of the heap snapshot",
        );
      }
      const numbers = numbersFile === undefined ? undefined : { path: numbersFile, closures };
      const instance = chosen(found, nth, why);
      return await connection.during(async () => {
        const wasm = await moduleOf(instance);
        const outputs = { dump: file, host, numbers, frames };
        const { warnings, time } = await writeMoment(instance, wasm, outputs);
        copying += time;
        if (wasmFile !== undefined) await writeWhole(wasmFile, "the module", wasm);
        return warnings;
      });
    },
    async module(nth) {
      const instance = chosen(found, nth, why);
      return Uint8Array.from(await connection.during(() => moduleOf(instance)));
    },
    get stopped() {
      return connection.stopped + copying;
    },
    close,
  };
}

function chosen(
  found: RemoteInstance[],
  nth: number | undefined,
  why: string | undefined,
): RemoteInstance {
  if (why !== undefined) throw new HeapAnalyzerError("ERR_MEMORY_MISSING", why);
  if (nth === undefined && found.length > 1) {
    throw new HeapAnalyzerError(
      "ERR_INSTANCE_AMBIGUOUS",
      `the target has ${found.length} WebAssembly instances with a memory: choose one by its number, 0 to ${found.length - 1}`,
    );
  }
  const instance = found[nth ?? 0];
  if (instance === undefined) {
    throw new HeapAnalyzerError(
      "ERR_INVALID_ARG_VALUE",
      `there is no instance ${nth}: the target has ${found.length}, numbered from 0`,
    );
  }
  return instance;
}
