/** `sites`: which lines of source allocated what is alive. */
import { type Command, Option } from "commander";
import type * as native from "../../native.js";
import { addon } from "../addon.js";
import { checkInputs } from "../inputs.js";
import { writeWarnings } from "../messages.js";
import {
  addSharedOptions,
  choiceOption,
  fileArgument,
  fileName,
  given,
  type SharedOptions,
} from "../options.js";
import { write } from "../output.js";
import { ProgressLine } from "../progress.js";
import { wholeNumber } from "../quantities.js";
import { addOtherLimit, openAll, readProfile } from "../question_command.js";
import { outputWidth } from "../terminal.js";

interface SitesCommandOptions extends SharedOptions {
  wasm?: string;
  profile?: string;
  before?: string;
  beforeProfile?: string;
  limit: number;
  format: "text" | "json" | "pprof";
}

export function addCommand(program: Command): void {
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
      new Option(
        "--before <dump-file>",
        "an earlier dump or snapshot of the same run, to see which lines have more live objects since",
      ).argParser(fileName),
    )
    .addOption(
      new Option("--before-profile <file>", "of a dump: the heap profile of that moment").argParser(
        fileName,
      ),
    )
    .addOption(
      choiceOption(
        "-f, --format <format>",
        "human-readable text, JSON, or a profile for pprof",
        ["text", "json", "pprof"],
        { table: "text" },
      ).default("text"),
    );
  command.option("-n, --limit <n>", "list at most n entries", wholeNumber(1), 20);
  addSharedOptions(addOtherLimit(command)).action(runSites);
}

async function runSites(dump: string, options: SitesCommandOptions): Promise<void> {
  const { before, beforeProfile, format, output } = options;
  if (before === undefined && beforeProfile !== undefined) {
    throw new Error(
      "--before-profile is the profile of an earlier dump: expected also --before <dump-file>",
    );
  }
  if (before !== undefined && (beforeProfile === undefined) !== (options.profile === undefined)) {
    throw new Error(
      "one of the two moments has no profile: expected both --profile <file> and --before-profile <file>, or " +
        "neither for snapshots of V8 with allocations",
    );
  }
  if (format === "pprof" && before !== undefined) {
    throw new Error("--format pprof has no form with --before: expected text or json");
  }
  if (format === "pprof" && output === undefined && process.stdout.isTTY) {
    throw new Error("--format pprof is not text: write it to a file with --output <file>");
  }
  const answer = await answerOf(
    before === undefined ? [dump] : [before, dump],
    before === undefined ? [options.profile] : [beforeProfile, options.profile],
    options,
  );
  if (format === "pprof" && "pprof" in answer) return await write([answer.pprof], output);
  const text = format === "json" ? `${limited(answer.json, options.limit)}\n` : answer.text;
  await write([Buffer.from(text)], output);
}

/** The lines of one dump; of two, those whose live objects became more. */
async function answerOf(
  dumps: string[],
  profiles: (string | undefined)[],
  options: SitesCommandOptions,
): Promise<native.AllocationSitesData | native.SiteGrowthData> {
  const { wasm, limit, output } = options;
  checkInputs([...dumps, ...given(wasm, ...profiles)], output);
  const [profile, later] = profiles.map((file) =>
    file === undefined ? undefined : readProfile(file),
  );
  const { WorkControl, allocationSites, siteGrowth } = addon();
  const control = new WorkControl();
  const modules = dumps.map(() => wasm);
  const opening = openAll(dumps, modules, options, control);
  const heaps = await new ProgressLine().watch(control, opening);
  for (const heap of heaps) writeWarnings(ofSites(heap));
  const [heap, after] = heaps as [native.HeapHandle, native.HeapHandle?];
  const width = output === undefined ? outputWidth() : undefined;
  return after === undefined
    ? allocationSites(heap, profile, limit, width)
    : siteGrowth(heap, profile, after, later, limit, width);
}

/** The warnings that concern lines. They name no classes and no fields. */
function ofSites(heap: { warnings(): native.WarningData[] }): native.WarningData[] {
  return heap.warnings().filter(({ code }) => code !== "WARN_NAMES_INCOMPLETE");
}

function limited(json: string, limit: number): string {
  const answer = JSON.parse(json) as { sites: unknown[] };
  return JSON.stringify({
    ...answer,
    total: answer.sites.length,
    sites: answer.sites.slice(0, limit),
  });
}
