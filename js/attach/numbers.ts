// The numbers of a paused thread that its heap snapshot does not show, in a file beside it.

import type { UncheckedAnswer } from "../inspector/answer.js";
import type { Session } from "../inspector/calls.js";
import type { Conversation } from "../numbers/conversation.js";
import { identifyDump, writeNumbers } from "../numbers/file.js";
import { readNumbers } from "../numbers/read.js";
import type { Captured } from "./capture.js";
import { type Unpublished, written } from "./output.js";
import type { Pause } from "./pause.js";
import type { Thread } from "./threads.js";

/** Where to write the numbers. */
export interface NumbersOutput {
  path: string;
  /** Also read the variables of functions. */
  closures: boolean;
}

/**
 * Reads the numbers of a thread of which a heap snapshot was taken in this pause, and writes them.
 *
 * @param dump the descriptor of the dump.
 */
export async function writeHostNumbers(
  { session, realms }: Thread,
  pause: Pause,
  { heapBase, memorySize }: Captured,
  dump: number,
  { path, closures }: NumbersOutput,
): Promise<Unpublished> {
  const isOfProgram = (script: string) => pause.scripts.get(script) === "program";
  const conversation = readNumbers(
    realms.map(({ id }) => id),
    { lo: heapBase, hi: memorySize },
    { isOfProgram: closures ? isOfProgram : undefined },
  );
  const numbers = await hold(session, conversation);
  return await written(path, "the numbers", (file) =>
    writeNumbers(file, identifyDump(dump), numbers),
  );
}

/**
 * Asks everything that a conversation asks, one call at a time: several calls that wait while Node is paused can end the
 * process (Node 24.21, in 7 of 120 runs on a busy machine), because its threads share their queue without care.
 */
async function hold<T>(session: Session, conversation: Conversation<T>): Promise<T> {
  for (let step = conversation.next(); ; ) {
    if (step.done === true) return step.value;
    const answers: UncheckedAnswer[] = [];
    for (const { method, parameters } of step.value) {
      answers.push(await session.call(method, parameters));
    }
    step = conversation.next(answers);
  }
}
