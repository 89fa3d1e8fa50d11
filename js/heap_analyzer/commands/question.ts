/** The commands that ask one question: their options and help are those that the types of the engine say. */
import { type Command, Option } from "commander";
import { QUESTIONS } from "../../generated/options.js";
import type { OptionFacts } from "../../option_facts.js";
import { addHostOptions, plainAddress } from "../host_options.js";
import { addFactOptions, dumpArgument, flagsOf, refuseUseless } from "../options.js";
import type { ObjectAddress } from "../quantities.js";
import {
  addOtherLimit,
  addProfileOption,
  addQuestionOptions,
  ONE_OR_TWO_MODULES,
  type QuestionOptions,
  runQuestion,
} from "../question_command.js";

/** The name of a question. */
export type QuestionName = keyof typeof QUESTIONS;

/** The page of a list. */
const PAGE = ["limit", "offset"];

export function addCommand(program: Command, name: QuestionName): void {
  const { about, takes = [], modules, options } = QUESTIONS[name];
  const command = program.command(name).description(about).addArgument(dumpArgument());
  const { own, page } = byPlace(options);
  addFactOptions(command, own);
  addQuestionOptions(command, modules === undefined ? undefined : ONE_OR_TWO_MODULES);
  if (takes.includes("profile")) addProfileOption(command);
  addFactOptions(command, page);
  if (options.limit !== undefined) addOtherLimit(command);
  if (takes.includes("host")) addHostOptions(command);
  command.action((dump: string, ...rest: unknown[]) => {
    const given = command.opts<QuestionOptions & Record<string, unknown>>();
    checkTogether(name, command, given);
    // Of a command with an address, that is the next argument; of others, the options.
    const values = { ...given, address: options.address === undefined ? undefined : rest[0] };
    const { earlier, ...question } = questionOf(options, values);
    const dumps = earlier === undefined ? [dump] : [earlier, dump];
    return runQuestion(dumps, given, { question: name, ...question });
  });
}

/** The options that stand before those of every question, and the page of a list, which stands behind them. */
export function byPlace(options: Record<string, OptionFacts>) {
  const isPage = (name: string) => options.limit !== undefined && PAGE.includes(name);
  const all = Object.entries(options);
  return {
    own: Object.fromEntries(all.filter(([name]) => !isPage(name))),
    page: Object.fromEntries(all.filter(([name]) => isPage(name))),
  };
}

/** What the engine is asked, and the earlier dump. */
function questionOf(
  options: Record<string, OptionFacts>,
  given: QuestionOptions & Record<string, unknown>,
): Record<string, unknown> & { earlier?: string } {
  const question: Record<string, unknown> & { earlier?: string } = {};
  for (const [name, facts] of Object.entries(options)) {
    const [flags, help] = flagsOf(facts);
    const value = given[help === "" ? name : new Option(flags).attributeName()];
    if (value === undefined) continue;
    if (facts.type === "heap") question.earlier = value as string;
    // Only of targets, the engine reads that there is one.
    if (facts.type === "heap" && facts.isTarget) question[name] = true;
    if (facts.type !== "heap") question[name] = engineValue(flags, value, given);
  }
  return question;
}

function engineValue(flags: string, value: unknown, options: QuestionOptions): unknown {
  if (!flags.includes("address")) return value;
  const plain = (one: ObjectAddress) => plainAddress(one, options);
  return Array.isArray(value) ? value.map(plain) : plain(value as ObjectAddress);
}

/** Refuses options that say nothing or too much together. */
function checkTogether(name: QuestionName, command: Command, given: Record<string, unknown>): void {
  if (name === "object" && given.entries === undefined) {
    refuseUseless(command, { offset: "--entries is missing" });
  }
  const targets = Object.values(QUESTIONS[name].options)
    .filter(({ isTarget }) => isTarget === true)
    .map((facts) => new Option(flagsOf(facts)[0]));
  const chosen = targets.filter((option) => given[option.attributeName()] !== undefined);
  if (targets.length > 0 && chosen.length !== 1) {
    const names = targets.map(({ long }) => long).join(", ");
    throw new Error(`${name}: expected exactly one of ${names}`);
  }
}
