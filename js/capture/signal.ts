// Writes dumps of all instances when the process receives a signal.

import { constants } from "node:os";
import { BroadcastChannel, isMainThread } from "node:worker_threads";
import { HeapAnalyzerError } from "../errors.js";
import { report, writeAllDumps } from "./dump_files.js";
import { quote } from "./quote.js";

/** Only the main thread receives signals. It sends them to the other threads through this channel. */
const CHANNEL = "@warpo/heap-analyzer:signal";

/** Signals that no process can handle. */
const UNHANDLED = new Set(["SIGKILL", "SIGSTOP"]);

/**
 * Writes dumps of all instances in all threads at each `signal`. A thread that is busy writes its
 * dumps when it returns to its event loop.
 *
 * @throws {HeapAnalyzerError} `ERR_DUMP_SIGNAL`.
 */
export function dumpAtSignal(signal: string): void {
  const signals = Object.keys(constants.signals).filter((name) => !UNHANDLED.has(name));
  if (!signals.includes(signal)) {
    throw new HeapAnalyzerError(
      "ERR_DUMP_SIGNAL",
      `HEAP_DUMP_SIGNAL is ${quote(signal)}: expected the name of a signal that a process can handle ` +
        `on this system, such as ${signals.includes("SIGUSR2") ? "SIGUSR2" : "SIGBREAK"}`,
    );
  }
  const channel = new BroadcastChannel(CHANNEL);
  channel.unref();
  if (!isMainThread) {
    channel.onmessage = () => writeAllDumps();
    return;
  }
  process.on(signal as NodeJS.Signals, () => {
    if (writeAllDumps() === 0) report("heap dump: the main thread has no exposed instance");
    channel.postMessage(undefined);
  });
}
