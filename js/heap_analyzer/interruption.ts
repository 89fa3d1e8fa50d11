/** Cleans up before a signal ends the process. */
import { constants } from "node:os";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** How long cleaning up may take, in milliseconds. */
const MOST_TIME = 2000;

type CleanUp = () => void | Promise<void>;

/** What is to be done before a signal ends the process, for all work that is under way; the innermost last. */
const cleanUps: CleanUp[] = [];
let isEnding = false;

/**
 * Does some work. If a signal ends the process during the work, `cleanUp` is called first, and before it those of the
 * work within this work. If one of them returns a promise, the process waits for it, but not for long.
 *
 * The work must not block the event loop, because signal handlers run there: with a synchronous write to
 * a stdout with a slow reader, for example, Ctrl-C would have no effect.
 */
export async function interruptibly<T>(cleanUp: CleanUp, work: () => Promise<T>): Promise<T> {
  if (cleanUps.length === 0) for (const signal of SIGNALS) process.on(signal, end);
  // The same function may clean up twice.
  const own = () => cleanUp();
  cleanUps.push(own);
  try {
    return await work();
  } finally {
    // What was cleaned up fails the work, and that says nothing: only the signal ends the process.
    if (isEnding) await new Promise(() => {});
    const place = cleanUps.indexOf(own);
    if (place >= 0) cleanUps.splice(place, 1);
    if (cleanUps.length === 0) stopListening();
  }
}

/** Ends the process by a signal, as if there were no handlers. */
function end(signal: NodeJS.Signals): void {
  // From now on a signal ends the process at once.
  stopListening();
  isEnding = true;
  const waiting: Promise<void>[] = [];
  try {
    while (cleanUps.length > 0) {
      const cleaned = cleanUps.pop()?.();
      if (cleaned !== undefined) waiting.push(cleaned);
    }
  } finally {
    const kill = () => {
      process.kill(process.pid, signal);
      // Only the first process of a container reaches this line: signals do not end it.
      process.exit(128 + constants.signals[signal]);
    };
    if (waiting.length === 0) kill();
    setTimeout(kill, MOST_TIME);
    void Promise.allSettled(waiting).then(kill);
  }
}

function stopListening(): void {
  for (const signal of SIGNALS) process.removeListener(signal, end);
}
