// Whether functions of a program were running when a dump was taken.

/** How hosts write a function of WebAssembly in the text of a stack. */
const FRAME = /wasm-function\[/;

/**
 * Whether no function of a program runs in this thread. False also if that is not known: where WebAssembly can be
 * suspended, its functions may wait on a stack of their own.
 */
export function isAtRest(): boolean {
  const { WebAssembly } = globalThis as { WebAssembly?: object };
  if (WebAssembly === undefined || "Suspending" in WebAssembly) return false;
  const { stackTraceLimit, prepareStackTrace } = Error;
  try {
    change({ stackTraceLimit: Number.POSITIVE_INFINITY, prepareStackTrace: undefined });
    const { stack } = new Error();
    return typeof stack === "string" && !FRAME.test(stack);
  } catch {
    // `Error` is frozen, so its stack may be cut.
    return false;
  } finally {
    try {
      change({ stackTraceLimit, prepareStackTrace });
    } catch {
      // It was not changed.
    }
  }
}

function change(properties: { stackTraceLimit: number; prepareStackTrace: unknown }): void {
  Object.assign(Error, properties);
}
