/** `analyze`: the constructor view of one dump. */
import type { Command } from "commander";
import { OPENING } from "../../generated/options.js";
import type { OptionFacts } from "../../option_facts.js";
import { addon } from "../addon.js";
import { dumpFile, moduleFile } from "../inputs.js";
import { addFactOptions, dumpArgument, given } from "../options.js";
import {
  addViewOptions,
  formatOf,
  runView,
  type ViewOptions,
  viewRequest,
} from "../view_command.js";

export function addCommand(program: Command): void {
  const command = program
    .command("analyze")
    .description("constructor view: the live objects of a dump, by class")
    .addArgument(dumpArgument());
  const { retainedSet, ...listing } = OPENING.analyze;
  addViewOptions(command, listing, [
    undefined,
    "retained-set in tables, otherwise retained",
  ]).option(
    "--accounting",
    "in JSON, add what every byte of the heap is used for (tables always show it)",
  );
  addFactOptions(command, { retainedSet: retainedSet as OptionFacts }).action(
    (dump: string, options: ViewOptions) => {
      const { wasm } = options;
      const request = { ...viewRequest(options), ...retained(options) };
      return runView(command, given(dump, wasm), options, (control) =>
        addon().analyze(dumpFile(dump, options), moduleFile(wasm), request, control),
      );
    },
  );
}

/** The order, and which retained sizes the rows have. A table has the sum only if it is sorted by the sum. */
function retained(options: ViewOptions) {
  const { sort, retainedSet } = options;
  if (formatOf(options) === "json") return { retained: retainedSet ? "both" : "sum" };
  return { sort: sort ?? "retained-set", retained: sort === "retained" ? "both" : "set" };
}
