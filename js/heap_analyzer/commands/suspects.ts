/** `suspects`: what retains the most, or what grew the most. */
import { type Command, InvalidArgumentError } from "commander";
import { addHostOptions } from "../host_options.js";
import { dumpArgument, fileName } from "../options.js";
import {
  addLimitOption,
  addQuestionOptions,
  ONE_OR_TWO_MODULES,
  type QuestionOptions,
  runQuestion,
} from "../question_command.js";

interface SuspectsCommandOptions extends QuestionOptions {
  before?: string;
  threshold?: number;
  limit: number;
}

export function addCommand(program: Command): void {
  const command = program
    .command("suspects")
    .description("what retains the most memory, or grew the most, with a text for a ticket")
    .addArgument(dumpArgument())
    .option(
      "--before <dump>",
      "an earlier dump, of this build or another; suspects are then what grew",
      fileName,
    )
    .option(
      "--threshold <percent>",
      "list only suspects with at least this part of the live bytes (default: 10; with --before 2)",
      percentage,
    );
  addHostOptions(addLimitOption(addQuestionOptions(command, ONE_OR_TWO_MODULES))).action(
    (dump: string, options: SuspectsCommandOptions) => {
      const { before, threshold, limit } = options;
      const dumps = before === undefined ? [dump] : [before, dump];
      return runQuestion(dumps, options, { question: "suspects", threshold, limit });
    },
  );
}

/** A part of 1 from a percentage. */
function percentage(text: string): number {
  const percent = /^\d+(\.\d+)?%?$/.test(text) ? Number.parseFloat(text) : Number.NaN;
  if (!(percent > 0 && percent <= 100)) {
    throw new InvalidArgumentError("Expected a percentage above 0 and at most 100.");
  }
  return percent / 100;
}
