/** `sites`: which lines of source allocated what is alive. */
import { readFileSync } from "node:fs";
import { type Command, Option } from "commander";
import { reason } from "../../whole_file.js";
import { addon } from "../addon.js";
import { checkInputs } from "../inputs.js";
import { writeWarning } from "../messages.js";
import { addSharedOptions, fileArgument, fileName, given, type SharedOptions } from "../options.js";
import { write } from "../output.js";
import { ProgressLine } from "../progress.js";
import { addLimitOption, openAll } from "../question_command.js";

interface SitesOptions extends SharedOptions {
  wasm?: string;
  profile?: string;
  limit: number;
  format: "text" | "json" | "pprof";
}

export function addSitesCommand(program: Command): void {
  const command = program
    .command("sites")
    .description("which lines of source allocated what is alive")
    .addArgument(
      fileArgument("<dump-file>", "a heap dump (ASHD), or a snapshot of V8 with allocations, or -"),
    )
    .addOption(
      new Option("-w, --wasm <file>", "the module that the dump was taken from, or -").argParser(
        fileName,
      ),
    )
    .addOption(
      new Option(
        "--profile <file>",
        "of a dump: the heap profile of the same moment, heap.pb.gz",
      ).argParser(fileName),
    )
    .addOption(
      new Option("-f, --format <format>", "human-readable text, JSON, or a profile for pprof")
        .choices(["text", "json", "pprof"])
        .default("text"),
    );
  addSharedOptions(addLimitOption(command)).action(runSites);
}

async function runSites(dump: string, options: SitesOptions): Promise<void> {
  const { wasm, profile, limit, format, output } = options;
  if (format === "pprof" && output === undefined && process.stdout.isTTY) {
    throw new Error("--format pprof is not text: write it to a file with --output <file>");
  }
  checkInputs([dump, ...given(wasm, profile)], output);
  const encoded = profile === undefined ? undefined : read(profile);
  const { WorkControl, allocationSites } = addon();
  const control = new WorkControl();
  const [heap] = await new ProgressLine().watch(control, openAll([dump], [wasm], options, control));
  if (heap === undefined) return;
  for (const { message } of heap.warnings()) writeWarning(message);
  const { json, text, pprof } = allocationSites(heap, encoded, limit);
  if (format === "pprof") return await write([pprof], output);
  await write([Buffer.from(format === "json" ? `${limited(json, limit)}\n` : text)], output);
}

function limited(json: string, limit: number): string {
  const answer = JSON.parse(json) as { sites: unknown[] };
  return JSON.stringify({
    ...answer,
    total: answer.sites.length,
    sites: answer.sites.slice(0, limit),
  });
}

function read(profile: string): Buffer {
  try {
    return readFileSync(profile);
  } catch (error) {
    throw new Error(`cannot read the profile ${profile}: ${reason(error)}`, { cause: error });
  }
}
