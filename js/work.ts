/** Runs native work asynchronously: a signal can abort it, and it reports its progress. */
import { types } from "node:util";
import type * as api from "../index.js";
import { HeapAnalyzerError } from "./errors.js";
import * as native from "./native.js";
import { awaitNative } from "./native_errors.js";
import { watchOptions } from "./options.js";

/** Milliseconds between two reports of progress. */
const REPORT_INTERVAL = 50;

/** Runs native work, which stops when the signal is aborted and reports its progress. */
export async function controlled<T>(
  options: api.AsyncOptions | null | undefined,
  start: (control: native.WorkControl) => Promise<T>,
  onClasses?: (classes: api.ClassCount[]) => unknown,
): Promise<T> {
  const { signal, onProgress } = watchOptions(options);
  const abortError = () =>
    Object.assign(
      new HeapAnalyzerError("ABORT_ERR", "The operation was aborted", { cause: signal?.reason }),
      { name: "AbortError" },
    );
  const control = new native.WorkControl();
  const cancel = () => control.cancel();
  let failure: { error: unknown } | undefined;
  let isOver = false;
  /** The first error of the listener ends the work, and the promise rejects with it. */
  const fail = (error: unknown) => {
    if (isOver) {
      // The promise is settled. An unhandled rejection would end the process.
      process.emitWarning(`onProgress failed after the analysis was done: ${error}`);
      return;
    }
    failure ??= { error };
    control.cancel();
  };
  const report = (known?: Partial<api.Progress>) => {
    try {
      const progress = { ...(control.progress() as api.Progress), ...known };
      const classes = onClasses && control.takeClasses();
      for (const returned of [classes && onClasses(classes), onProgress?.(progress)]) {
        if (types.isPromise(returned)) returned.then(undefined, fail);
      }
    } catch (error) {
      fail(error);
    }
  };
  signal?.addEventListener("abort", cancel, { once: true });
  let timer: NodeJS.Timeout | undefined;
  try {
    if (signal?.aborted) throw abortError();
    if (onClasses) control.requestClasses();
    const work = awaitNative(() => start(control));
    if (onProgress || onClasses) timer = setInterval(() => report(), REPORT_INTERVAL);
    const result = await work;
    report({ fraction: 1 });
    // If the listener returned a promise that is already rejected, its handler runs during this await.
    await undefined;
    // The signal may have been aborted after the work was done, or by the last report.
    if (signal?.aborted) throw abortError();
    if (failure !== undefined) throw failure.error;
    return result;
  } catch (error) {
    if (failure !== undefined) throw failure.error;
    throw (error as { code?: unknown }).code === "ABORT_ERR" ? abortError() : error;
  } finally {
    isOver = true;
    clearInterval(timer);
    signal?.removeEventListener("abort", cancel);
  }
}
