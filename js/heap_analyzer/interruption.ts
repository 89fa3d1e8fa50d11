/** Cleans up before a signal ends the process. */
import { constants } from "node:os";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Does some work. If a signal ends the process during the work, `cleanUp` is called first.
 *
 * The work must not block the event loop, because signal handlers run there: with a synchronous write to
 * a stdout with a slow reader, for example, Ctrl-C would have no effect.
 */
export async function interruptibly<T>(cleanUp: () => void, work: () => Promise<T>): Promise<T> {
  const end = (signal: NodeJS.Signals) => {
    // From now on a signal ends the process at once.
    stopListening();
    try {
      cleanUp();
    } finally {
      process.kill(process.pid, signal);
      // Only the first process of a container reaches this line: signals do not end it.
      process.exit(128 + constants.signals[signal]);
    }
  };
  const stopListening = () => {
    for (const signal of SIGNALS) process.removeListener(signal, end);
  };
  for (const signal of SIGNALS) process.on(signal, end);
  try {
    return await work();
  } finally {
    stopListening();
  }
}
