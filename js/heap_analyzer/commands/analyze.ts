/** `analyze`: the constructor view of one dump. */
import type { Command } from "commander";
import { addon } from "../addon.js";
import { fileArgument } from "../options.js";
import { addViewOptions, runView, sortOption, type ViewOptions } from "../view_command.js";

export function addAnalyzeCommand(program: Command): void {
  const command = program
    .command("analyze")
    .description("constructor view: what takes space in a dump, by class")
    .addArgument(fileArgument("<dump-file>", "a heap dump (ASHD), or - for standard input"));
  const sort = sortOption(["retained", "retained-set", "shallow", "count"]);
  addViewOptions(command, sort.default(undefined, "retained-set in tables, otherwise retained"))
    .option("--accounting", "in JSON, add where every byte of the heap is (tables show it always)")
    .option(
      "--retained-set",
      "in JSON, add the retained size of each class as a set (tables show it always)",
    )
    .action((dump: string, options: ViewOptions) => {
      const { wasm } = options;
      return runView(command, [dump, wasm], options, (passed, control) =>
        addon().analyzeFileAsync(dump, wasm, { ...passed, ...retained(options) }, control),
      );
    });
}

/** The order, and which retained sizes the rows have. A table shows the sum only where it orders by it. */
function retained({ format, sort, retainedSet }: ViewOptions) {
  if (format === "json") return { retained: retainedSet ? "both" : "sum" };
  return { sort: sort ?? "retained-set", retained: sort === "retained" ? "both" : "set" };
}
