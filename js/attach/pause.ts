// Pauses a thread of the target, so that all that is read of it is of one moment.

import { HeapAnalyzerError } from "../errors.js";
import type { Session } from "../inspector/calls.js";
import type { Happened, InspectorFrame } from "../inspector/protocol.js";
import { call, objectOf, releaseObjects, SHORT_LIVED, withDebugger } from "./instances.js";
import { PAUSE_AT_REST, PAUSE_NO_MORE } from "./remote_code.js";
import type { Thread } from "./threads.js";

/** How long the target may take to come to rest, in milliseconds. */
export const TIME_TO_REST = 5000;
/** The most scripts whose kind is remembered. */
const MAX_SCRIPTS = 200_000;
/** How long a program runs with its debugger enabled before a pause in its work: new calls are compiled for it. */
const TIME_TO_COMPILE = 200;

/** A thread that is paused. */
export interface Pause {
  /** The WebAssembly frames of its stack, the innermost first. */
  frames: InspectorFrame[];
  /** What each script is, by its id. */
  scripts: ReadonlyMap<string, ScriptKind>;
}

type Paused = Happened<"Debugger.paused">;

/** A script of WebAssembly, of Node itself, or of the program. */
type ScriptKind = "wasm" | "node" | "program";

/** When to pause: between two turns of the event loop, if the thread rests within 5 s; or in the middle of its work. */
export type Moment = "at rest" | "at work";

/**
 * Pauses a thread, works, and lets it go on, also after a failure.
 *
 * @param isUnsuitable whether to let the thread go on and pause it again; asked a bounded number of times.
 * @returns what `work` returns, and the milliseconds for which the thread stood still.
 */
export async function whilePaused<T>(
  thread: Thread,
  moment: Moment,
  isUnsuitable: (pause: Pause, nth: number) => boolean,
  work: (pause: Pause) => Promise<T>,
): Promise<{ result: T; stopped: number }> {
  const { session } = thread;
  const scripts = new Map<string, ScriptKind>();
  const forget = session.on("Debugger.scriptParsed", ({ scriptId, url, scriptLanguage }) => {
    if (scripts.size >= MAX_SCRIPTS) return;
    const kind = url.startsWith("node:") ? "node" : "program";
    scripts.set(scriptId, scriptLanguage === "WebAssembly" ? "wasm" : kind);
  });
  try {
    return await withDebugger(session, async () => {
      if (moment === "at work") await delay(TIME_TO_COMPILE);
      for (let nth = 0; ; nth++) {
        const event = await pauseOnce(thread, moment);
        const start = performance.now();
        try {
          session.isTimed = true;
          const frames = event.callFrames.filter(
            ({ location }) => scripts.get(location.scriptId) === "wasm",
          );
          if (!isUnsuitable({ frames, scripts }, nth)) {
            const result = await work({ frames, scripts });
            return { result, stopped: performance.now() - start };
          }
        } finally {
          session.isTimed = false;
          // A thread whose session failed goes on when the connection ends.
          await session.call("Debugger.resume").catch(() => session.abandon());
        }
        await delay(1 + 3 * nth);
      }
    });
  } finally {
    forget();
    await releaseObjects(thread);
  }
}

async function pauseOnce(thread: Thread, moment: Moment): Promise<Paused> {
  const { session } = thread;
  const paused = nextPause(session);
  try {
    if (moment === "at rest") {
      const event = await pauseAtRest(thread, paused.event);
      if (event !== undefined) return event;
    }
    await session.call("Debugger.pause");
    // A program that waits pauses only when some code runs. The answer comes after the pause.
    session.call("Runtime.evaluate", { expression: "0" }, "is nothing").catch(() => {});
    return await paused.event;
  } finally {
    paused.forget();
  }
}

/** The event of a pause between two turns; undefined if the thread does not rest in time, or has no timers. */
async function pauseAtRest(
  { session, realms }: Thread,
  event: Promise<Paused>,
): Promise<Paused | undefined> {
  const evaluate = async (expression: string) => {
    const parameters = { expression, contextId: realms[0]?.id, objectGroup: SHORT_LIVED };
    return (await session.call("Runtime.evaluate", parameters)).result.objectId;
  };
  const state = objectOf(await evaluate("({ taken: false })"), "the target");
  const schedule = await evaluate("globalThis.setTimeout");
  if (schedule === undefined) return undefined;
  await call(session, state, PAUSE_AT_REST, [{ objectId: schedule }]);
  const inTime = await Promise.race([event, delay(TIME_TO_REST)]);
  if (inTime !== undefined) return inTime;
  await call(session, state, PAUSE_NO_MORE, []);
  return undefined;
}

/** The next pause. It fails if the thread does not pause within the time limit of the connection. */
function nextPause(session: Session): { event: Promise<Paused>; forget(): void } {
  let forget = () => {};
  const event = new Promise<Paused>((resolve, reject) => {
    const stop = session.on("Debugger.paused", resolve);
    const timer = setTimeout(() => {
      reject(
        new HeapAnalyzerError(
          "ERR_ATTACH_TIMEOUT",
          `the target did not pause within ${(TIME_TO_REST + session.silence) / 1000} s`,
        ),
      );
    }, TIME_TO_REST + session.silence);
    forget = () => {
      stop();
      clearTimeout(timer);
    };
  });
  // It may fail while another call waits.
  event.catch(() => {});
  return { event, forget };
}

/** Does not keep this process from ending: the connection does, as long as it is needed. */
const delay = (time: number) =>
  new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), time).unref());
