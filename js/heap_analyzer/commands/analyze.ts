/** `analyze`: the constructor view of one dump. */
import type { Command } from "commander";
import { addon } from "../addon.js";
import { fileArgument } from "../options.js";
import { addViewOptions, runView, type ViewOptions } from "../view_command.js";

export function addAnalyzeCommand(program: Command): void {
  const command = program
    .command("analyze")
    .description("constructor view: what takes space in a dump, by class")
    .addArgument(fileArgument("<dump-file>", "a heap dump (ASHD), or - for standard input"));
  addViewOptions(command, ["retained", "shallow", "count"])
    .option("--accounting", "in JSON, add where every byte of the heap is (tables show it always)")
    .action((dump: string, options: ViewOptions) =>
      runView(command, [dump, options.wasm], options, (passed, control) =>
        addon().analyzeFileAsync(dump, options.wasm, passed, control),
      ),
    );
}
