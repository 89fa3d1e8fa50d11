/** `dominators`: the objects that an object immediately dominates, or the top level of the dominator tree. */
import { type Command, Option } from "commander";
import { addHostOptions, type ObjectAddress, plainAddress } from "../host_options.js";
import { dumpArgument } from "../options.js";
import {
  addListOptions,
  addQuestionOptions,
  type ListOptions,
  runQuestion,
} from "../question_command.js";
import { addressArgument } from "./object.js";

interface DominatorsCommandOptions extends ListOptions {
  by?: "class";
}

export function addCommand(program: Command): void {
  const command = program
    .command("dominators")
    .description("the objects that one object alone keeps alive: one level of the dominator tree")
    .addArgument(dumpArgument())
    .addArgument(addressArgument("[address]"))
    .addOption(new Option("--by <what>", "group the objects").choices(["class"]));
  addHostOptions(addListOptions(addQuestionOptions(command))).action(
    (dump: string, at: ObjectAddress | undefined, options: DominatorsCommandOptions) => {
      const address = at === undefined ? undefined : plainAddress(at, options);
      const { by, limit, offset } = options;
      const byClass = by === "class";
      const question = { question: "dominators", address, byClass, limit, offset };
      return runQuestion([dump], options, question);
    },
  );
}
