/** The commands that ask one question: their options and help are those that the types of the engine say. */
import { Argument, type Command, Option } from "commander";
import { QUESTIONS } from "../../generated/options.js";
import type { OptionFacts } from "../../option_facts.js";
import { addHostOptions, plainAddress } from "../host_options.js";
import { choiceOption, dumpArgument, fileName, refuseUseless } from "../options.js";
import { address, type ObjectAddress, percentage, wholeNumber } from "../quantities.js";
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

/** Parses the value of an option. */
type Parser = (text: string, earlier?: unknown) => unknown;

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

/** Adds options as their facts say; some have a parser of their own. */
export function addFactOptions(
  command: Command,
  options: Record<string, OptionFacts>,
  own: Record<string, Parser> = {},
): void {
  for (const [name, facts] of Object.entries(options)) {
    if (facts.cli === undefined) continue;
    const [flags, help] = flagsOf(facts);
    if (help === "") command.addArgument(addressArgument(flags));
    else command.addOption(optionOf(flags, help, facts, own[name]));
  }
}

/** The flags of an option, and its help; of an argument, its name alone. */
function flagsOf({ cli = "" }: OptionFacts): [string, string] {
  const end = cli.indexOf(": ");
  return end < 0 ? [cli, ""] : [cli.slice(0, end), cli.slice(end + 2)];
}

function optionOf(flags: string, help: string, facts: OptionFacts, own?: Parser): Option {
  if (facts.enum !== undefined) return choiceOption(flags, help, [...facts.enum], {});
  const option = new Option(flags, help);
  const parser = own ?? parserOf(flags, facts);
  return parser === undefined ? option : option.argParser(parser);
}

function parserOf(flags: string, { type, minimum = 0, maximum }: OptionFacts): Parser | undefined {
  if (type === "heap") return fileName;
  if (type === "integer") return wholeNumber(minimum, maximum);
  if (type === "number" && flags.endsWith("<percent>")) return percentage;
  if (type === "array") {
    return (text, earlier) => [...((earlier as ObjectAddress[] | undefined) ?? []), address(text)];
  }
  return undefined;
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

/** An argument that is an address. */
function addressArgument(name: string): Argument {
  const description =
    "the address of an object, decimal or hexadecimal (0x…), or one inside it; of a heap snapshot, its id (@…)";
  return new Argument(name, description).argParser(address);
}
