/** `waste`: memory that could be saved. */
import type { Command } from "commander";
import { dumpArgument } from "../options.js";
import {
  addListOptions,
  addQuestionOptions,
  type ListOptions,
  runQuestion,
} from "../question_command.js";

export function addCommand(program: Command): void {
  const command = program
    .command("waste")
    .description("memory that could be saved: duplicates, empty containers, unused room")
    .addArgument(dumpArgument());
  addListOptions(addQuestionOptions(command)).action((dump: string, options: ListOptions) => {
    const { limit, offset } = options;
    return runQuestion([dump], options, { question: "waste", limit, offset });
  });
}
