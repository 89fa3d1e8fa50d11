/** What is put in order before a signal ends the process. */
import { constants } from "node:os";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Does work during which a signal that ends the process first has something put in order.
 *
 * Handlers run only when the event loop does, so the work must not block it: while a slow reader holds
 * up a write to stdout, for example, Ctrl-C would do nothing.
 */
export async function interruptibly<T>(putInOrder: () => void, work: () => Promise<T>): Promise<T> {
  const end = (signal: NodeJS.Signals) => {
    // From now on a signal ends the process at once.
    stopListening();
    try {
      putInOrder();
    } finally {
      process.kill(process.pid, signal);
      // Reached only by the first process of a container, which signals do not end.
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
