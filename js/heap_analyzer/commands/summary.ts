/** `summary`: the totals of a heap. */
import type { Command } from "commander";
import { addHostOptions } from "../host_options.js";
import { dumpArgument } from "../options.js";
import { addQuestionOptions, type QuestionOptions, runQuestion } from "../question_command.js";

export function addCommand(program: Command): void {
  const command = program
    .command("summary")
    .description("totals: bytes, objects, classes, roots")
    .addArgument(dumpArgument());
  addHostOptions(addQuestionOptions(command)).action((dump: string, options: QuestionOptions) =>
    runQuestion([dump], options, { question: "summary" }),
  );
}
