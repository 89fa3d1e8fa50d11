/** `dominators`: what an object, or the whole heap, dominates immediately. */
import { type Command, Option } from "commander";
import { fileArgument } from "../options.js";
import {
  addListOptions,
  addQuestionOptions,
  type ListOptions,
  runQuestion,
} from "../question_command.js";
import { addressArgument } from "./object.js";

interface DominatorsOptions extends ListOptions {
  by?: "class";
}

export function addDominatorsCommand(program: Command): void {
  const command = program
    .command("dominators")
    .description(
      "what an object, or the whole heap, alone keeps alive: the dominator tree, by level",
    )
    .addArgument(fileArgument("<dump-file>", "a heap dump (ASHD), or - for standard input"))
    .addArgument(addressArgument("[address]"))
    .addOption(new Option("--by <what>", "group the objects").choices(["class"]));
  addListOptions(addQuestionOptions(command)).action(
    (dump: string, address: number | undefined, options: DominatorsOptions) => {
      const { by, limit, offset } = options;
      const byClass = by === "class";
      const question = { question: "dominators", address, byClass, limit, offset };
      return runQuestion([dump], options, question);
    },
  );
}
