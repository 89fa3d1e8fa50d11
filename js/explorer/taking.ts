/** Takes dumps of a running program for the explorer. They are removed at the end, unless there is a folder for them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Captures } from "../watch/captures.js";
import { hasEnded } from "../watch/program.js";
import type { Dumps } from "./dumps.js";

/** Dumps that are taken at intervals: as many as of a folder. */
const MOST_DUMPS = 100;
/** The program may stand still for 5 % of the time. */
const SHARE = 20;

/** A dump that was taken. */
export interface TakenDump {
  /** The name of its file. */
  name: string;
  /** What may be wrong with it, as sentences. */
  warnings: string[];
}

/** A running program of which dumps are taken. */
export interface TakenProgram {
  /** A process id, or the address of an inspector. */
  target: string;
  /** The number of an instance, if the program has several. */
  instance: number | undefined;
  /** Where to keep the dumps, and the module. Default: nowhere. */
  folder: string | undefined;
  /** Whether to open the inspector of a process by a signal if it is not open. */
  inspector: boolean;
}

export class Taking {
  readonly #target: string;
  readonly #dumps: Dumps;
  /** A folder of its own, if dumps are not kept. */
  readonly #temporary: string | undefined;
  readonly #captures: Captures;
  /** One dump at a time. */
  #last: Promise<unknown> = Promise.resolve();

  constructor({ target, instance, folder, inspector }: TakenProgram, dumps: Dumps) {
    this.#target = target;
    this.#dumps = dumps;
    if (folder === undefined) {
      this.#temporary = mkdtempSync(join(tmpdir(), "warpo-heap-analyzer-open-"));
    }
    this.#captures = new Captures({
      target,
      instance,
      attaching: { inspector },
      folder: folder ?? this.#temporary,
      keep: Number.POSITIVE_INFINITY,
    });
  }

  /** Takes a dump, and adds it to the explorer's. */
  async take(): Promise<TakenDump & { stopped: number }> {
    const turn = this.#last.then(async () => {
      const {
        read: name,
        warnings,
        stopped,
      } = await this.#captures.next(async (path, wasm) => {
        const name = basename(path);
        await this.#dumps.read(this.#dumps.add({ path, name, wasm }));
        return name;
      });
      return { name, warnings, stopped };
    });
    this.#last = turn.catch(() => {});
    return await turn;
  }

  /** Takes a dump every `every` milliseconds, until the signal, the end of the program, or 100 dumps. */
  async takeAtIntervals(every: number, signal: AbortSignal): Promise<void> {
    for (let count = 1; !signal.aborted; count++) {
      let stopped = 0;
      try {
        ({ stopped } = await this.take());
      } catch (error) {
        if (signal.aborted) return;
        this.#dumps.fail(this.#target, error);
        if (count === 1 || (await hasEnded(this.#target))) return;
      }
      if (count === MOST_DUMPS) {
        const end = new Error(`${MOST_DUMPS} dumps were taken, and no more will be`);
        return this.#dumps.fail(this.#target, end);
      }
      const pause = Math.max(every, SHARE * stopped);
      await setTimeout(pause, undefined, { signal }).catch(() => {});
    }
  }

  /** Removes the dumps, if they are not kept. */
  close(): void {
    if (this.#temporary !== undefined) rmSync(this.#temporary, { recursive: true, force: true });
  }
}
