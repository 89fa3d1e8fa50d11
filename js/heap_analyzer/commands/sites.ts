/** `sites`: which lines of source allocated what is alive. */
import { type Command, Option } from "commander";
import type { WarningData } from "../../native.js";
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
  if (before !== undefined) {
    if (format === "pprof")
      throw new Error("--format pprof has no form with --before: expected text or json");
    const growth = await growthOf([before, dump], [beforeProfile, options.profile], options);
    return await write([Buffer.from(growth)], output);
  }
  await writeSites(dump, options);
}

/** Which lines' live objects became more between two dumps with profiles of their moments, or two snapshots of V8. */
async function growthOf(
  dumps: [before: string, after: string],
  profiles: [before: string | undefined, after: string | undefined],
  options: SitesCommandOptions,
): Promise<string> {
  const { wasm, limit, format, output } = options;
  checkInputs([...dumps, ...given(wasm, ...profiles)], output);
  const [profileBefore, profileAfter] = profiles.map((file) =>
    file === undefined ? undefined : readProfile(file),
  );
  const { WorkControl, siteGrowth } = addon();
  const control = new WorkControl();
  const heaps = await new ProgressLine().watch(
    control,
    openAll(dumps, [wasm, wasm], options, control),
  );
  const [before, after] = heaps;
  if (before === undefined || after === undefined) return "";
  for (const heap of heaps) writeWarnings(ofSites(heap));
  const { json, text } = siteGrowth(
    before,
    profileBefore,
    after,
    profileAfter,
    limit,
    widthOf(output),
  );
  return format === "json" ? `${limited(json, limit)}\n` : text;
}

async function writeSites(dump: string, options: SitesCommandOptions): Promise<void> {
  const { wasm, profile, limit, format, output } = options;
  if (format === "pprof" && output === undefined && process.stdout.isTTY) {
    throw new Error("--format pprof is not text: write it to a file with --output <file>");
  }
  checkInputs([dump, ...given(wasm, profile)], output);
  const encoded = profile === undefined ? undefined : readProfile(profile);
  const { WorkControl, allocationSites } = addon();
  const control = new WorkControl();
  const [heap] = await new ProgressLine().watch(control, openAll([dump], [wasm], options, control));
  if (heap === undefined) return;
  writeWarnings(ofSites(heap));
  const { json, text, pprof } = allocationSites(heap, encoded, limit, widthOf(output));
  if (format === "pprof") return await write([pprof], output);
  await write([Buffer.from(format === "json" ? `${limited(json, limit)}\n` : text)], output);
}

/** The warnings that concern lines. They name no classes and no fields. */
function ofSites(heap: { warnings(): WarningData[] }): WarningData[] {
  return heap.warnings().filter(({ code }) => code !== "WARN_NAMES_INCOMPLETE");
}

/** The columns of a text for an output. */
const widthOf = (output: string | undefined) => (output === undefined ? outputWidth() : undefined);

function limited(json: string, limit: number): string {
  const answer = JSON.parse(json) as { sites: unknown[] };
  return JSON.stringify({
    ...answer,
    total: answer.sites.length,
    sites: answer.sites.slice(0, limit),
  });
}
