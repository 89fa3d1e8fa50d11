/** `growth`: what holds more from dump to dump. */
import type { Command } from "commander";
import { addon } from "../addon.js";
import { dumpFiles } from "../dump_files.js";
import { checkInputs } from "../inputs.js";
import { writeWarning } from "../messages.js";
import { nextCommand } from "../next_command.js";
import { given, wholeNumber } from "../options.js";
import { write } from "../output.js";
import { dumpsArgument, placeTables } from "../place_tables.js";
import {
  addListOptions,
  addQuestionOptions,
  type ListOptions,
  MANY_MODULES,
  modulesOf,
  textOptions,
} from "../question_command.js";

interface GrowthCommandOptions extends ListOptions {
  warmup: number;
  slow?: boolean;
  strict?: boolean;
}

export function addCommand(program: Command): void {
  const command = program
    .command("growth")
    .description("what grows from dump to dump, with its path and its rate: leaks")
    .addArgument(dumpsArgument())
    .option("--warmup <n>", "leave out the first n dumps, in which caches fill", wholeNumber(0), 0)
    .option("--slow", "also report what rises only in every second interval")
    .option("--strict", "also report as growing what may have stopped in the last dumps");
  addListOptions(addQuestionOptions(command, MANY_MODULES)).action(runGrowth);
}

async function runGrowth(files: string[], options: GrowthCommandOptions): Promise<void> {
  const { warmup, slow = false, strict = false, limit, offset, format, output } = options;
  const dumps = dumpFiles(files, options);
  const modules = modulesOf(dumps, options.wasm);
  checkInputs(given(...dumps, ...new Set(modules)), output);
  if (dumps.length - warmup < 2) {
    throw new Error(
      `growth takes two dumps or more after the warm-up, and 8 to tell growth from chance: found ` +
        `${dumps.length} with --warmup ${warmup}`,
    );
  }
  const tables = await placeTables(dumps, modules, options);
  const { growth, WorkControl } = addon();
  const request = JSON.stringify({ warmup, slow, strict, limit, offset });
  const text =
    format === "text"
      ? textOptions(output, nextCommand(dumps.at(-1), modules.at(-1), options).next)
      : undefined;
  const answer = await growth(tables, request, text, new WorkControl());
  for (const { code, message } of answer.warnings) writeWarning(message, code);
  await write([Buffer.from(answer.text)], output);
}
