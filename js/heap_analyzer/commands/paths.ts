/** `paths`: why objects are alive, and which references to cut. */
import type { Command } from "commander";
import { addHostOptions, type ObjectAddress, plainAddress } from "../host_options.js";
import { dumpArgument, fileName } from "../options.js";
import {
  addLimitOption,
  addProfileOption,
  addQuestionOptions,
  address,
  type QuestionOptions,
  runQuestion,
} from "../question_command.js";

interface PathsCommandOptions extends QuestionOptions {
  object?: ObjectAddress[];
  class?: string;
  newSince?: string;
  limit: number;
}

export function addCommand(program: Command): void {
  const command = program
    .command("paths")
    .description("why an object, a class or all new objects are alive, and which reference to cut")
    .addArgument(dumpArgument())
    .option("--object <address...>", "these objects", (text: string, earlier?: ObjectAddress[]) => [
      ...(earlier ?? []),
      address(text),
    ])
    .option("-c, --class <glob>", "the live objects of a class; * stands for any text")
    .option("--new-since <dump>", "the live objects that are not in this earlier dump", fileName);
  addHostOptions(addLimitOption(addProfileOption(addQuestionOptions(command)))).action(
    (dump: string, options: PathsCommandOptions) => {
      const { object: objects, class: name, newSince, limit } = options;
      if ([objects, name, newSince].filter((target) => target !== undefined).length !== 1) {
        throw new Error("paths: expected exactly one of --object, --class, --new-since");
      }
      const dumps = newSince === undefined ? [dump] : [newSince, dump];
      const question = {
        question: "paths",
        objects: objects?.map((object) => plainAddress(object, options)),
        class: name,
        newSince: newSince === undefined ? undefined : true,
        limit,
      };
      return runQuestion(dumps, options, question);
    },
  );
}
