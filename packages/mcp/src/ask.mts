/** Asks a question and puts its answer together. Repeated questions are answered from memory. */

import { readObject } from "../../../js/option_facts.ts";
import { QuestionError } from "../../../js/served/errors.ts";
import { KEPT_CHARACTERS } from "../../../js/served/limits.ts";
import { answer, type SentAnswer, unmarked } from "./answers.mts";
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
    const { values, problems } = readObject(question.input, given ?? {});
    if (problems.length > 0) throw invalid(question, problems);
    const args = withoutMarks(values);
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

/** The first problems of arguments, and what they can be: the names that end with `?` can be left out. */
function invalid({ name, input }: Question, problems: Error[]): QuestionError {
  const { properties = {}, required = [] } = input;
  const names = Object.keys(properties).map((one) => (required.includes(one) ? one : `${one}?`));
  const takes = names.length === 0 ? "no parameters" : names.join(", ");
  const shown = problems.slice(0, 5).map(({ message }) => shortened(message));
  const rest = problems.length > shown.length ? `; ${problems.length - shown.length} more` : "";
  return new QuestionError(
    "ERR_INVALID_ARGUMENTS",
    `${shown.join("; ")}${rest}; ${name} takes ${takes}`,
  );
}
