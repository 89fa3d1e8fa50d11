// A process or a core file whose memory is read from outside, with the methods of one that is attached to by its
// inspector.

import { readFileSync } from "node:fs";
import type { Attached, AttachedDumpOptions } from "../attach/attached.js";
import { writeWhole } from "../attach/moment.js";
import { written } from "../attach/output.js";
import { HeapAnalyzerError, invalidArgument } from "../errors.js";
import { textPath } from "../paths.js";
import {
  Asking,
  type OutsideDescription,
  type OutsideDump,
  type OutsideMemory,
  type OutsidePatience,
  type OutsideTarget,
} from "./ask.js";

/** How to read from outside. */
export interface OutsideReading {
  patience: OutsidePatience;
  /** The module of the memories, if the process does not have it. */
  wasm: string | undefined;
  /** How many moments to try. */
  tries: number;
}

/** Attaches to a target from outside. */
export async function attachOutside(
  target: OutsideTarget,
  reading: OutsideReading,
): Promise<Attached> {
  const wasm = reading.wasm === undefined ? undefined : readFileSync(reading.wasm);
  const description = await new Asking(reading.patience).describe(target, wasm);
  const since = description.since ?? undefined;
  const same = target.kind === "process" ? { ...target, since } : target;
  return new OutsideAttached(same, description, wasm, reading);
}

class OutsideAttached implements Attached {
  readonly instances: Attached["instances"];
  readonly #target: OutsideTarget;
  readonly #memories: readonly OutsideMemory[];
  readonly #wasm: Uint8Array | undefined;
  readonly #reading: OutsideReading;
  #stopped = 0;
  #last: OutsideDump | undefined;

  constructor(
    target: OutsideTarget,
    { program, memories }: OutsideDescription,
    wasm: Uint8Array | undefined,
    reading: OutsideReading,
  ) {
    this.#target = target;
    this.#memories = memories;
    this.#wasm = wasm;
    this.#reading = reading;
    this.instances = memories.map(({ address, size, usedSize, module }) => ({
      thread: program ?? "core file",
      realm: `at ${address.toString(16)}`,
      module: module ?? "unknown module",
      memorySize: size,
      usedSize,
    }));
  }

  get stopped(): number {
    return this.#stopped;
  }

  get howTaken(): string | undefined {
    if (this.#last === undefined) return undefined;
    const { pause, engine, tries } = this.#last;
    const still = pause === null ? "read from a core file" : stillness(pause, tries);
    return `${still}; the globals were found beside the memory's address, in the order of ${engine}, and fit the module`;
  }

  async writeDump(
    path: string | URL,
    {
      instance: nth,
      wasmOutput,
      hostOutput,
      framesOutput,
      numbersOutput,
    }: AttachedDumpOptions = {},
  ): Promise<string[]> {
    const file = textPath("path", path);
    const wasmFile = wasmOutput === undefined ? undefined : textPath("wasmOutput", wasmOutput);
    if ([hostOutput, framesOutput, numbersOutput].some((output) => output !== undefined)) {
      throw new HeapAnalyzerError(
        "ERR_INVALID_OPTION",
        "the heap of the host, its numbers and its frames need the inspector of the process",
      );
    }
    const { address } = this.#chosen(nth);
    const asking = new Asking(this.#reading.patience);
    const wasm = this.#wasm ?? (await asking.module(this.#target, address));
    const { tries } = this.#reading;
    const unpublished = await written(file, "the dump", async (descriptor) => {
      const place = { address, tries, descriptor };
      this.#last = await asking.dump(this.#target, place, wasm);
      this.#stopped += this.#last.pause ?? 0;
    });
    unpublished.publish();
    if (wasmFile !== undefined) await writeWhole(wasmFile, "the module", Buffer.from(wasm));
    return [];
  }

  async module(nth: number): Promise<Uint8Array<ArrayBuffer>> {
    const { address } = this.#chosen(nth);
    const asking = new Asking(this.#reading.patience);
    return Uint8Array.from(this.#wasm ?? (await asking.module(this.#target, address)));
  }

  /** Nothing is open. */
  async close(): Promise<void> {}

  #chosen(nth: number | undefined): OutsideMemory {
    const all = this.#memories;
    if (nth === undefined && all.length > 1) {
      throw new HeapAnalyzerError(
        "ERR_INSTANCE_AMBIGUOUS",
        `the target has ${all.length} WebAssembly memories: choose one by its number, 0 to ${all.length - 1}`,
      );
    }
    const memory = all[nth ?? 0];
    if (memory === undefined) {
      throw invalidArgument("instance", `a number below ${all.length}`, nth);
    }
    return memory;
  }
}

function stillness(pause: number, tries: number): string {
  const moments = tries === 1 ? "" : ` in the last of ${tries} moments`;
  return `read from outside: all threads stood still for ${pause.toFixed(1)} ms${moments}`;
}
