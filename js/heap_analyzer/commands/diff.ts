/** `diff`: the comparison view of two dumps. */
import type { Command } from "commander";
import { availableMemory } from "../../memory.js";
import { addon } from "../addon.js";
import { fileArgument } from "../options.js";
import { addViewOptions, runView, sortOption, type ViewOptions } from "../view_command.js";

export function addDiffCommand(program: Command): void {
  const command = program
    .command("diff")
    .description("comparison view: what came and went between two dumps, by class")
    .addArgument(fileArgument("<before>", "the earlier heap dump, or - for standard input"))
    .addArgument(fileArgument("<after>", "the later heap dump, or -"));
  const sort = sortOption(["delta", "alloc", "freed", "count"]).default("delta");
  addViewOptions(command, sort).action((before: string, after: string, options: ViewOptions) =>
    runView(command, [before, after, options.wasm], options, (passed, control) =>
      addon().diffFileAsync(
        before,
        after,
        options.wasm,
        { ...passed, availableMemory: availableMemory() },
        control,
      ),
    ),
  );
}
