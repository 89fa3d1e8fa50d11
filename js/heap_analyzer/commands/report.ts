/** `report`: a page for people. */
import type { Command } from "commander";
import type * as native from "../../native.js";
import { reportFile } from "../../report_file.js";
import { addon } from "../addon.js";
import { addHostOptions, checkHost, type HostOptions, hostFiles } from "../host_options.js";
import { checkInputs } from "../inputs.js";
import { writeDoubts } from "../messages.js";
import {
  addSharedOptions,
  dumpArgument,
  fileName,
  given,
  type SharedOptions,
  wasmOption,
} from "../options.js";
import { write } from "../output.js";
import { ProgressLine } from "../progress.js";
import { asked, openAll } from "../question_command.js";

interface ReportCommandOptions extends SharedOptions, HostOptions {
  before?: string;
  strings: boolean;
}

export function addCommand(program: Command): void {
  const command = program
    .command("report")
    .description("everything about a heap as one HTML file that loads nothing")
    .addArgument(dumpArgument())
    .addOption(wasmOption())
    .option("-b, --before <file>", "an earlier dump of the same module, to compare with", fileName)
    .option("--no-strings", "leave out the contents of strings");
  addHostOptions(addSharedOptions(command)).action(runReport);
}

async function runReport(dump: string, options: ReportCommandOptions): Promise<void> {
  const dumps = options.before === undefined ? [dump] : [options.before, dump];
  checkHost(options, dumps);
  checkInputs(given(...dumps, options.wasm, ...hostFiles(options, dump)), options.output);
  const line = new ProgressLine();
  const control = new (addon().WorkControl)();
  const modules = dumps.map(() => options.wasm);
  const heaps = await line.watch(control, openAll(dumps, modules, options, control));
  const [heap, before] = heaps.reverse() as [native.HeapHandle, native.HeapHandle?];
  const answer = await asked(line, heap, { question: "report" }, before, { format: "json" });
  writeDoubts(answer.warnings);
  await write([Buffer.from(reportFile(answer.text, options.strings))], options.output);
}
