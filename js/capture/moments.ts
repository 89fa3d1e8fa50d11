// Dumps at moments that a program cannot choose in advance: at a trap, and when its memory is large.

import { HeapAnalyzerError } from "../errors.js";
import { report, writeAllDumps } from "./dump_files.js";
import { quote } from "./quote.js";
import { liveInstances } from "./registry.js";
import { MEMORY } from "./reserved_names.js";

const MIB = 1024 * 1024;

/** How often the size of the memories is read. Reading it takes no measurable time. */
const PERIOD_MS = 1000;

/**
 * Whether an error ended a call of the program: a trap, such as `unreachable` after `memory.grow` failed, or an
 * exception of an import that the program called, such as `abort`.
 */
export function isFromProgram(error: unknown): boolean {
  const { name, stack } = Object(error) as { name?: unknown; stack?: unknown };
  // Not `instanceof`, because test runners have instances of another realm.
  return name === "RuntimeError" || (typeof stack === "string" && stack.includes("wasm://"));
}

/** Writes dumps of all instances of this thread when an error of the program ends the process. */
export function dumpAtTrap(): void {
  process.on("uncaughtExceptionMonitor", (error) => {
    if (isFromProgram(error)) writeAllDumps(liveInstances(), "after a trap");
  });
}

/**
 * Writes one dump of each instance of this thread whose memory is larger than a limit. The size is read each second
 * between two turns of the event loop, and once more at the end of the process.
 *
 * @param limit a number of MiB, as `HEAP_DUMP_ABOVE_MIB` has it.
 * @throws {HeapAnalyzerError} `ERR_INVALID_OPTION`.
 */
export function dumpAboveMemory(limit: string): void {
  const most = Number(limit) * MIB;
  if (!/^\d+(\.\d+)?$/.test(limit) || most === 0) {
    throw new HeapAnalyzerError(
      "ERR_INVALID_OPTION",
      `HEAP_DUMP_ABOVE_MIB is ${quote(limit)}: expected a number of MiB above 0, such as 512`,
    );
  }
  const written = new WeakSet<object>();
  const check = () => {
    const large = liveInstances().filter((instance) => {
      const { buffer } = instance[MEMORY] as { buffer: ArrayBufferLike };
      return buffer.byteLength > most && !written.has(instance);
    });
    if (large.length === 0) return;
    for (const instance of large) written.add(instance);
    report(`heap dump: a memory is larger than ${limit} MiB`);
    writeAllDumps(large);
  };
  setInterval(check, PERIOD_MS).unref();
  process.on("exit", check);
}
