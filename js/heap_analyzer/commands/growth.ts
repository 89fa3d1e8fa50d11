/** `growth`: what holds more from dump to dump. */
import type { Command } from "commander";
import type { GrowthOptions } from "../../../index.js";
import { COMPARISONS } from "../../generated/options.js";
import { addon } from "../addon.js";
import { dumpFiles } from "../dump_files.js";
import { checkInputs } from "../inputs.js";
import { writeDoubts } from "../messages.js";
import { nextCommand } from "../next_command.js";
import { addFactOptions, given } from "../options.js";
import { write } from "../output.js";
import { dumpsArgument, placeTables } from "../place_tables.js";
import {
  addOtherLimit,
  addQuestionOptions,
  MANY_MODULES,
  modulesOf,
  type QuestionOptions,
  textOptions,
} from "../question_command.js";
import { byPlace } from "./question.js";

interface GrowthCommandOptions extends QuestionOptions, GrowthOptions {
  warmup?: number;
}

export function addCommand(program: Command): void {
  const { about, options } = COMPARISONS.growth;
  const command = program.command("growth").description(about).addArgument(dumpsArgument());
  const { own, page } = byPlace(options);
  addFactOptions(command, own);
  addFactOptions(addQuestionOptions(command, MANY_MODULES), page);
  addOtherLimit(command).action(runGrowth);
}

async function runGrowth(files: string[], options: GrowthCommandOptions): Promise<void> {
  const { warmup = 0, slow, strict, limit, offset, format, output } = options;
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
  writeDoubts(answer.warnings);
  await write([Buffer.from(answer.text)], output);
}
