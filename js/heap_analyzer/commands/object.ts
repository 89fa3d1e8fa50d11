/** `object`: everything about one object. */
import { Argument, type Command } from "commander";
import { MOST_ENTRIES } from "../../questions.js";
import { addHostOptions, type ObjectAddress, plainAddress } from "../host_options.js";
import { dumpArgument, refuseUseless, wholeNumber } from "../options.js";
import {
  addProfileOption,
  addQuestionOptions,
  address,
  type QuestionOptions,
  runQuestion,
} from "../question_command.js";

export function addCommand(program: Command): void {
  const command = program
    .command("object")
    .description("one object: class, sizes, fields, contents, path")
    .addArgument(dumpArgument())
    .addArgument(addressArgument("<address>"));
  command
    .option(
      "-n, --entries <n>",
      `of an array, a map, a set or an object of a snapshot, list at most n entries (n ≤ ${MOST_ENTRIES})`,
      wholeNumber(1, MOST_ENTRIES),
    )
    .option("--offset <n>", "leave out the first n entries", wholeNumber(0));
  addHostOptions(addProfileOption(addQuestionOptions(command))).action(
    (dump: string, at: ObjectAddress, options: ObjectCommandOptions) => {
      const { entries, offset } = options;
      if (entries === undefined) refuseUseless(command, { offset: "--entries is missing" });
      const page = entries === undefined ? {} : { entries, offset: offset ?? 0 };
      const address = plainAddress(at, options);
      return runQuestion([dump], options, { question: "object", address, ...page });
    },
  );
}

interface ObjectCommandOptions extends QuestionOptions {
  entries?: number;
  offset?: number;
}

/** An argument that is an address. */
export function addressArgument(name: string): Argument {
  const description =
    "the address of an object, decimal or hexadecimal (0x…), or one inside it; of a heap snapshot, its id (@…)";
  return new Argument(name, description).argParser(address);
}
