/** `find`: live objects by class, size, contents, and an expression. */
import { type Command, Option } from "commander";
import { CATEGORIES, SIZES } from "../../questions.js";
import { addHostOptions } from "../host_options.js";
import { dumpArgument, fileName, wholeNumber } from "../options.js";
import {
  addListOptions,
  addQuestionOptions,
  type ListOptions,
  runQuestion,
} from "../question_command.js";

interface FindCommandOptions extends ListOptions {
  class?: string;
  minSize?: number;
  contains?: string;
  category?: string;
  place?: string;
  where?: string;
  count?: boolean;
  sum?: string;
  groupBy?: string;
  before?: string;
}

export function addCommand(program: Command): void {
  const command = program
    .command("find")
    .description("live objects by class, contents and an expression, largest first")
    .addArgument(dumpArgument())
    .option("-c, --class <glob>", "a class name; * is any text, ? is one character")
    .option("--where <expression>", 'only objects for which it is true, in CEL: "open == false"')
    .option("--count", "only their number")
    .addOption(new Option("--sum <size>", "add up a size").choices(SIZES))
    .option("--group-by <expression>", "list groups by the value of an expression")
    .option("--before <dump>", "an earlier dump of the same build, for isNew", fileName)
    .option("--min-size <bytes>", "only objects that retain at least this much", wholeNumber(0))
    .option(
      "--contains <text>",
      "only strings with this text, and containers with such a key or value",
    )
    .option("--place <fingerprint>", "only the objects at a place that growth or paths names")
    .addOption(
      new Option("--category <name>", "of a snapshot of V8: only what these keep alive").choices(
        CATEGORIES,
      ),
    );
  addHostOptions(addListOptions(addQuestionOptions(command))).action(
    (dump: string, options: FindCommandOptions) => {
      const { class: name, minSize, contains, category, limit, offset } = options;
      const { place, where, count, sum, groupBy, before } = options;
      const by = { class: name, minSize, contains, category, place, where };
      const question = { question: "find", ...by, count, sum, groupBy, limit, offset };
      return runQuestion(before === undefined ? [dump] : [before, dump], options, question);
    },
  );
}
