// What the addon reads of other processes and of core files: its requests and answers are JSON.

import { HeapAnalyzerError } from "../errors.js";
import { abortError } from "../inspector/connection.js";
import * as native from "../native.js";
import { awaitNative } from "../native_errors.js";

/** What is read: a process, or a core file. */
export type OutsideTarget =
  | {
      kind: "process";
      pid: number;
      /** When it began, to be sure that it is the same one. */
      since?: number | undefined;
    }
  | { kind: "core"; path: string };

/** A memory that was seen from outside. */
export interface OutsideMemory {
  /** Where it begins in the process. */
  address: number;
  /** In bytes. */
  size: number;
  /** Bytes in pages of 4 KiB that are not only zeros. */
  usedSize: number;
  /** A name of its module, if that was found. */
  module: string | null;
  /** Why it was not found. */
  whyNoModule: string | null;
}

/** A target with its memories. */
export interface OutsideDescription {
  program: string | null;
  since: number | null;
  memories: OutsideMemory[];
}

/** A process that has a memory. */
export interface ProcessWithMemories {
  pid: number;
  program: string;
  memories: OutsideMemory[];
}

/** All processes that have one. */
export interface AllMemories {
  processes: ProcessWithMemories[];
  /** How many processes of this user could not be read. */
  unreadable: number;
  whyUnreadable: string | null;
}

/** How a dump was taken. */
export interface OutsideDump {
  /** The size of the memory in bytes. */
  size: number;
  /** Milliseconds for which the process stood still; null for a core file. */
  pause: number | null;
  /** The engine in whose order the globals lie. */
  engine: string;
  /** How many moments were tried. */
  tries: number;
}

/** How long the answers may take together, in milliseconds, and what ends them. */
export interface OutsidePatience {
  whole: number;
  signal?: AbortSignal | undefined;
}

/** Asks the addon, until one deadline. */
export class Asking {
  readonly #signal: AbortSignal | undefined;
  readonly #whole: number;
  readonly #end: number;

  constructor({ whole, signal }: OutsidePatience) {
    this.#signal = signal;
    this.#whole = whole;
    this.#end = performance.now() + whole;
  }

  async memories(pids?: readonly number[]): Promise<AllMemories> {
    return await this.#json({ question: "memories", pids });
  }

  async describe(target: OutsideTarget, wasm?: Uint8Array): Promise<OutsideDescription> {
    return await this.#json({ question: "describe", target }, wasm);
  }

  async module(target: OutsideTarget, address: number): Promise<Uint8Array> {
    const { module } = await this.#ask({ question: "module", target, address });
    return module as Uint8Array;
  }

  /** Writes a dump into an open file that is empty. */
  async dump(
    target: OutsideTarget,
    place: { address: number; tries: number; descriptor: number },
    wasm: Uint8Array,
  ): Promise<OutsideDump> {
    return await this.#json({ question: "dump", target, ...place }, wasm);
  }

  async #json<T>(request: object, wasm?: Uint8Array): Promise<T> {
    return JSON.parse((await this.#ask(request, wasm)).json) as T;
  }

  async #ask(request: object, wasm?: Uint8Array): Promise<native.OutsideAnswer> {
    const control = new native.WorkControl();
    let isLate = false;
    const cancel = () => control.cancel();
    const late = () => {
      isLate = true;
      control.cancel();
    };
    const timer = setTimeout(late, Math.max(1, this.#end - performance.now()));
    this.#signal?.addEventListener("abort", cancel, { once: true });
    try {
      if (this.#signal?.aborted) throw abortError(this.#signal);
      return await awaitNative(() => native.outside(control, JSON.stringify(request), wasm));
    } catch (error) {
      if ((error as { code?: unknown }).code !== "ABORT_ERR") throw error;
      if (!isLate) throw abortError(this.#signal);
      throw new HeapAnalyzerError(
        "ERR_ATTACH_TIMEOUT",
        `reading the target took longer than ${this.#whole} ms`,
      );
    } finally {
      clearTimeout(timer);
      this.#signal?.removeEventListener("abort", cancel);
    }
  }
}
