/** `object`: everything about one object. */
import { Argument, type Command } from "commander";
import { dumpArgument } from "../options.js";
import {
  addQuestionOptions,
  address,
  type QuestionOptions,
  runQuestion,
} from "../question_command.js";

export function addObjectCommand(program: Command): void {
  const command = program
    .command("object")
    .description("one object: class, sizes, fields, contents, path")
    .addArgument(dumpArgument())
    .addArgument(addressArgument("<address>"));
  addQuestionOptions(command).action((dump: string, at: number, options: QuestionOptions) =>
    runQuestion([dump], options, { question: "object", address: at }),
  );
}

/** An argument that is an address. */
export function addressArgument(name: string): Argument {
  const description =
    "the address of an object, decimal or hexadecimal (0x…), or one inside it; of a heap snapshot, its id (@…)";
  return new Argument(name, description).argParser(address);
}
