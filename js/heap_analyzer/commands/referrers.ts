/** `referrers`: the references to an object. */
import type { Command } from "commander";
import { addHostOptions, type ObjectAddress, plainAddress } from "../host_options.js";
import { dumpArgument } from "../options.js";
import {
  addListOptions,
  addQuestionOptions,
  type ListOptions,
  runQuestion,
} from "../question_command.js";
import { addressArgument } from "./object.js";

export function addCommand(program: Command): void {
  const command = program
    .command("referrers")
    .description("the references to an object, and which of them alone keep the object alive")
    .addArgument(dumpArgument())
    .addArgument(addressArgument("<address>"));
  addHostOptions(addListOptions(addQuestionOptions(command))).action(
    (dump: string, at: ObjectAddress, options: ListOptions) => {
      const { limit, offset } = options;
      const address = plainAddress(at, options);
      return runQuestion([dump], options, { question: "referrers", address, limit, offset });
    },
  );
}
