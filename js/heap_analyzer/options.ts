/** Arguments and options of several commands. They are checked before any file is read. */
import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { OPENING } from "../generated/options.js";
import type { OptionFacts } from "../option_facts.js";
import { address, type ObjectAddress, percentage, plainNumber, wholeNumber } from "./quantities.js";

/** The options of every command that reads a module and writes a result. */
export interface SharedOptions {
  /** Absent for heap snapshots of V8. */
  wasm?: string;
  output?: string;
  force?: boolean;
  partial?: boolean;
  /** The dump is raw memory. */
  raw?: boolean;
  /** The values of its globals. */
  global?: GlobalValues[];
  coredumpInstance?: number;
  /** Pointers that the host held. */
  root?: HostRoot[];
}

/** How a dump is read. */
export type ReadingOptions = Pick<
  SharedOptions,
  "force" | "partial" | "raw" | "global" | "coredumpInstance" | "root"
>;

/** A pointer that the host held; without a name, that is empty. */
export interface HostRoot {
  name: string;
  value: number;
}

/** The values of a global, one for each dump of a command. */
export interface GlobalValues {
  name: string;
  values: number[];
}

/** How a dump is read, for the addon: the dump number `nth` of `count`. */
export function reading(
  { force, partial, raw, global = [], coredumpInstance, root = [] }: ReadingOptions,
  nth = 0,
  count = 1,
) {
  if (global.length > 0 && raw !== true) {
    throw new Error("option '--global <name=value>' needs --raw: other dumps contain the values");
  }
  const wrong = global.find(({ values }) => values.length !== count);
  if (wrong !== undefined) {
    throw new Error(
      `option '--global <name=value>': ${wrong.name} has ${wrong.values.length} value(s), and the command has ` +
        `${count} dump(s): expected one value for each, with commas between them`,
    );
  }
  const values = global.map(({ name, values }) => ({ name, value: values[nth] as number }));
  return {
    force: force ?? false,
    partial: partial ?? false,
    ...(raw === true ? { raw: values } : {}),
    ...(coredumpInstance === undefined ? {} : { instance: coredumpInstance }),
    ...(root.length === 0 ? {} : { hostRoots: root }),
  };
}

/** An argument that names an input file; `-` is standard input. */
export function fileArgument(name: string, description: string): Argument {
  return new Argument(name, description).argParser(fileName);
}

/** The argument that names the dump. */
export function dumpArgument(): Argument {
  const description =
    "a heap dump (ASHD), a coredump of wasmtime, or a .heapsnapshot of V8; also as .gz or .zst; - for standard input";
  return fileArgument("<dump-file>", description);
}

/** The option `--wasm`. */
export function wasmOption(): Option {
  const description = "the module that the dump was taken from, or -; a .heapsnapshot needs none";
  return new Option("-w, --wasm <file>", description).argParser(fileName);
}

/** Adds the options of {@link SharedOptions} that are not `--wasm`. */
export function addSharedOptions(command: Command): Command {
  command.option("-o, --output <file>", "write to a file instead of stdout", fileName);
  return addFactOptions(command, OPENING.analysis, READING_PARSERS);
}

/** Adds the options for dumps that are not in the format of this package. */
export function addContainerOptions(command: Command): Command {
  const { force, partial, ...container } = OPENING.analysis;
  return addFactOptions(command, container, READING_PARSERS);
}

/** Parses the value of an option. */
type Parser = (text: string, earlier?: unknown) => unknown;

const READING_PARSERS: Record<string, Parser> = {
  globals: (text, earlier) => globalValue(text, earlier as GlobalValues[]),
  hostRoots: (text, earlier) => hostRoot(text, earlier as HostRoot[]),
};

/** Adds options as their facts say; some have a parser of their own. */
export function addFactOptions(
  command: Command,
  options: Record<string, OptionFacts>,
  own: Record<string, Parser> = {},
): Command {
  for (const [name, facts] of Object.entries(options)) {
    if (facts.cli === undefined) continue;
    const [flags, help] = flagsOf(facts);
    if (help === "") command.addArgument(addressArgument(flags));
    else command.addOption(optionOf(flags, help, facts, own[name]));
  }
  return command;
}

