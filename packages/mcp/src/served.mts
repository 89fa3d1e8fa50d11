/** What every transport serves. */
import type { Asker } from "./ask.mts";
import type { Context, Question } from "./question.mts";

export interface Served {
  asked: Question[];
  asker: Asker;
  context: Omit<Context, "control">;
}
