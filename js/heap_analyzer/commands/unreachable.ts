/** `unreachable`: garbage, its cycles, and raw blocks to which nothing refers. */
import type { Command } from "commander";
import { dumpArgument, wholeNumber } from "../options.js";
import {
  addLimitOption,
  addProfileOption,
  addQuestionOptions,
  type QuestionOptions,
  runQuestion,
} from "../question_command.js";

interface UnreachableCommandOptions extends QuestionOptions {
  maxNodes?: number;
  limit: number;
}

export function addCommand(program: Command): void {
  const command = program
    .command("unreachable")
    .description(
      "garbage by class, its cycles, and raw blocks to which nothing refers; of C, C++, Rust and Zig what is unreferenced",
    )
    .addArgument(dumpArgument())
    .option(
      "--max-nodes <n>",
      "in JSON, add a graph of at most n objects and blocks (default: no graph)",
      wholeNumber(1),
    );
  addLimitOption(addProfileOption(addQuestionOptions(command))).action(
    (dump: string, options: UnreachableCommandOptions) => {
      const { maxNodes, limit } = options;
      return runQuestion([dump], options, { question: "unreachable", maxNodes, limit });
    },
  );
}
