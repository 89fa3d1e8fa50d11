/** `diff`: the comparison view of two dumps. A table ends with the paths to the new objects of the class that grew most. */
import type { Command } from "commander";
import { OPENING } from "../../generated/options.js";
import { availableMemory } from "../../memory.js";
import type * as native from "../../native.js";
import { addon } from "../addon.js";
import { inputFile, moduleFile } from "../inputs.js";
import { fileArgument, given } from "../options.js";
import type { ProgressLine } from "../progress.js";
import { asked, openAll } from "../question_command.js";
import {
  addViewOptions,
  formatOf,
  runView,
  type ViewOptions,
  viewRequest,
} from "../view_command.js";

/** The largest number of new objects whose paths are computed. */
const SAMPLE = 100_000;

export function addCommand(program: Command): void {
  const command = program
    .command("diff")
    .description("comparison view: objects created and deleted between two dumps, by class")
    .addArgument(
      fileArgument(
        "<before>",
        "the earlier heap dump, coredump or .heapsnapshot; - for standard input",
      ),
    )
    .addArgument(fileArgument("<after>", "the later one, or -"));
  addViewOptions(command, OPENING.diff, ["delta"]).action(
    (before: string, after: string, options: ViewOptions) => {
      const inputs = [before, after, options.wasm] as const;
      // The globals of two raw memories have different values.
      if (formatOf(options) === "table" || options.raw === true) {
        return runOpened(command, inputs, options);
      }
      const request = { ...viewRequest(options), availableMemory: availableMemory() };
      const [earlier, later] = [inputFile(before), inputFile(after)];
      return runView(command, given(...inputs), options, (control) =>
        addon().diff(earlier, later, moduleFile(options.wasm), request, control),
      );
    },
  );
}

async function runOpened(
  command: Command,
  inputs: readonly [before: string, after: string, wasm: string | undefined],
  options: ViewOptions,
): Promise<void> {
  let heaps: HeapPair | undefined;
  const compare = async (control: native.WorkControl) => {
    const [before, after, wasm] = inputs;
    const opened = await openAll([before, after], [wasm, wasm], options, control);
    heaps = { before: opened[0] as native.HeapHandle, after: opened[1] as native.HeapHandle };
    return heaps.after.compareWith(heaps.before, viewRequest(options, 1, 2));
  };
  const footer = async (line: ProgressLine) =>
    heaps === undefined ? "" : await growth(heaps, line, options.output);
  await runView(command, given(...inputs), options, compare, footer);
}

interface HeapPair {
  before: native.HeapHandle;
  after: native.HeapHandle;
}

/** The paths to the new objects of the class that grew most; empty if the live size did not grow. */
async function growth(
  { before, after }: HeapPair,
  line: ProgressLine,
  output: string | undefined,
): Promise<string> {
  const view = after.compareWith(before, { sort: "delta", top: 1, instances: SAMPLE });
  const [row] = view.rows();
  const sizeDelta = row?.numbers[view.columns().indexOf("sizeDelta")] ?? 0;
  const liveDelta = new Map(view.totals()).get("totalLiveSizeDelta") ?? 0;
  if (sizeDelta <= 0 || liveDelta <= 0) return "";
  const instances = view.instances(0);
  if (!instances) return "";
  const objects = [...instances.addresses.subarray(0, instances.newCount)];
  const question = { question: "paths", objects, limit: 3 };
  const options = { format: "text", ...(output === undefined ? {} : { output }) } as const;
  const { text } = await asked(line, after, question, undefined, options);
  return `\nPaths to the class that grew most:\n\n${text}`;
}
