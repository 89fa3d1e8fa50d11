/** `summary`: the totals of a heap. */
import type { Command } from "commander";
import { fileArgument } from "../options.js";
import { addQuestionOptions, type QuestionOptions, runQuestion } from "../question_command.js";

export function addSummaryCommand(program: Command): void {
  const command = program
    .command("summary")
    .description("totals: bytes, objects, classes, roots")
    .addArgument(fileArgument("<dump-file>", "a heap dump (ASHD), or - for standard input"));
  addQuestionOptions(command).action((dump: string, options: QuestionOptions) =>
    runQuestion([dump], options, { question: "summary" }),
  );
}
