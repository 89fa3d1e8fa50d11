/** The heaps that are being opened, and what waits for them. */
import type { ClassCount } from "@warpo/heap-analyzer";
import type { Control } from "./control.mts";

/**
 * Openings at the same time. The analyzer works on few of them, in the order of their arrival; those whose reads hang are
 * not among these, so that they leave others to go on.
 */
export const MOST_OPENINGS = 16;

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
export class ChangeEvents {
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
