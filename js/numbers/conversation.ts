// Calls of an inspector that do not say how they travel. The same code asks the own process, which answers at once,
// and another one over a connection.

import { answerError, at, type UncheckedAnswer } from "../inspector/answer.js";

import type { InspectorMethod } from "../inspector/protocol.js";
import { shown } from "../text.js";

/** A call of a method of the inspector. */
export interface InspectorCall {
  method: InspectorMethod;
  parameters: object;
}

/** Yields calls that do not depend on each other, gets their answers in the same order, and returns a result. */
export type Conversation<T> = Generator<InspectorCall[], T, UncheckedAnswer[]>;

/** Objects of the target that live as long as a conversation. */
export const CONVERSATION_GROUP = "warpo-heap-analyzer:numbers";

/** One call. */
export function* ask(method: InspectorMethod, parameters: object): Conversation<UncheckedAnswer> {
  const [answer] = yield [{ method, parameters }];
  return answer;
}

/** Calls a constant function on an object of the target. The result is a description of an object, or a value. */
export function* callOn(
  objectId: string,
  functionDeclaration: string,
  values: readonly unknown[],
  returnByValue = false,
): Conversation<UncheckedAnswer> {
  const answer = yield* ask("Runtime.callFunctionOn", {
    objectId,
    functionDeclaration,
    arguments: values.map((value) => ({ value })),
    returnByValue,
    objectGroup: CONVERSATION_GROUP,
  });
  const exception = at(answer, "exceptionDetails");
  if (exception !== undefined) {
    const reason = at(exception, "exception.description") ?? at(exception, "text");
    throw answerError("the target", `failed while its numbers were read: ${shown(reason)}`);
  }
  return returnByValue ? at(answer, "result.value") : at(answer, "result");
}
