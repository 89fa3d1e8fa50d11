// Locals and operands of paused WebAssembly frames. They explain why an object may be in use; they are no roots of
// the collector.

import { at, count, list, text, type UncheckedAnswer } from "./answer.js";
import type { Session } from "./connection.js";
import { call, type RemoteInstance } from "./instances.js";
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
  return nth < MAX_TRIES && frames.some((frame) => RUNTIME.test(String(at(frame, "functionName"))));
}

/** Reads the frames of a pause, the innermost first. */
export async function readFrames(
  { thread: { session }, scriptId }: RemoteInstance,
  { frames }: Pause,
): Promise<PausedFrame[]> {
  const found: PausedFrame[] = [];
  for (const frame of frames.slice(0, MAX_FRAMES)) {
    const what = "Debugger.paused";
    const scopes = list(frame, "scopeChain", what, 100);
    const objectOf = (type: string) => {
      const scope = scopes.find((one) => at(one, "type") === type);
      return scope === undefined ? undefined : text(scope, "object.objectId", what);
    };
    const [locals, operands] = [objectOf("local"), objectOf("wasm-expression-stack")];
    found.push({
      function: text(frame, "functionName", what).slice(0, MAX_TEXT),
      offset: count(frame, "location.columnNumber", what, 2 ** 32),
      isOfModule: at(frame, "location.scriptId") === scriptId,
      ...(locals === undefined ? {} : { locals: await valuesOf(session, locals) }),
      ...(operands === undefined
        ? {}
        : { operands: await valuesOf(session, await operandStack(session, operands)) }),
    });
  }
  return found;
}

/** The scope of the operands has one property, which has them. */
async function operandStack(session: Session, scope: string): Promise<string> {
  const answer = await session.call("Runtime.getProperties", {
    objectId: scope,
    ownProperties: true,
  });
  const [stack] = list(answer, "result", "Runtime.getProperties", 100);
  return text(stack, "value.objectId", "the operand stack");
}

async function valuesOf(session: Session, objectId: string): Promise<FrameValue[]> {
  const answer = await call(session, objectId, SCOPE_VALUES, [{ value: MAX_VALUES }], true);
  return list({ values: answer }, "values", "the values of a frame", MAX_VALUES).map(
    (entry: UncheckedAnswer) => {
      const part = (nth: number) =>
        text(entry, `${nth}`, "the values of a frame").slice(0, MAX_TEXT);
      return { name: part(0), type: part(1), value: part(2) };
    },
  );
}
