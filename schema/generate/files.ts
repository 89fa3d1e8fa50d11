/** All files that are generated from the schemas, by their paths. */
import { facts } from "./facts.ts";
import { answers, options } from "./types.ts";

export const FILES: Record<string, () => string> = {
  "answers.d.ts": answers,
  "js/generated/options.ts": facts,
  "options.d.ts": options,
};
