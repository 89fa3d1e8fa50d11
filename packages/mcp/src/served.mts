/** What every transport serves. */
import type { Asker } from "./ask.mts";
import { Handles } from "./handles.mts";
import type { Heaps } from "./heaps.mts";
import type { Question, QuestionContext } from "./question.mts";

export interface Served {
  asked: Question[];
  asker: Asker;
  heaps: Heaps;
  context: Omit<QuestionContext, "control" | "heaps">;
}

/** What a client gets its answers from: it has handles of its own. */
export function contextOf({ context, heaps }: Served): Omit<QuestionContext, "control"> {
  return { ...context, heaps: new Handles(heaps) };
}
