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
 * The target is a Node process (20 or newer, with its workers) or a page of Chromium (with its workers), through its
 * inspector. On Linux it may be any process with a WebAssembly memory, which is read from outside, or a core file. An
 * inspector executes any code without authentication, so only addresses of this machine are accepted. A dump
 * contains the program's memory, including its secrets.
 *
 * @module
 */

import type { Attached } from "./attach/attached.js";
import { findEndpoint } from "./attach/endpoint.js";
import { InstanceSearch, moduleBytes, type RemoteInstance, whyNone } from "./attach/instances.js";
import { KnownModules } from "./attach/known_modules.js";
import { writeMoment, writeWhole } from "./attach/moment.js";
import { findThreads } from "./attach/threads.js";
import { unfinished } from "./attach/unfinished.js";
import { HeapAnalyzerError, invalidArgument } from "./errors.js";
import { Connection, type Patience } from "./inspector/connection.js";
import { typed, wholeNumber } from "./option_facts.js";
import { abortSignal, readOptions } from "./options.js";
import { attachOutside } from "./outside/attached.js";
import { outsideTarget } from "./outside/decision.js";
import { textPath } from "./paths.js";

export type { Attached, AttachedDumpOptions, AttachedInstance } from "./attach/attached.js";
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
   * Read the memory from outside, as the system lets debuggers, also if an inspector is open. Only on Linux. Default:
   * whether no inspector is open.
   */
  outside?: boolean | undefined;
  /** For what is read from outside: the module, if the process does not have it. Only V8 keeps modules. */
  wasm?: string | URL | undefined;
  /** For what is read from outside: how many moments to try (default: 3). */
  tries?: number | undefined;
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

/**
 * Attaches to a process or a page.
 *
 * @param target the id of a process; the address of an inspector: `http://127.0.0.1:<port>` or
 *   `ws://127.0.0.1:<port>/<id>`; or the path of a core file.
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
    outside: typed("boolean"),
    wasm: textPath,
    tries: wholeNumber(1, MOST_TRIES),
    timeout: time,
    deadline: time,
    signal: abortSignal,
  };
  const settings = readOptions(options, checks, "sync") as AttachOptions;
  return await attachKnowing(target, settings, "each work", new KnownModules());
}

const TRIES = 3;
const MOST_TRIES = 1000;
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
  options: AttachOptions,
  deadlineFor: Patience["deadlineFor"],
  known: KnownModules,
): Promise<Attached> {
  const { inspector = false, timeout = SILENCE, deadline = DEADLINE, signal } = options;
  const start = performance.now();
  const patience = { silence: timeout, whole: deadline, deadlineFor, signal };
  const wasm = options.wasm === undefined ? undefined : textPath("wasm", options.wasm);
  const outside = options.outside ?? wasm !== undefined;
  const seen = await outsideTarget(target, { outside, inspector, patience });
  if (seen !== undefined) {
    return await attachOutside(seen, { patience, wasm, tries: options.tries ?? TRIES });
  }
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
    await connection.close();
    done();
    await restore();
  };
  try {
    const search = new InstanceSearch(known);
    await connection.during(async () => search.through(await findThreads(connection)));
    return attached(search, known, connection, close);
  } catch (error) {
    // Nobody has to wait until the target knows of the end.
    void connection.close().then(done);
    await restore();
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
  const counting = found.filter(({ isOfNode }) => isOfNode !== true);
  if (nth === undefined && counting.length === 1) return counting[0] as RemoteInstance;
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
