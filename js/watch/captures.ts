// One dump after the other of a running program. A connection lasts for one dump, so that the
// program has the inspector open, and keeps the objects that were looked at, no longer than that.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KnownModules } from "../attach/known_modules.js";
import { type AttachOptions, attachKnowing } from "../attach.js";
import { HeapAnalyzerError } from "../errors.js";
import { shown } from "../text.js";

/** What a program is watched with. */
export interface WatchedProgram {
  /** A process id, or the address of an inspector. */
  target: string;
  /** Which instance, if there are several. */
  instance: number | undefined;
  /** How to attach to it. One deadline is for one dump. */
  attaching: AttachOptions;
  /** Where to keep the last dumps, and the module. Default: nowhere. */
  folder: string | undefined;
  /** How many dumps to keep there. */
  keep: number;
}

/** A dump that was taken. */
export interface Capture<T> {
  /** What was read of the dump. */
  read: T;
  /** Milliseconds for which the target stood still or ran slower. */
  stopped: number;
  /** The size of the memory in bytes. */
  memorySize: number;
  /** The file, if dumps are kept. */
  dump: string | undefined;
  /** What may be wrong with the dump, as sentences. */
  warnings: string[];
}

/** Takes dumps of one instance. */
export class Captures {
  readonly #options: WatchedProgram;
  /** A folder of its own, if dumps are not kept. */
  readonly #temporary: string | undefined;
  /** The dumps that were kept, the oldest first. */
  readonly #kept: string[] = [];
  readonly #known = new KnownModules();
  #count = 0;
  /** The module that the first dump was of. */
  #module: string | undefined;

  constructor(options: WatchedProgram) {
    this.#options = options;
    if (options.folder === undefined) {
      this.#temporary = mkdtempSync(join(tmpdir(), "warpo-heap-analyzer-watch-"));
    }
  }

  /**
   * Takes the next dump.
   *
   * @param read reads it. Afterwards, it may be removed.
   */
  async next<T>(read: (dump: string, wasm: string) => Promise<T>): Promise<Capture<T>> {
    const folder = this.#options.folder ?? (this.#temporary as string);
    const dump = join(folder, `watch-${String(this.#count + 1).padStart(6, "0")}.dump`);
    const wasm = join(folder, "watch.wasm");
    const captured = await this.#capture(dump, wasm);
    this.#count++;
    this.#kept.push(dump);
    try {
      const isKept = this.#temporary === undefined;
      return { ...captured, read: await read(dump, wasm), dump: isKept ? dump : undefined };
    } finally {
      const most = this.#temporary === undefined ? this.#options.keep : 0;
      const extra = Math.max(0, this.#kept.length - most);
      for (const old of this.#kept.splice(0, extra)) rmSync(old, { force: true });
    }
  }

  async #capture(dump: string, wasmOutput: string) {
    const { target, attaching, instance } = this.#options;
    const attached = await attachKnowing(target, attaching, "all work", this.#known);
    try {
      const { module, memorySize = 0 } = attached.instances[instance ?? 0] ?? {};
      if (this.#module !== undefined && module !== this.#module) {
        throw new HeapAnalyzerError(
          "ERR_ATTACH_TARGET",
          `the instance is of the module ${shown(module)} now: expected ${shown(this.#module)}, of which the first dump is`,
        );
      }
      const warnings = await attached.writeDump(dump, { instance, wasmOutput });
      this.#module = module;
      return { warnings, memorySize, stopped: attached.stopped };
    } finally {
      await attached.close();
    }
  }

  /** Removes what is not kept. */
  close(): void {
    if (this.#temporary !== undefined) rmSync(this.#temporary, { recursive: true, force: true });
  }
}
