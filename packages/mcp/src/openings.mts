/** The heaps that are being opened, and what waits for them. */
import { availableParallelism } from "node:os";
import type { ClassCount } from "@warpo/heap-analyzer";
import type { Control } from "./control.mts";

/**
 * Openings at the same time: as many as the analyzer has threads for analyses, and two at least, so that one that hangs
 * leaves another one to go on.
 */
export const MOST_OPENINGS = Math.min(4, Math.max(2, availableParallelism()));

/** One opening, for all requests that want its heap. It stops when none of them is left. */
export class Opening<T> {
  readonly #stop = new AbortController();
  readonly #requests = new Set<Control>();
  readonly #onLeft: () => void;
  #classes: { dump: string; classes: ClassCount[] } | undefined;
  #result: Promise<T> | undefined;

  /** `onLeft` is called when the last request has left. */
  constructor(onLeft: () => void) {
    this.#onLeft = onLeft;
  }

  /** What the opening is watched and stopped with: all of its requests. */
  readonly control: Required<Control> = {
    signal: this.#stop.signal,
    progress: (fraction, phase) => {
      for (const request of this.#requests) request.progress(fraction, phase);
    },
    classes: (dump, classes) => {
      this.#classes = { dump, classes };
      for (const request of this.#requests) request.classes?.(dump, classes);
    },
  };

  begin(work: Promise<T>): void {
    // Requests that left do not ask how it ended.
    work.catch(() => {});
    this.#result = work;
  }

  /** Waits for the heap, as long as the request is not cancelled. */
  async join(request: Control): Promise<T> {
    this.#requests.add(request);
    const { dump, classes } = this.#classes ?? {};
    if (dump !== undefined && classes !== undefined) request.classes?.(dump, classes);
    try {
      return await unlessAborted(this.#result as Promise<T>, request.signal);
    } finally {
      this.#requests.delete(request);
      if (this.#requests.size === 0) {
        this.#onLeft();
        this.#stop.abort();
      }
    }
  }
}

/** Events for which requests wait. */
export class Changes {
  #waiting: (() => void)[] = [];

  /** Lets all that wait look again. */
  notify(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** The next change. Fails when the signal is aborted. */
  async next(signal: AbortSignal): Promise<void> {
    await unlessAborted(new Promise<void>((resolve) => this.#waiting.push(resolve)), signal);
  }
}

/** A promise, or the reason of an abort that comes first. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    if (onAbort !== undefined) signal.removeEventListener("abort", onAbort);
  }
}
