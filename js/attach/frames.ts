// Locals and operands of paused WebAssembly frames. They explain why an object may be in use; they are no roots of
// the collector.

import { answerError } from "../inspector/answer.js";
import type { Session } from "../inspector/calls.js";
import { beginning, listOf } from "../inspector/shape.js";
import { objectOf, type RemoteInstance, readValue } from "./instances.js";
import type { Pause } from "./pause.js";
import type { FrameValue, PausedFrame } from "./paused_frame.js";
import { SCOPE_VALUES } from "./remote_code.js";

/** The most frames whose values are read; of a recursion without end, the innermost say enough. */
const MAX_FRAMES = 200;
const MAX_VALUES = 50_000;
const MAX_TEXT = 1000;
/** How often a pause inside the allocator or the collector is tried again. */
const MAX_TRIES = 20;
const RUNTIME = /~lib\/rt\/(itcms|tlsf)\b/;

/** Whether the thread was paused in the allocator or the collector, and may be elsewhere at another try. */
export function isInRuntime({ frames }: Pause, nth: number): boolean {
  return nth < MAX_TRIES && frames.some(({ functionName }) => RUNTIME.test(functionName));
}

/** Reads the frames of a pause, the innermost first. */
export async function readFrames(
  { thread: { session }, scriptId }: RemoteInstance,
  { frames }: Pause,
): Promise<PausedFrame[]> {
  const found: PausedFrame[] = [];
  for (const { functionName, location, scopeChain } of frames.slice(0, MAX_FRAMES)) {
    const scopeOf = (type: string) => scopeChain.find((scope) => scope.type === type)?.object;
    const [locals, operands] = [scopeOf("local"), scopeOf("wasm-expression-stack")];
    const { columnNumber } = location;
    if (columnNumber === undefined) throw answerError("Debugger.paused", "has no position");
    found.push({
      function: functionName,
      offset: columnNumber,
      isOfModule: location.scriptId === scriptId,
      ...(locals === undefined
        ? {}
        : { locals: await valuesOf(session, objectOf(locals.objectId, "the locals")) }),
      ...(operands === undefined
        ? {}
        : { operands: await valuesOf(session, await operandStack(session, operands.objectId)) }),
    });
  }
  return found;
}

/** The scope of the operands has one property, which has them. */
async function operandStack(session: Session, scope: string | undefined): Promise<string> {
  const { result } = await session.call("Runtime.getProperties", {
    objectId: objectOf(scope, "the operand stack"),
    ownProperties: true,
  });
  return objectOf(result?.[0]?.value?.objectId, "the operand stack");
}

/** Name, type and value of each. */
const VALUES = listOf(listOf(beginning(MAX_TEXT), 3), MAX_VALUES);

async function valuesOf(session: Session, objectId: string): Promise<FrameValue[]> {
  const what = "the values of a frame";
  const values = await readValue(
    session,
    objectId,
    SCOPE_VALUES,
    [{ value: MAX_VALUES }],
    what,
    VALUES,
  );
  return values.map(([name, type, value]) => {
    if (name === undefined || type === undefined || value === undefined) {
      throw answerError(what, "answered fewer than three texts for a value");
    }
    return { name, type, value };
  });
}
