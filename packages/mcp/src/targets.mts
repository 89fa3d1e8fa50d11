/** Running programs of which dumps may be taken: those that the server was started with, and no others. */
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Attached } from "@warpo/heap-analyzer/attach";
import { QuestionError } from "../../../js/served/errors.ts";
import { shortened } from "./roots.mts";

/** The files of a dump that was taken. */
export interface Taken {
  dump: string;
  wasm: string;
  /** A heap snapshot of the same moment, if it was wanted. */
  host: string | undefined;
  /** The numbers that the heap snapshot does not show, with it. */
  numbers: string | undefined;
  /** What may be wrong with the dump, as sentences. */
  warnings: string[];
}

export class Targets {
  readonly names: readonly string[];
  /** Where dumps go: without links. */
  readonly folder: string;
  readonly #mayOpen: boolean;
  /**
   * One dump of a program at a time: the inspector of a process that gets a signal is opened and closed each time. A
   * program that does not answer makes no other one wait.
   */
  readonly #last = new Map<string, Promise<unknown>>();
  /** Numbers of dumps that are being taken. */
  readonly #taken = new Set<number>();

  /**
   * Without a folder, dumps go into one of their own, which is removed when the process ends.
   *
   * @param mayOpen whether to open the inspector of a process by a signal.
   */
  constructor(names: string[], folder: string | undefined, mayOpen: boolean) {
    this.names = names;
    this.folder = folder ?? ownFolder();
    this.#mayOpen = mayOpen;
  }

  /** The instances of a program. */
  async instances(
    name: string | undefined,
    signal: AbortSignal,
  ): Promise<Pick<Attached, "instances" | "whyNone">> {
    return await this.#attached(name, signal, async (target) => target);
  }

  /** Takes a dump. No existing file is replaced, except that dumps of one module share its file. */
  async take(
    name: string | undefined,
    instance: number | undefined,
    wantsHost: boolean,
    signal: AbortSignal,
  ): Promise<Taken> {
    return await this.#attached(name, signal, async (target) => {
      const nth = instance ?? onlyOne(target);
      const hash = createHash("sha256")
        .update(await target.module(nth))
        .digest("hex");
      const wasm = join(this.folder, `attached-${hash.slice(0, 12)}.wasm`);
      const number = this.#freeNumber();
      const base = join(this.folder, `attached-${number}`);
      const dump = `${base}.dump`;
      const host = wantsHost ? `${base}.heapsnapshot` : undefined;
      const numbers = wantsHost ? `${base}.numbers.json` : undefined;
      const outputs = { wasmOutput: wasm, hostOutput: host, numbersOutput: numbers };
      const written = target.writeDump(dump, { instance: nth, ...outputs });
      const warnings = await written.finally(() => this.#taken.delete(number));
      return { dump, wasm, host, numbers, warnings };
    });
  }

  #freeNumber(): number {
    let number = 1;
    const isTaken = () =>
      this.#taken.has(number) || existsSync(join(this.folder, `attached-${number}.dump`));
    while (isTaken()) number++;
    this.#taken.add(number);
    return number;
  }

  async #attached<T>(
    name: string | undefined,
    signal: AbortSignal,
    work: (target: Attached) => Promise<T>,
  ): Promise<T> {
    const chosen = this.#chosen(name);
    const turn = (this.#last.get(chosen) ?? Promise.resolve()).then(async () => {
      // The package for connections is loaded only when it is needed.
      const { attach } = await import("@warpo/heap-analyzer/attach");
      const target = await attach(chosen, { inspector: this.#mayOpen, signal });
      try {
        return await work(target);
      } finally {
        await target.close();
      }
    });
    const over = turn.catch(() => {});
    this.#last.set(chosen, over);
    return await turn;
  }

  #chosen(name: string | undefined): string {
    const [only] = this.names;
    if (name === undefined && only !== undefined && this.names.length === 1) return only;
    if (name !== undefined && this.names.includes(name)) return name;
    const found = name === undefined ? "no target is named" : `${shortened(name)} is not allowed`;
    throw new QuestionError(
      "ERR_NOT_ALLOWED",
      `${found}: the server was started with --attach ${this.names.join(" --attach ")}`,
    );
  }
}

/** The position of the only instance. Several are refused when the dump is taken. */
function onlyOne({ instances }: Attached): number {
  if (instances.length <= 1) return 0;
  throw new QuestionError(
    "ERR_INSTANCE_AMBIGUOUS",
    `the program has ${instances.length} instances: list them with list, and choose one with instance`,
  );
}

/** A folder that only its owner can read, and that is removed at the end of the process. */
function ownFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "warpo-heap-analyzer-attach-")));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", remove);
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(name, () => {
      remove();
      // Otherwise what else listens ends the process.
      if (process.listenerCount(name) === 0) process.kill(process.pid, name);
    });
  }
  return folder;
}
