/** Asks a question and puts its answer together. Repeated questions are answered from memory. */

import { QuestionError } from "../../../js/served/errors.ts";
import { KEPT_CHARACTERS } from "../../../js/served/limits.ts";
import { answer, type SentAnswer, unmarked } from "./answers.mts";
import { parametersOf } from "./parameters.mts";
import type { Question, QuestionContext } from "./question.mts";
import { shortened } from "./roots.mts";

/** An answer that is kept, and how much it takes. */
interface Kept {
  answer: SentAnswer;
  characters: number;
}

export class Asker {
  readonly #characters: number;
  /** By question and arguments, the least recently used first. */
  readonly #answers = new Map<string, Kept>();
  #keptCharacters = 0;

  /** `characters` is the largest number of characters of an answer. */
  constructor(characters: number) {
    this.#characters = characters;
  }

  /** Answers a question whose arguments were not checked yet. */
  async ask(question: Question, given: unknown, context: QuestionContext): Promise<SentAnswer> {
    const read = question.input.safeParse(given ?? {});
    if (!read.success) throw invalid(question, read.error.issues);
    const args = withoutMarks(read.data);
    const { heaps, control } = context;
    const handles = handlesOf(args);
    // The handles of another client may be equal, but not the keys.
    const keys = handles.map((handle) => heaps.keyOf(handle));
    const key = question.isRepeatable ? JSON.stringify([question.name, args, keys]) : undefined;
    const kept = key === undefined ? undefined : this.#answers.get(key);
    if (kept !== undefined && key !== undefined) {
      // The files must still be those of the handles.
      for (const handle of handles) await heaps.verify(handle, control.signal);
      this.#keep(key, kept);
      return kept.answer;
    }
    // Names that no module declares are made while the program runs.
    const hasAnyNames = handles.some((handle) => heaps.hasNoModule(handle));
    const found = { ...(await question.ask(args, context)), hasAnyNames };
    const made = answer(found, question.basis, question.render, this.#characters);
    if (key !== undefined) {
      const characters = key.length + made.text.length + JSON.stringify(made.structured).length;
      this.#keep(key, { answer: made, characters });
    }
    return made;
  }

  /** Keeps an answer, and lets the least recently used ones go. */
  #keep(key: string, kept: Kept): void {
    this.#forget(key);
    this.#answers.set(key, kept);
    this.#keptCharacters += kept.characters;
    for (const oldest of this.#answers.keys()) {
      if (this.#keptCharacters <= KEPT_CHARACTERS) break;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    this.#keptCharacters -= this.#answers.get(key)?.characters ?? 0;
    this.#answers.delete(key);
  }
}

/** Arguments whose names may be given back as they stood in an answer. */
function withoutMarks(args: Record<string, unknown>): Record<string, unknown> {
  return typeof args.class === "string" ? { ...args, class: unmarked(args.class) } : args;
}

function handlesOf(args: Record<string, unknown>): string[] {
  const { heap, heaps, before, newSince } = args;
  const all = [heap, before, newSince, ...(Array.isArray(heaps) ? heaps : [])];
  return all.filter((one) => typeof one === "string");
}

/** The first problems of arguments, and what they can be. */
function invalid(
  question: Question,
  issues: { path: PropertyKey[]; message: string }[],
): QuestionError {
  const shown = issues
    .slice(0, 5)
    .map(({ path, message }) => `${path.map(String).join(".") || "arguments"}: ${message}`);
  const rest = issues.length > shown.length ? `; ${issues.length - shown.length} more` : "";
  return new QuestionError(
    "ERR_INVALID_ARGUMENTS",
    `${shown.map(shortened).join("; ")}${rest}; ${parametersOf(question)}`,
  );
}
