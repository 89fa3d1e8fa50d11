/** Native work off the event loop: aborted by a signal, with reports of its progress. */
import { types } from "node:util";
import type * as api from "../index.js";
import { watched } from "./arguments.js";
import * as native from "./native.js";

/** Milliseconds between two reports of progress. */
const REPORT_INTERVAL = 50;

/** Runs native work that stops when the signal says so, and tells how far it is. */
export async function controlled<T>(
  options: api.AsyncOptions | undefined,
  start: (control: native.WorkControl) => Promise<T>,
): Promise<T> {
  const { signal, onProgress } = watched(options);
  const abortError = () =>
    Object.assign(new Error("The operation was aborted", { cause: signal?.reason }), {
      name: "AbortError",
      code: "ABORT_ERR",
    });
  const control = new native.WorkControl();
  const cancel = () => control.cancel();
  let failure: { error: unknown } | undefined;
  let isOver = false;
  const fail = (error: unknown) => {
    // Nobody waits any more: let it be unhandled.
    if (isOver) throw error;
    // The caller's own error is what the promise ends in.
    failure ??= { error };
    control.cancel();
  };
  const report = (known?: Partial<api.Progress>) => {
    try {
      const progress = { ...(control.progress() as api.Progress), ...known };
      const returned: unknown = onProgress?.(progress);
      if (types.isPromise(returned)) returned.then(undefined, fail);
    } catch (error) {
      fail(error);
    }
  };
  signal?.addEventListener("abort", cancel, { once: true });
  let timer: NodeJS.Timeout | undefined;
  try {
    if (signal?.aborted) throw abortError();
    const work = start(control);
    timer = onProgress && setInterval(() => report(), REPORT_INTERVAL);
    const result = await work;
    report({ fraction: 1 });
    // While the result was on its way, or in this last report.
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
