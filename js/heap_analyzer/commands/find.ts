/** `find`: live objects by class, size and contents. */
import { type Command, Option } from "commander";
import { CATEGORIES } from "../../questions.js";
import { dumpArgument, wholeNumber } from "../options.js";
import {
  addListOptions,
  addQuestionOptions,
  type ListOptions,
  runQuestion,
} from "../question_command.js";

interface FindOptions extends ListOptions {
  class: string;
  minSize?: number;
  contains?: string;
  category?: string;
}

export function addFindCommand(program: Command): void {
  const command = program
    .command("find")
    .description("live objects of a class, largest first")
    .addArgument(dumpArgument())
    .requiredOption("-c, --class <glob>", "a class name; * is any text, ? is one character")
    .option("--min-size <bytes>", "only objects that retain at least this much", wholeNumber(0))
    .option("--contains <text>", "only strings that contain this text")
    .addOption(
      new Option("--category <name>", "of a snapshot of V8: only what these keep alive").choices(
        CATEGORIES,
      ),
    );
  addListOptions(addQuestionOptions(command)).action((dump: string, options: FindOptions) => {
    const { class: name, minSize, contains, category, limit, offset } = options;
    const question = { question: "find", class: name, minSize, contains, category, limit, offset };
    return runQuestion([dump], options, question);
  });
}
