/** The requests of a client that wait, on every transport. */
import { MOST_WAITING } from "../../../js/served/limits.ts";

/** What names a request. */
export type RequestId = string | number;

interface WaitingEntry {
  /** Whether an answer is still to come. */
  isAwaited: boolean;
  isCancelled: boolean;
  /** Whether its question is being asked. */
  isWorking: boolean;
}

/** Counts requests: until they are answered, and until their work has ended. */
export class Waiting {
  readonly #entries = new Map<RequestId, WaitingEntry>();

  /** Takes a request, or says why not. */
  enter(id: RequestId): "taken" | "in use" | "too many" {
    if (this.#entries.has(id)) return "in use";
    if (this.#entries.size >= MOST_WAITING) return "too many";
    this.#entries.set(id, { isAwaited: true, isCancelled: false, isWorking: false });
    return "taken";
  }

  /** Notes that a request was answered. */
  answered(id: RequestId): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    entry.isAwaited = false;
    this.#leave(id, entry);
  }

  /**
   * Notes that a request was cancelled; false if it does not wait, or was cancelled before. Unless `isAnswered`, no answer
   * follows, and only its work is waited for.
   */
  cancelled(id: RequestId, isAnswered: boolean): boolean {
    const entry = this.#entries.get(id);
    if (entry === undefined || entry.isCancelled) return false;
    entry.isCancelled = true;
    if (!isAnswered) {
      // Its work may begin right after this, because the SDK starts a question in a later microtask.
      setImmediate(() => {
        entry.isAwaited = false;
        this.#leave(id, entry);
      });
    }
    return true;
  }

  /** Does the work of a request, which waits at least until the work has ended. */
  async during<T>(id: RequestId, work: () => Promise<T>): Promise<T> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return await work();
    entry.isWorking = true;
    try {
      return await work();
    } finally {
      entry.isWorking = false;
      this.#leave(id, entry);
    }
  }

  #leave(id: RequestId, entry: WaitingEntry): void {
    if (entry.isAwaited || entry.isWorking || this.#entries.get(id) !== entry) return;
    this.#entries.delete(id);
  }
}