/** The flags of an option, and its help; of an argument, its name alone. */
export function flagsOf({ cli = "" }: OptionFacts): [string, string] {
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
  if (type === "heap" || flags.endsWith("<file>")) return fileName;
  if (type === "integer") return wholeNumber(minimum, maximum);
  if (type === "number" && flags.endsWith("<percent>")) return percentage;
  if (type === "array") {
    return (text, earlier) => [...((earlier as ObjectAddress[] | undefined) ?? []), address(text)];
  }
  return undefined;
}

/** An argument that is an address. */
function addressArgument(name: string): Argument {
  const description =
    "the address of an object, decimal or hexadecimal (0x…), or one inside it; of a heap snapshot, its id (@…)";
  return new Argument(name, description).argParser(address);
}

function hostRoot(text: string, earlier: HostRoot[] = []): HostRoot[] {
  const end = text.lastIndexOf("=");
  const value = plainNumber(text.slice(end + 1));
  if (end !== 0 && value < 2 ** 32) {
    return [...earlier, { name: text.slice(0, Math.max(0, end)), value }];
  }
  throw new InvalidArgumentError("Expected an address, or a name, =, and an address.");
}

function globalValue(text: string, earlier: GlobalValues[] = []): GlobalValues[] {
  // A name may contain "=" and ",".
  const end = text.lastIndexOf("=");
  const given = text.slice(end + 1).split(",");
  const values = given.map((one) =>
    one.startsWith("-") ? -plainNumber(one.slice(1)) : plainNumber(one),
  );
  const isI32 = (value: number) => value >= -(2 ** 31) && value < 2 ** 32;
  if (end > 0 && values.every(isI32)) {
    const unsigned = values.map((value) => value >>> 0);
    return [...earlier, { name: text.slice(0, end), values: unsigned }];
  }
  throw new InvalidArgumentError("Expected the name or the index of a global, =, and an i32.");
}

/**
 * An option with choices. A name that another command has for a choice stands for it.
 *
 * @param others the choice by its other name.
 */
export function choiceOption(
  flags: string,
  description: string,
  choices: string[],
  others: Record<string, string>,
): Option {
  const option = new Option(flags, description).choices(choices);
  const parse = option.parseArg as (text: string, earlier: unknown) => unknown;
  return option.argParser((text, earlier) =>
    parse(Object.hasOwn(others, text) ? (others[text] as string) : text, earlier),
  );
}

/**
 * Accepts an option of a command by the name that other commands have for it. The help does not list it.
 *
 * @param flags the other name, with its value.
 * @param name the option, by attribute name.
 */
export function addOtherName(command: Command, flags: string, name: string): Command {
  const other = new Option(flags).hideHelp().argParser(wholeNumber(1));
  return command.addOption(other).hook("preAction", () => {
    const value: unknown = command.getOptionValue(other.attributeName());
    if (value === undefined) return;
    if (command.getOptionValueSource(name) === "cli") {
      throw new Error(`--${name} and ${other.long} are the same option: give one of them`);
    }
    command.setOptionValueWithSource(name, value, "cli");
    command.setOptionValue(other.attributeName(), undefined);
  });
}

/** The files that are given. */
export function given(...files: (string | undefined)[]): string[] {
  return files.filter((file) => file !== undefined);
}

/** Parses the name of a file. */
export function fileName(text: string): string {
  if (text === "") throw new InvalidArgumentError("Expected the name of a file.");
  return text;
}

/**
 * Refuses options that would have no effect with the chosen format.
 *
 * @param useless the options, by attribute name, each with the reason.
 */
export function refuseUseless(command: Command, useless: Record<string, string>): void {
  for (const option of command.options) {
    const name = option.attributeName();
    const reason = useless[name];
    // `--strings` and `--no-strings` have one name.
    const isGiven =
      command.getOptionValueSource(name) === "cli" &&
      option.negate === (command.getOptionValue(name) === false);
    if (reason !== undefined && isGiven) {
      throw new Error(`option '${option.flags}' has no effect here: ${reason}`);
    }
  }
}
