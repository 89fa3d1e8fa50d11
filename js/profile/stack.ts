/** Stacks of calls, as the engine sees them. */

/**
 * A frame: an offset in the instrumented module, or the name and place of a function of the host. A negative
 * number is a return address on the stack of a Go program.
 */
export type StackFrame = number | string;

export interface EngineFrame extends NodeJS.CallSite {
  getPosition(): number;
}

const unchanged = (_: Error, frames: NodeJS.CallSite[]) => frames;

/**
 * The stacks that errors captured, the innermost first. The engine makes frames when a stack is read for the
 * first time.
 */
export function framesOf(errors: readonly Error[]): EngineFrame[][] {
  const { prepareStackTrace } = Error;
  try {
    Error.prepareStackTrace = unchanged;
    return errors.map(({ stack }) => (stack ?? []) as EngineFrame[]);
  } finally {
    Error.prepareStackTrace = prepareStackTrace;
  }
}

/** Where the code of a frame is: `wasm://wasm/…` for a module. */
export function scriptOf(frame: EngineFrame | undefined): string {
  return frame?.getFileName() ?? "";
}

/** A frame of the host by its name, file and line. */
export function hostFrame(frame: EngineFrame): string {
  const name = frame.getFunctionName() ?? "(anonymous)";
  return `${name}\n${scriptOf(frame)}\n${frame.getLineNumber() ?? 0}`;
}
